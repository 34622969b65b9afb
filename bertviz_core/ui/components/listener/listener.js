// What is clicked, pointed at or walked through by keyboard, on the whole page. Charts and elements say what they stand
// for, charts by the `meta` of their traces (offer.js), elements by data-cell, -step, -into, -keep, -close, -token,
// -head, -story, and data-choose="NAME=VALUE" for whatever else the URL names; that is sent. data-write opens the field
// for the sentence, data-run closes it, data-more shows a table's other rows, data-fold folds the drawer. A picture that is no chart says data-picture. `data`: the cell that is explained and its drawn
// operands by address, the chosen token, the caption of pictures that are taken away, the theme's colours, the address
// of all that is drawn (history.js).

/** @import { Follow, ListenerData, Lit, Said } from "./types.js" */

import { isSameCell } from "../shared/address.js";
import { findAround, findInside, makeElement } from "../shared/element.js";
import { CHART } from "../shared/plotly_inside.js";
import { isRunning, PARTS } from "../shared/streamlit.js";
import {
  closeMenus, DRAWER, enterEditor, enterPicture, findBack, findEnd, findFocus, findMiddle, findRoots, findScroller, findTitle,
  findToken, foldDrawer, isFolded, makeReachable, mendLink, nameAgain, placeDrawer, rove, scrollDrawerUp, TITLE, turnMenu,
  TYPED,
} from "./page.js";
import { savePicture } from "./picture.js";
import { Plot } from "./plot.js";
import { copyText, writeLink } from "./taken.js";

const BAR = 124; // pixels at the top of the window that the app's frame covers
const ANSWER = 2000; // milliseconds in which the server's answer to a closed drawer is waited for
const SETTLING = 1500; // milliseconds in which charts that are drawn later may push a ring out of sight again
/** @type {Record<string, (said: string) => unknown>} */
const SENT = {
  cell: String, step: String, into: String, keep: String, close: () => true, head: String, story: String, token: Number,
  choose: String,
};
const SAYING = [...Object.keys(SENT), "save", "copy", "skip", "write", "run", "more", "fold"].map((name) => `[data-${name}]`).join();
/** @type {(keyof DocumentEventMap)[]} */
const GOING_ON = ["pointerdown", "wheel", "touchmove", "keydown"]; // by hand
const PRESSED = "button, a, input, select, textarea, label, summary";
const OVER = `[role="dialog"], [role="alertdialog"], [role="menu"], :popover-open, dialog[open]`;
const SCROLLED = `${PARTS["formula-display"]}, ${PARTS["vertical-block"]}:has(> [class*="st-key-chart-"])`;
const CHOSEN = { '.bv-chips [aria-checked="true"]': ".bv-chips", '[class*="st-key-map-here"]': ".st-key-map" };
const EDITOR = ".st-key-editor button";
const PAGES = '.st-key-bar [class*="st-key-menu-"] button';
const LINK = `${PARTS["popover-body"]} ${PARTS["page-link"]} a`;

export class Listener {
  /** @type {Map<Element, Plot>} */ plots = new Map(); // by the element that Plotly draws into
  /** @type {ListenerData} */ data = /** @type {any} */ ({});
  /** @type {(name: string, value: unknown) => void} */ send;
  /** @type {Lit | null} */ lit = null;
  /** @type {object | null} */ lighter = null; // who lit it
  /** @type {Record<string, { what: string, place: number }>} */ brought = {}; // by what it was searched with
  // The cell whose drawer was closed here, and until when the server's word for it is waited for.
  /** @type {{ cell: string | null, until: number } | null} */ left = null;
  /** @type {{ cell: string, until: number } | null} */ wanted = null;
  /** @type {string | null} */ opening = null;
  /** @type {{ pressed: Element | null } | null} */ closing = null;
  /** @type {{ element: Element, follow: Follow } | null} */ held = null;
  /** @type {{ element: Element, again?: string, cell: string } | null} */ opener = null;
  /** @type {AbortController | null} */ stopped = null;
  /** @type {MutationObserver} */ changed;
  /** @type {number | null} */ planned = null;
  turn = 0;
  touched = false;
  pressed = 0; // where the pointer was pressed last, in pixels from the left

  /** @param {Element} root @param {{ tell(said: Said | null): void }} trail */
  constructor(root, trail) {
    this.trail = trail;
    this.live = findInside(root, ".bv-live");
    this.app = /** @type {Element} */ (root.closest(PARTS.app) ?? document.body);
  }

  /** @param {ListenerData} data @param {(name: string, value: unknown) => void} send */
  show(data, send) {
    const moved = !isSameCell(data.cell, this.data.cell);
    this.data = data;
    this.send = send;
    this.trail.tell(data.address);
    if (data.own || !isSameCell(data.cell, this.left?.cell)) this.left = null;
    for (const [name, color] of Object.entries(data.colors)) {
      document.documentElement.style.setProperty(`--bv-${name}`, color);
    }
    if (!this.stopped) this.start();
    if (moved) scrollDrawerUp();
    if (moved) this.wanted = data.cell && !data.own ? { cell: data.cell, until: Infinity } : null;
    this.sayExplained();
    for (const plot of this.plots.values()) plot.draw();
    this.sync();
    return ++this.turn;
  }

  // A turn that another one has followed has nothing to close any more.
  /** @param {number} turn */
  close(turn) {
    if (turn !== this.turn) return;
    this.trail.tell(null);
    this.stopped?.abort();
    this.stopped = null;
    this.changed.disconnect();
    for (const plot of this.plots.values()) plot.leave();
    this.plots.clear();
  }

  start() {
    foldDrawer(isFolded());
    this.stopped = new AbortController();
    const { signal } = this.stopped;
    /**
     * @template {keyof DocumentEventMap} Name
     * @param {Name} name
     * @param {(event: DocumentEventMap[Name]) => unknown} act
     * @param {AddEventListenerOptions} [more]
     */
    const listen = (name, act, more) => document.addEventListener(name, act, { signal, ...more });
    listen("click", (event) => this.click(event));
    listen("keydown", (event) => this.key(event));
    listen("pointerover", (event) => event.pointerType !== "touch" && this.point(event));
    listen("focusin", (event) => this.focus(event));
    listen("bv-pointed", (event) => this.light(event.detail, event.target)); // a component knows which token it is
    listen("bv-head", (event) => this.send("head", event.detail));
    for (const name of /** @type {const} */ (["pointerover", "focusin"])) listen(name, ({ target }) => mendLink(target));
    const early = { capture: true, passive: true };
    /** @param {PointerEvent} event */
    const touch = ({ pointerType, clientX }) =>
      Object.assign(this, { touched: pointerType === "touch", held: null, pressed: clientX });
    listen("pointerdown", touch, early);
    listen("keydown", (event) => {
      const target = /** @type {Element} */ (event.target);
      if (event.key === "Enter" && target.matches?.(TYPED)) turnMenu(EDITOR, true);
    }, early);
    for (const name of GOING_ON) listen(name, () => this.release(), early);
    this.changed = new MutationObserver(() => this.plan());
    this.changed.observe(this.app, {
      childList: true, subtree: true, attributes: true, attributeFilter: ["data-test-script-state"],
    });
  }

  // Whoever goes on by hand is neither scrolled nor led elsewhere.
  release() {
    this.wanted = this.opening = this.closing = null;
  }

  plan() {
    this.planned ??= requestAnimationFrame(() => {
      this.planned = null;
      if (this.stopped) this.sync();
    });
  }

  sync() {
    for (const [drawn, plot] of this.plots) {
      if (!drawn.isConnected) this.plots.delete(drawn);
      else plot.listen();
    }
    for (const drawn of this.app.querySelectorAll(CHART)) {
      if (this.plots.has(drawn)) continue;
      const plot = new Plot(drawn, this);
      this.plots.set(drawn, plot);
      plot.listen();
    }
    for (const each of this.app.querySelectorAll(SCROLLED)) makeReachable(each);
    this.bringChosen();
    this.reveal();
    this.settle();
  }

  // Of the sentence's tokens in the bar the chosen one comes into view, of the map's stages the page's own; once, so that
  // one may look at others, and again where what came to stand beside it has moved it.
  bringChosen() {
    for (const [selector, row] of Object.entries(CHOSEN)) {
      const chosen = document.querySelector(selector);
      if (!chosen) continue;
      const [around, before] = [findAround(chosen, row), this.brought[selector]];
      const what = `${location.pathname} ${chosen.dataset.token}`;
      const place = around.scrollLeft + chosen.getBoundingClientRect().left - around.getBoundingClientRect().left;
      if (before?.what === what && Math.abs(before.place - place) < 2) continue; // pixels are rounded as one scrolls
      this.brought[selector] = { what, place };
      around.scrollLeft += findMiddle(chosen) - findMiddle(around);
    }
  }

  // Clicks and keys.

  /** @param {PointerEvent} event */
  click(event) {
    const target = /** @type {Element} */ (event.target);
    const said = target.closest?.(SAYING);
    closeMenus(target);
    const pressed = target.closest?.(PRESSED);
    if (target.closest?.(EDITOR)) enterEditor();
    if (target.closest?.('[class*="st-key-example-"] button')) turnMenu(EDITOR, true);
    // Another page has a menu of its own, which is closed; the same page has not.
    const link = /** @type {HTMLAnchorElement | null} */ (target.closest?.(LINK));
    if (link?.pathname === location.pathname) turnMenu(PAGES, true);
    const drawn = target.closest?.(CHART);
    const named = drawn && this.plots.get(drawn)?.readName(event);
    if (named) return named.asKey ? this.send("choose", `key_token=${named.token}`) : this.send("token", named.token);
    if (!said || (pressed && pressed !== said && said.contains(pressed))) return;
    if (said.matches("a[href]")) {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
    }
    this.obey(said);
  }

  /** @param {Element} said */
  obey(said) {
    const { save, copy } = said.dataset;
    if ("skip" in said.dataset) return enterPicture();
    if ("write" in said.dataset) return turnMenu(EDITOR, false);
    if ("run" in said.dataset) return turnMenu(EDITOR, true); // what was typed is sent as the field is left
    if ("more" in said.dataset) return void said.closest("table")?.classList.add("bv-all");
    if ("fold" in said.dataset) return foldDrawer(!isFolded());
    if (save) return savePicture(said, save, this.data).then(() => this.tell("Saved", said));
    if (copy) return copyText(copy === "link" ? writeLink(this.data) : copy).then(() => this.tell("Copied", said));
    const name = Object.keys(SENT).find((each) => each in said.dataset);
    const given = name === undefined ? undefined : said.dataset[name];
    if (name === undefined || given === undefined) return;
    const value = SENT[name](given);
    if (name === "cell") return this.explain(String(value), said);
    if (name === "close") return this.leave(said);
    const again = () => document.querySelector(`[data-${name}="${CSS.escape(given)}"]`);
    this.held = { element: said, follow: FOLLOWED[name] ?? again };
    this.send(name, value);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.defaultPrevented) return;
    const target = /** @type {Element} */ (event.target);
    if (event.key === "Escape") this.escape(event);
    else if (this.plots.get(target)?.key(event) || rove(target, event.key)) event.preventDefault();
    else if ((event.key === "Enter" || event.key === " ") && target.matches?.(SAYING) && !target.matches(PRESSED)) {
      event.preventDefault();
      this.obey(target);
    }
  }

  // Escape belongs to what lies over the page, or to the field that is written in, before it belongs to the drawer: there it
  // leads one step back, from the first one out.
  /** @param {KeyboardEvent} event */
  escape(event) {
    const covering = (/** @type {Element} */ each) => each.checkVisibility() && !each.querySelector(TITLE);
    const over = [...document.querySelectorAll(OVER)].some(covering);
    const typing = findFocus()?.matches("input, textarea, select, [contenteditable=true]");
    if (!this.data.cell || this.data.own || this.isLeaving || over || typing) return;
    event.preventDefault();
    const back = findBack();
    if (back) this.obey(back);
    else this.leave(null);
  }

  /** @param {string} address @param {Element} opener */
  explain(address, opener) {
    if (!opener.closest(DRAWER)) {
      this.opener = { element: opener, again: nameAgain(opener), cell: address };
      placeDrawer(this.pressed);
    }
    this.opening = address;
    this.left = null;
    this.send("cell", address);
    this.settle();
  }

  /** @param {Element | null} pressed */
  leave(pressed) {
    this.closing = { pressed };
    this.left = { cell: this.data.cell, until: performance.now() + ANSWER };
    this.sayExplained();
    this.send("close", true);
    this.closeAgain(this.left);
  }

  // What was sent is lost where a run of the whole page is asked for before its own run has begun.
  /** @param {{ cell: string | null, until: number }} left */
  closeAgain(left) {
    setTimeout(() => {
      if (this.left !== left || !this.stopped) return;
      if (this.running) return this.closeAgain(left);
      left.until = performance.now() + ANSWER;
      this.send("close", true);
    }, ANSWER / 2);
  }

  // The drawer was closed here, and the server has not answered yet.
  get isLeaving() {
    return this.left && performance.now() < this.left.until;
  }

  sayExplained() {
    const { cell, operands } = this.data;
    const detail = this.isLeaving ? { cell: "", operands: [] } : { cell, operands };
    document.dispatchEvent(new CustomEvent("bv-explained", { detail }));
  }

  // Where the keyboard goes on: in the drawer once it is open, after a step with the next, at the end where it began.
  settle() {
    const focus = findFocus();
    const lost = !focus || focus === document.body;
    const title = document.querySelector(TITLE);
    if (this.opening && title && isSameCell(this.opening, this.data.cell)) {
      this.opening = null;
      this.hold(title, findTitle);
    } else if (this.closing && (!this.data.cell || this.data.own) && (lost || focus === this.closing.pressed || focus === title)) {
      this.closing = this.held = null;
      this.goBack();
    } else if (this.held && !this.closing && !this.held.element.isConnected && lost) {
      const next = this.held.follow(this.running);
      if (next) this.hold(next, this.held.follow);
    }
  }

  /** @param {Element} element @param {Follow} follow */
  hold(element, follow) {
    this.held = { element, follow };
    element.focus({ preventScroll: true });
  }

  goBack() {
    const { element, again } = this.opener ?? {};
    const there = element?.isConnected ? element : again ? document.querySelector(again) : null;
    there?.focus({ preventScroll: true });
  }

  get running() {
    return isRunning(this.app) ?? false;
  }

  // Pointing: a token is lit wherever it stands.

  /** @param {PointerEvent} event */
  point(event) {
    const path = event.composedPath();
    if (path.some((each) => this.plots.has(/** @type {Element} */ (each)))) return; // the chart says itself which token it is
    this.light(findToken(path), this);
  }

  /** @param {FocusEvent} event */
  focus(event) {
    const plot = this.plots.get(/** @type {Element} */ (event.target));
    if (plot) plot.enter();
    else this.light(findToken(event.composedPath()), this);
  }

  // lit: the token whose row is lit, and the one whose column as a key is. Only who lit it puts it out: a chart says late
  // that the pointer has left it.
  /** @param {Lit | null} lit @param {object | null} by */
  light(lit, by) {
    if (!lit && by !== this.lighter) return;
    this.lighter = by;
    if (lit?.row === this.lit?.row && lit?.key === this.lit?.key) return;
    this.lit = lit;
    for (const root of findRoots()) {
      for (const each of root.querySelectorAll("[data-token]")) {
        const token = Number(each.dataset.token);
        each.classList.toggle("bv-lit", token === lit?.row || token === lit?.key);
      }
    }
    for (const plot of this.plots.values()) plot.drawBands();
  }

  // Whether a cell was clicked where it is still seen: then nothing moves under the pointer.
  /** @param {string} cell */
  isClicked(cell) {
    if (!this.opener?.element.isConnected || !isSameCell(this.opener.cell, cell)) return false;
    const { top, bottom } = this.opener.element.getBoundingClientRect();
    return top >= BAR && bottom <= findEnd();
  }

  // The cell of a link, or one that was walked to, is brought into what frame and drawer leave of the window; once.
  reveal() {
    if (!this.wanted || performance.now() > this.wanted.until || this.isClicked(this.wanted.cell)) return;
    const onPage = (/** @type {Element} */ ring) => ring.checkVisibility() && !ring.closest(DRAWER);
    const rings = [...this.app.querySelectorAll(".bv-ring")].filter(onPage);
    if (!rings.length) return;
    if (this.wanted.until === Infinity) this.wanted.until = performance.now() + SETTLING;
    const end = findEnd();
    const boxes = rings.map((ring) => ring.getBoundingClientRect());
    if (boxes.some(({ top, bottom }) => top >= BAR && bottom <= end)) return;
    const clicked = rings.find((ring) => this.opener?.element.contains(ring)) ?? rings[0];
    const { top, bottom } = clicked.getBoundingClientRect();
    findScroller(clicked).scrollBy({ top: (top + bottom) / 2 - (BAR + end) / 2, behavior: "instant" });
  }

  // Words for eyes and ears.

  /** @param {string} text */
  say(text) {
    this.live.textContent = text;
  }

  /** @param {string} text @param {Element} beside */
  tell(text, beside) {
    const { left, bottom } = beside.getBoundingClientRect();
    const told = makeElement("div", "bv-told", text);
    told.style.left = `${Math.min(left, innerWidth - 80)}px`;
    told.style.top = `${Math.min(bottom + 4, innerHeight - 30)}px`;
    document.body.append(told);
    setTimeout(() => told.remove(), 1600);
    this.say(text);
  }
}

// After a step on or back: the operand that matters most. Where there is none, once all has been drawn: the title.
/** @type {Record<string, Follow>} */
const FOLLOWED = {
  step: (running) => document.querySelector(`${DRAWER} td button[data-step]`) ?? (running ? null : findTitle()),
  into: (running) => FOLLOWED.step(running),
  story: (running) => FOLLOWED.step(running),
  keep: (running) => FOLLOWED.step(running),
};
