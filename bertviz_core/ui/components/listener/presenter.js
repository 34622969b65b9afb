// A page shown to a room: one panel a screen, large, and nothing beside it. P or the menu of sharing begins, Escape ends
// where one was. Which panel it is stands behind the # of the URL, so that a link can begin with it: the server has no
// part in it. The panel stays the page's own, only larger: what is clicked in it is explained as ever, on the last screen.

/** @import { ListenerData } from "./types.js" */

import { clampIndex } from "../shared/clamp.js";
import { findFocus, findScroller } from "../shared/places.js";
import { PARTS } from "../shared/streamlit.js";
import { Lectern } from "./lectern.js";
import { DRAWER, TITLE } from "./page.js";

const PANELS = '[class*="st-key-panel-"], .st-key-canvas', WORKED = `${DRAWER}-body`, HEADLINE = ".st-key-headline h1";
const LEAST = 5 / 3; // the page's smallest letters have 12 pixels, a room's 20
const WIDE = 800; // pixels of a page in which every panel has room
const MARGINS = 96; // pixels left and right of the panel
const EMPTY = 18; // of a panel's last pixels, in which nothing stands
const SMALL = 900; // pixels; a window that no room looks at: there nothing is enlarged
const NAMED = /^#present=([1-9]\d{0,2})(&spot)?(&turned)?$/;
/** @type {Record<string, (presenter: Presenter) => unknown>} */
const KEYS = {
  ArrowRight: (presenter) => presenter.go(1), PageDown: (presenter) => presenter.go(1),
  ArrowLeft: (presenter) => presenter.go(-1), PageUp: (presenter) => presenter.go(-1),
  ArrowDown: (presenter) => presenter.choose(1), ArrowUp: (presenter) => presenter.choose(-1),
  " ": (presenter) => presenter.scroll(),
  s: (presenter) => presenter.turn("spot"), d: (presenter) => presenter.turn("turned"),
  p: (presenter) => presenter.leave(), Escape: (presenter) => presenter.leave(),
};

export class Presenter {
  place = -1; // of the screen that is shown, from 0; below 0 while nothing is presented
  spot = false; // whether all rows but the chosen token's are dim
  turned = false; // whether light is dark and dark light
  /** @type {Element | null} */ shown = null;
  /** @type {Lectern | null} */ lectern = null;
  back = () => {}; // leads to where one was

  /** @param {{ data: ListenerData, send: (name: string, value: unknown) => void, veil(): void, say(text: string): void }} page */
  constructor(page) {
    this.page = page;
    const named = NAMED.exec(location.hash);
    if (named) [this.place, this.spot, this.turned] = [Number(named[1]) - 1, Boolean(named[2]), Boolean(named[3])];
  }

  get presents() {
    return this.place >= 0;
  }

  // The cards, and the number that is worked beside them, where there is one.
  list() {
    const all = [...document.querySelectorAll(`${PANELS}, ${WORKED}`)];
    const seen = all.filter((each) => each.checkVisibility() && each.getBoundingClientRect().height > 0);
    return document.querySelector(TITLE) ? seen : seen.filter((each) => !each.matches(WORKED));
  }

  enter() {
    const focus = findFocus(), scroller = findScroller(document.querySelector(HEADLINE) ?? document.body);
    const { scrollTop } = scroller;
    this.back = () => {
      scroller.scrollTop = scrollTop;
      focus?.focus({ preventScroll: true });
    };
    focus?.blur();
    this.place = 0;
    this.sync();
  }

  leave() {
    this.place = -1;
    this.sync();
    this.back();
  }

  /** @param {number} by */
  go(by) {
    this.place = clampIndex(this.place + by, this.list().length);
    this.sync();
    if (this.lectern) this.page.say(this.lectern.title.textContent ?? "");
  }

  // Another row is another token: the page is drawn for that.
  /** @param {number} by */
  choose(by) {
    const tokens = [...document.querySelectorAll(".st-key-tokens [data-token]")].map(({ dataset }) => Number(dataset.token));
    const next = tokens[clampIndex(tokens.indexOf(this.page.data.token) + by, tokens.length)];
    if (next !== undefined && next !== this.page.data.token) this.page.send("token", next);
  }

  /** @param {"spot" | "turned"} what */
  turn(what) {
    this[what] = !this[what];
    this.sync();
  }

  scroll() {
    this.shown?.scrollBy({ top: this.shown.clientHeight * 0.8 });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const typing = findFocus()?.matches("input, textarea, select, [contenteditable=true]");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const pressed = key === " " && /** @type {Element} */ (event.target).closest?.("button, a");
    const act = this.presents ? KEYS[key] : key === "p" && this.list().length ? () => this.enter() : null;
    if (!act || pressed) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    act(this);
  }

  // The page as it is now: it may have been drawn anew.
  sync() {
    if (!this.presents && !this.shown) return this.note();
    const screens = this.presents ? this.list() : [];
    if (screens.length) this.place = clampIndex(this.place, screens.length);
    const shown = screens[this.place] ?? null;
    const { classList } = document.documentElement;
    classList.toggle("bv-presents", Boolean(shown));
    classList.toggle("bv-turned", Boolean(shown) && this.turned);
    if (shown !== this.shown) {
      this.shown?.removeAttribute("data-presented");
      shown?.setAttribute("data-presented", "");
      this.shown = shown;
      this.level();
    }
    this.tell(screens.length);
    this.dim();
    this.page.veil();
    this.note();
  }

  // What stands around the panel: above the first one the page's headline, above the others their own titles.
  /** @param {number} all */
  tell(all) {
    const { shown, lectern } = this;
    if (!shown) {
      lectern?.leave();
      this.lectern = null;
      return;
    }
    const around = (this.lectern ??= new Lectern((key) => KEYS[key](this)));
    const title = shown.matches(WORKED) ? document.querySelector(TITLE) : shown.querySelector(".bv-said b");
    const headline = this.place === 0 || !title ? document.querySelector(HEADLINE) : null;
    const another = around.name(headline ?? title, headline ? title : shown.querySelector(".bv-says"));
    around.place.textContent = this.page.data.place;
    around.count(this.place, all);
    around.turn("s", this.spot);
    around.turn("d", this.turned);
    if (another || !lectern) this.fit();
    this.tellMore();
  }

  tellMore() {
    if (this.shown) this.lectern?.tellMore(this.shown.scrollHeight - this.shown.clientHeight > EMPTY);
  }

  // As large as the window has room for.
  fit() {
    if (!this.shown || !this.lectern) return;
    const { from, to } = this.lectern.room, room = to - from;
    const wide = (innerWidth - MARGINS) / WIDE, high = room / this.shown.scrollHeight;
    const large = innerWidth < SMALL ? 1 : Math.max(LEAST, Math.min(wide, high));
    const { style } = document.documentElement;
    for (const [name, value] of Object.entries({ from: `${from}px`, room: `${room}px`, large: `${large}` })) {
      style.setProperty(`--bv-${name}`, value);
    }
    this.tellMore();
  }

  // What a chart stands in is asked how wide it is: it says what it is by itself, before all is enlarged.
  level() {
    for (const chart of this.shown?.querySelectorAll(PARTS.chart) ?? []) {
      let each = /** @type {HTMLElement | null} */ (chart);
      for (; each && each !== this.shown; each = each.parentElement) {
        if (!Object.hasOwn(each, "getBoundingClientRect")) each.getBoundingClientRect = measureAlone.bind(null, each);
      }
    }
  }

  // Of tables all rows are dim but the one of what is explained, or of the chosen token; an offer of more is no row.
  dim() {
    for (const each of document.querySelectorAll(".bv-dim")) each.classList.remove("bv-dim");
    if (!this.shown || !this.spot) return;
    const { cell, token } = this.page.data;
    const rows = [...this.shown.querySelectorAll("tr")].filter((each) => !each.closest("thead, .bv-more"));
    const chosen = [`[data-cell="${CSS.escape(cell ?? "")}"]`, `[data-token="${token}"]`];
    const here = chosen.map((each) => rows.find((row) => row.querySelector(each))).find(Boolean);
    for (const each of rows) each.classList.toggle("bv-dim", Boolean(here) && each !== here);
  }

  // The # of the URL, which the framework takes off whenever it writes the URL; none of somebody else's.
  note() {
    const { pathname, search, hash } = location;
    const said = `#present=${this.place + 1}${this.spot ? "&spot" : ""}${this.turned ? "&turned" : ""}`;
    const wanted = this.shown ? said : this.presents || !NAMED.test(hash) ? hash : "";
    if (wanted !== hash) history.replaceState(history.state, "", pathname + search + wanted);
  }
}

/** @param {HTMLElement} element */
function measureAlone(element) {
  const seen = Element.prototype.getBoundingClientRect.call(element);
  if (!element.closest("[data-presented]")) return seen;
  return new DOMRect(seen.x, seen.y, element.offsetWidth, element.offsetHeight);
}
