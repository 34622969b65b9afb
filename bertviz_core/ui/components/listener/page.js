// What is clicked, pointed at or walked through by keyboard, on the whole page. Charts and elements say what they stand
// for, charts by the `meta` of their traces (listener_offer.js), elements by data-cell, -step, -keep, -close, -token,
// -head, -story, and data-choose="NAME=VALUE" for whatever else the URL names; that is sent. data-write opens the field
// for the sentence. A picture that is no chart says data-picture. `data`: the cell that is explained and its drawn
// operands by address, the chosen token, the caption of pictures that are taken away, the theme's colours, the address
// of all that is drawn (listener_history.js). The parts of this module stand in files beside it.

import { clampIndex } from "../shared/clamp.js";
import { CHART } from "../shared/plotly_inside.js";
import { PARTS } from "../shared/streamlit.js";

export const TITLE = "#bv-drawer-title";
export const DRAWER = ".st-key-drawer";
export const TYPED = '[class*="st-key-text-field-"] input, [class*="st-key-pair-field-"] input';

// In a group of which only one is a stop of the Tab key, arrow keys lead from one to the next; in a table up and down from
// row to row, and to the sides along one.
const STOPS = "button, a[href]", FIRST = ":is(td, th):first-child > button";
/** @type {Record<string, number>} */
const ALONG = { ArrowRight: 1, ArrowLeft: -1 };
/** @type {Record<string, number>} */
const ACROSS = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };

/** @param {Element} target @param {string} key */
export function rove(target, key) {
  const group = target.closest?.("[data-roving]");
  const by = ALONG[key] ?? ACROSS[key];
  if (!group || !by) return false;
  const row = target.closest("tr");
  const [around, stops, here] = !row ? [group, STOPS, target] : key in ALONG ? [row, STOPS, target]
    : [group, FIRST, row.querySelector(FIRST)];
  const all = [...around.querySelectorAll(stops)].filter((each) => each.checkVisibility());
  const next = all[clampIndex(all.indexOf(/** @type {Element} */ (here)) + by, all.length)];
  for (const each of group.querySelectorAll(STOPS)) each.tabIndex = each === next ? 0 : -1;
  next.focus();
  return true;
}

// Small menus of the page's own are closed by a click elsewhere, and by one on what they offer.
/** @param {Element} target */
export function closeMenus(target) {
  for (const menu of document.querySelectorAll("details.bv-save[open]")) {
    if (!menu.contains(target) || target.closest("[data-save]")) menu.removeAttribute("open");
  }
}

// The way to the step before, if one walked here.
export function findBack() {
  return document.querySelector(`${DRAWER} nav > button[data-keep]`);
}

// Another number is read from its beginning.
export function scrollDrawerUp() {
  const body = document.querySelector(`${DRAWER}-body`);
  if (body?.parentElement) body.parentElement.scrollTop = 0;
}

// Whoever folds the drawer keeps it folded, in this browser.
const FOLDED = "bertviz-folded";

export function isFolded() {
  try {
    return localStorage.getItem(FOLDED) === "yes";
  } catch {
    return false; // where nothing may be kept
  }
}

/** @param {boolean} folded */
export function foldDrawer(folded) {
  document.documentElement.classList.toggle("bv-folded", folded);
  try {
    localStorage.setItem(FOLDED, folded ? "yes" : "no");
  } catch {
    // Where nothing may be kept it is folded until the page is left.
  }
}

// On paper a page is as wide as on screen, as its charts are, and so much smaller that it fits on an A4 sheet. What it is
// wide and by how much it shrinks is known only before it is printed.
const SHEET = { portrait: 718, landscape: 1046 }; // pixels between the margins

// lines: what stands at the foot of every sheet.
/** @param {string[]} lines */
export function fitSheet(lines) {
  writeFoot(lines);
  const block = document.querySelector(PARTS["main-block"]);
  if (!block) return;
  const { paddingLeft, paddingRight } = getComputedStyle(block);
  const wide = block.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
  const { style } = document.documentElement;
  style.setProperty("--bv-wide", `${wide}px`);
  for (const [way, sheet] of Object.entries(SHEET)) style.setProperty(`--bv-${way}`, `${Math.min(1, sheet / wide)}`);
}

// Below every sheet, where a browser prints what a style sheet says of its margins: what it shows, by which weights, where.
/** @param {string[]} lines */
function writeFoot(lines) {
  const known = document.querySelector("#bv-foot");
  const foot = known ?? Object.assign(document.createElement("style"), { id: "bv-foot" });
  if (!known) document.body.append(foot);
  const font = "font: 7pt sans-serif; color: #5a6069; vertical-align: top; padding-top: 2mm";
  const said = lines.flatMap(breakFoot);
  const written = said.map((line) => JSON.stringify(line)).join(' "\\a" ');
  foot.textContent = `@page { margin-bottom: ${FOOT.edge + FOOT.line * said.length}mm; ` +
    `@bottom-left { content: ${written}; white-space: pre; ${font} } ` +
    `@bottom-right { content: counter(page) " / " counter(pages); white-space: pre; ${font} } }`;
}

const FOOT = { edge: 5, line: 3 }; // millimetres: around what a sheet's foot says, and of a line of it
const LONGEST_LINE = 105, MOST_LINES = 6; // characters of a line, of which an upright sheet has room for no more

// A line in pieces that fit beside the sheet's number: between words where it can be. Only what is very long is cut.
/** @param {string} line */
function breakFoot(line) {
  const pieces = line.match(new RegExp(`.{1,${LONGEST_LINE}}(?:\\s|$)|.{1,${LONGEST_LINE}}`, "gu")) ?? [];
  return pieces.length > MOST_LINES ? [...pieces.slice(0, MOST_LINES - 1), `${pieces[MOST_LINES - 1].slice(0, -1)}…`] : pieces;
}

// Where the drawer lies over the page, it lies at the side where what was pressed is not.
/** @param {number} left */
export function placeDrawer(left) {
  document.documentElement.classList.toggle("bv-left", left > innerWidth / 2);
}

export function findTitle() {
  return document.querySelector(TITLE);
}

/** @param {EventTarget[]} path */
export function findToken(path) {
  const token = path.find((each) => each.dataset?.token)?.dataset.token;
  return token === undefined ? null : { row: Number(token), key: Number(token) };
}

// Where the part of the window ends that a drawer from below leaves free.
export function findEnd() {
  const sheet = findTitle()?.closest(DRAWER)?.getBoundingClientRect();
  return sheet?.height && sheet.width > innerWidth / 2 ? sheet.top : innerHeight;
}

/** @param {Element} element */
export function findMiddle(element) {
  const { left, width } = element.getBoundingClientRect();
  return left + width / 2;
}

// How an element is found once the page has drawn it anew.
/** @param {Element} opener */
export function nameAgain(opener) {
  if (opener.dataset.cell) return `[data-cell="${CSS.escape(opener.dataset.cell)}"]`;
  const names = [...(opener.closest('[class*="st-key-chart-"]')?.classList ?? [])];
  const key = names.find((name) => name.startsWith("st-key-"));
  return key && `.${CSS.escape(key)} ${CHART}`;
}

// What scrolls in its place, and holds nothing that the keyboard reaches, is a stop of the Tab key itself. All are
// measured before one is changed: what is measured after that, the browser has to lay out anew.
/** @param {Iterable<Element>} elements */
export function makeReachable(elements) {
  const scrolling = new Map();
  for (const each of elements) {
    scrolling.set(each, each.scrollWidth > each.clientWidth && !each.querySelector("button, a[href], [tabindex]"));
  }
  for (const [each, scrolls] of scrolling) {
    if (scrolls && each.tabIndex !== 0) each.tabIndex = 0;
    else if (!scrolls && each.hasAttribute("tabindex")) each.removeAttribute("tabindex");
  }
}

// The framework writes the first page's address as that of whichever page one is on: opened in a tab of its own, it were
// another page than the one that a click leads to.
/** @param {EventTarget | null} element */
export function mendLink(element) {
  const link = element?.closest?.(`${PARTS["page-link"]} a:is([href=""], [href^="?"])`);
  link?.setAttribute("href", `.${link.getAttribute("href")}`);
}

// Press a menu's button where the menu is open, or where it is not. Later: a click that is still on its way would count as
// one beside it.
/** @param {string} button @param {boolean} open */
export function turnMenu(button, open) {
  setTimeout(() => /** @type {HTMLElement | null} */ (document.querySelector(`${button}[aria-expanded="${open}"]`))?.click());
}

// Whoever opens the editor writes: over the whole sentence, or where they click then.
/** @param {number} [patience] @returns {void} */
export function enterEditor(patience = 60) {
  const field = /** @type {HTMLInputElement | null} */ (document.querySelector(`${PARTS["popover-body"]} :is(${TYPED})`));
  if (!field) return void (patience && requestAnimationFrame(() => enterEditor(patience - 1)));
  field.focus({ preventScroll: true });
  requestAnimationFrame(() => field.select());
}
