// What is clicked, pointed at or walked through by keyboard, on the whole page. Charts and elements say what they stand
// for, charts by the `meta` of their traces (offer.js), elements by data-cell, -step, -into, -keep, -close, -token,
// -head, -story, and data-choose="NAME=VALUE" for whatever else the URL names; that is sent. data-write opens the field
// for the sentence, data-run closes it, data-more shows a table's other rows, data-fold folds the drawer, data-present
// shows the page to a room. A picture that is no chart says data-picture. What `data` is: types.d.ts.

/** @import { ListenerData, Said } from "./types.js" */

import { isSameCell } from "../shared/address.js";
import { findInside, makeElement } from "../shared/element.js";
import { enterPicture, findFocus, putBelow } from "../shared/places.js";
import { CHART } from "../shared/plotly_inside.js";
import { isRunning, PARTS } from "../shared/streamlit.js";
import { Focus } from "./focus.js";
import { markNumbers } from "./here.js";
import { lightMap } from "./in_view.js";
import { Lights } from "./lights.js";
import {
  closeMenus, DRAWER, enterEditor, findBack, findToken, fitSheet, foldDrawer, isFolded, makeReachable,
  mendLink, placeDrawer, rove, scrollDrawerUp, TITLE, turnMenu, TYPED,
} from "./page.js";
import { tellRefused } from "./pasted.js";
import { savePicture } from "./picture.js";
import { Plot } from "./plot.js";
import { Presenter } from "./presenter.js";
import { fitRows } from "./rows.js";
import { copyText, writeLink } from "./taken.js";
import { bringChosen, Wanted } from "./view.js";

const ANSWER = 2000; // milliseconds in which the server's answer to a closed drawer is waited for
const TOLD_MS = 3000; // milliseconds that what was done is told beside where it was asked for
/** @type {Record<string, (said: string) => unknown>} */
const SENT = {
  cell: String, step: String, into: String, keep: String, close: () => true, head: String, story: String, token: Number,
  choose: String,
};
const SAYING = [...Object.keys(SENT), "save", "copy", "skip", "write", "run", "more", "fold", "present"].map((name) => `[data-${name}]`).join();
/** @type {(keyof DocumentEventMap)[]} */
const GOING_ON = ["pointerdown", "wheel", "touchmove", "keydown"]; // by hand
const PRESSED = "button, a, input, select, textarea, label, summary";
const OVER = `[role="dialog"], [role="alertdialog"], [role="menu"], :popover-open, dialog[open]`;
const SCROLLED = `${PARTS["formula-display"]}, .bv-symbols, [class*="st-key-formula-line-"] > *, [class*="st-key-chart-"], ${PARTS["vertical-block"]}:has(> [class*="st-key-chart-"])`;
const EDITOR = ".st-key-editor button";
const SHARE = ".st-key-share button";
const PAGES = '.st-key-bar [class*="st-key-menu-"] button';
const LINK = `${PARTS["popover-body"]} ${PARTS["page-link"]} a`;

export class Listener {
  /** @type {Map<Element, Plot>} */ plots = new Map(); // by the element that Plotly draws into
  /** @type {ListenerData} */ data = /** @type {any} */ ({});
  /** @type {(name: string, value: unknown) => void} */ send;
  focus = new Focus();
  wanted = new Wanted();
  lights = new Lights(() => this.plots.forEach((plot) => plot.drawBands()));
  presenter = new Presenter(this);
  // The cell whose drawer was closed here, and until when the server's word for it is waited for.
  /** @type {{ cell: string | null, until: number } | null} */ left = null;
  /** @type {HTMLElement | null} */ meaning = null; // of a token, while it stands below it
  /** @type {AbortController | null} */ stopped = null;
  /** @type {MutationObserver} */ changed;
  /** @type {number | null} */ planned = null;
  /** @type {number | null} */ scrolled = null;
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
    const opened = !this.data.address || this.data.address.page !== data.address?.page;
    this.data = data;
    this.send = send;
    this.trail.tell(data.address);
    if (data.own || !isSameCell(data.cell, this.left?.cell)) this.left = null;
    const { style } = document.documentElement;
    for (const [name, color] of Object.entries(data.colors)) {
      if (style.getPropertyValue(`--bv-${name}`) !== color) style.setProperty(`--bv-${name}`, color);
    }
    if (!this.stopped) this.start();
    if (moved) scrollDrawerUp();
    if (moved) this.wanted.want(data.own ? null : data.cell, opened);
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
    addEventListener("beforeprint", () => {
      const { checkpoint = "", sentence = "" } = this.data.caption ?? {};
      fitSheet([sentence, checkpoint, writeLink(this.data)].filter(Boolean));
    }, { signal });
    listen("click", (event) => this.click(event));
    listen("keydown", (event) => this.presenter.key(event), { capture: true });
    addEventListener("resize", () => [this.presenter.fit(), this.plan()], { signal });
    listen("keydown", (event) => this.key(event));
    listen("pointerover", (event) => event.pointerType !== "touch" && this.point(event));
    listen("focusin", (event) => this.enter(event));
    listen("bv-pointed", (event) => this.lights.light(event.detail, event.target)); // a component knows which token it is
    listen("paste", tellRefused);
    listen("bv-asks", () => this.sayExplained());
    listen("bv-head", (event) => this.send("head", event.detail));
    for (const name of /** @type {const} */ (["pointerover", "focusin"])) listen(name, ({ target }) => mendLink(target));
    const early = { capture: true, passive: true };
    listen("pointerdown", ({ pointerType, clientX }) => {
      [this.touched, this.pressed, this.focus.held] = [pointerType === "touch", clientX, null];
    }, early);
    listen("keydown", (event) => {
      const target = /** @type {Element} */ (event.target);
      if (event.key === "Enter" && target.matches?.(TYPED)) turnMenu(EDITOR, true);
    }, early);
    for (const name of GOING_ON) listen(name, () => this.release(), early);
    listen("scroll", () => (this.scrolled ??= requestAnimationFrame(() => {
      this.scrolled = null;
      lightMap();
    })), early);
    this.changed = new MutationObserver(() => {
      this.presenter.level();
      this.plan();
    });
    this.changed.observe(this.app, {
      childList: true, subtree: true, attributes: true, attributeFilter: ["data-test-script-state"],
    });
  }

  release() {
    this.wanted.release();
    this.focus.release();
    this.meaning?.remove();
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
    fitRows();
    markNumbers(this.app, this.way);
    lightMap();
    makeReachable(this.app.querySelectorAll(SCROLLED));
    bringChosen();
    this.presenter.sync();
    this.wanted.reveal(this.app, this.focus.opener);
    this.focus.settle(this.data, this.running);
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
    if ("present" in said.dataset) return this.present();
    if (save) return savePicture(said, save, this.data).then(() => this.tell("Saved", said));
    if (copy) return copyText(copy === "link" ? writeLink(this.data) : copy).then((told) => this.tell(told, said));
    const name = Object.keys(SENT).find((each) => each in said.dataset);
    const given = name === undefined ? undefined : said.dataset[name];
    if (name === undefined || given === undefined) return;
    const value = SENT[name](given);
    if (name === "cell") return this.explain(String(value), said);
    if (name === "close") return this.leave(said);
    this.focus.go(said, name, given);
    this.send(name, value);
    if (name === "token") this.explainToken(/** @type {HTMLElement} */ (said));
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
    if (!opener.closest(DRAWER)) placeDrawer(this.pressed);
    this.focus.open(address, opener);
    this.left = null;
    this.send("cell", address);
    this.focus.settle(this.data, this.running);
  }

  /** @param {Element | null} pressed */
  leave(pressed) {
    this.focus.close(pressed);
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
    document.dispatchEvent(new CustomEvent("bv-explained", { detail: { ...detail, way: this.way } }));
  }

  // The numbers that were walked through, the one that is explained last; none where the drawer was closed here.
  get way() {
    return this.isLeaving ? [] : this.data.way ?? [];
  }

  // From the menu, which is closed for it.
  present() {
    turnMenu(SHARE, true);
    this.presenter.enter();
  }

  // The token whose row alone is not dim.
  get spotlight() {
    return this.presenter.presents && this.presenter.spot ? this.data.token : null;
  }

  veil() {
    for (const plot of this.plots.values()) plot.drawVeil();
  }

  get running() {
    return isRunning(this.app) ?? false;
  }

  /** @param {PointerEvent} event */
  point(event) {
    const path = event.composedPath();
    if (path.some((each) => this.plots.has(/** @type {Element} */ (each)))) return; // the chart says itself which token it is
    this.lights.light(findToken(path), this);
  }

  /** @param {FocusEvent} event */
  enter(event) {
    const plot = this.plots.get(/** @type {Element} */ (event.target));
    if (plot) plot.enter();
    else this.lights.light(findToken(event.composedPath()), this);
  }

  // Words for eyes and ears.

  /** @param {string} text */
  say(text) {
    this.live.textContent = text;
  }

  /** @param {string} text @param {Element} beside */
  tell(text, beside) {
    const told = putBelow(beside, makeElement("div", "bv-told", text));
    setTimeout(() => told.remove(), TOLD_MS);
    this.say(text);
  }

  // What a token that is no word stands for, below it, until one goes on: there is no pointing with a finger, or by keyboard.
  /** @param {HTMLElement} token */
  explainToken(token) {
    if (!token.title) return;
    this.meaning = putBelow(token, makeElement("div", "bv-told bv-meaning", token.title));
    this.say(token.title);
  }
}
