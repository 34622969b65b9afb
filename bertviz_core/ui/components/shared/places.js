// Where on the page one is: what has the focus, what scrolls, and the first picture.

import { CHART } from "./plotly_inside.js";
import { PARTS } from "./streamlit.js";

const PICTURE = `${CHART}, [data-picture]`;
const NUMBERS = "[data-cell], [data-token]";
const STOPS = '[tabindex="0"], button, a[href], summary';
const ABOUT = ':is([class*="st-key-card-head-"], [class*="st-key-values-"], [class*="st-key-code-"]) *'; // what a card says of itself

// The keyboard goes on in the first picture of the page in which it can.
export function enterPicture() {
  const top = (/** @type {Element} */ each) => each.getBoundingClientRect().top;
  const pictures = findRoots().flatMap((root) => [...root.querySelectorAll(PICTURE)]);
  const seen = pictures.filter((each) => each.checkVisibility()).sort((one, other) => top(one) - top(other));
  const stops = seen.flatMap((each) => [each, ...each.querySelectorAll('[tabindex="0"], button, a[href]')]);
  const stop = stops.find((each) => each.tabIndex >= 0 && each.checkVisibility());
  if (stop) stop.focus();
  else document.activeElement?.blur();
}

// Where the keyboard goes on in a part of the page: in its picture, or at the first of its numbers, or wherever it can.
/** @param {Element} part @returns {Element | undefined} */
export function findStop(part) {
  const [, ...isolated] = findRoots();
  const inside = /** @type {ShadowRoot[]} */ (isolated).filter(({ host }) => part.contains(host));
  const list = (/** @type {string} */ selector, /** @type {(Element | ShadowRoot)[]} */ roots = [part, ...inside]) =>
    roots.flatMap((root) => [...root.querySelectorAll(selector)]).filter((each) => each.tabIndex >= 0 && each.checkVisibility());
  const all = list(STOPS);
  return list(PICTURE)[0] ?? list(STOPS, inside)[0] ?? list(NUMBERS)[0] ?? all.find((each) => !each.matches(ABOUT)) ?? all[0];
}

// What has the focus, also inside of a component that is isolated from the page.
export function findFocus() {
  let focus = document.activeElement;
  while (focus?.shadowRoot?.activeElement) focus = focus.shadowRoot.activeElement;
  return focus;
}

// The page, and the isolated components in it.
/** @returns {(Document | ShadowRoot)[]} */
export function findRoots() {
  const isolated = [...document.querySelectorAll(PARTS.isolated)];
  return [document, ...isolated.flatMap(({ shadowRoot }) => (shadowRoot ? [shadowRoot] : []))];
}

/** @param {Element} element */
export function findScroller(element) {
  const scrolls = (/** @type {Element} */ each) =>
    each.scrollHeight > each.clientHeight && /auto|scroll/.test(getComputedStyle(each).overflowY);
  let scroller = element.parentElement;
  while (scroller && !scrolls(scroller)) scroller = scroller.parentElement;
  return scroller ?? document.scrollingElement ?? document.documentElement;
}

// Put a note into the page just below an element, or as near as the window has room.
/** @param {Element} beside @param {HTMLElement} note */
export function putBelow(beside, note) {
  const { left, bottom } = beside.getBoundingClientRect();
  document.body.append(note);
  note.style.left = `${Math.max(0, Math.min(left, innerWidth - Math.max(80, note.offsetWidth + 8)))}px`;
  note.style.top = `${Math.min(bottom + 4, innerHeight - 30)}px`;
  return note;
}
