// Where the asked part of a page is: it is ringed, with the step's number, and comes into view once. And where the keyboard
// goes on: on the task of a step that opens, on what follows an answer, on the score at the end; F6 leads from the strip to
// the picture and back; and Enter on what has just been proposed there checks it.

/** @import { LessonData } from "./types.js" */

import { enterPicture, findFocus, findScroller, findStop } from "../shared/places.js";
import { PARTS } from "../shared/streamlit.js";

const STRIP = ".st-key-lesson-strip", FOLDED = ".st-key-lesson-folded", FOLD = ".st-key-lesson-fold button", COVER = ".bv-cover", END = ".st-key-panel-learn-end";
const CHECK = `${STRIP} .st-key-lesson-check button`;
const FRAME = ":is(.st-key-bar, .st-key-map, .st-key-what-if-line)"; // what stays above the page as that scrolls
const NEXT = '[class*="st-key-lesson-next-"] button, [class*="st-key-learn-next-"] button';
/** @type {Record<string, string>} */
const NAMED = { tokens: ".st-key-tokens", map: ".st-key-map" };
const ASKED = "data-asked", PICKS = "data-picks"; // the step's number; it is answered in there, and whether it has parts
const PARTED = `:is([data-cell], [data-token], .bv-chart, ${PARTS.isolated})`;
const HIGH = "--bv-strip";
const SETTLING = 6000; // milliseconds in which what is drawn later may push the asked part out of sight again
const MARGIN = 14; // pixels between the ring and what covers the page

// What a part of an address is the beginning of, or else what it stands in.
/** @param {string} at @returns {Element | null} */
export function findAsked(at) {
  if (!at) return null;
  if (at in NAMED) return document.querySelector(NAMED[at]);
  const named = [...document.querySelectorAll("[data-of]")].filter(isSeen);
  const found = named.find(({ dataset }) => dataset.of?.startsWith(at)) ?? named.find(({ dataset }) => dataset.of?.includes(at));
  const all = found ?? named.find((each) => each.matches(COVER)); // the page is covered, or the card has another place
  return all?.closest('[class*="st-key-panel-"]') ?? all ?? null;
}

// A card's head among whose signs a choice stands has no box of its own: what is in it has one.
/** @param {Element} part @returns {boolean} */
function isSeen(part) {
  return part.checkVisibility() || [...part.children].some(isSeen);
}

export class Guide {
  /** @type {LessonData} */ data = /** @type {any} */ ({});
  /** @type {AbortController | null} */ stopped = null;
  /** @type {MutationObserver | null} */ changed = null;
  /** @type {number | null} */ planned = null;
  turn = 0;
  until = 0; // when the asked part stays where it is
  /** @type {{ element: Element | null | undefined, proposed: number } | null} */ entered = null; // where Enter was pressed last
  /** @type {Element | null | undefined} */ pressed = null; // the button of the strip that was pressed last
  /** @type {Element | null | undefined} */ left = null; // where one was in the picture before F6
  // The step and the stage for which the keyboard was led on, also on the page before; null on the first page that is seen.
  /** @type {string | null} */ static held = null;

  /** @param {Element} root */
  constructor(root) {
    this.app = root.closest(PARTS.app) ?? document.body;
  }

  // The strip is drawn later than it is told of: until then it has the task of the step before.
  get task() {
    return `:is(${STRIP}, ${END}) [data-step="${this.data.step}"]`;
  }

  /** @param {LessonData} data */
  show(data) {
    // A step that opens, and an answer that uncovers what was asked about.
    const opens = /** @type {const} */ (["step", "at"]).some((each) => data[each] !== this.data[each]);
    const uncovers = data.stage === "over" && this.data.stage !== data.stage;
    if (opens || uncovers) this.until = performance.now() + SETTLING;
    this.data = data;
    if (!this.stopped) this.start();
    this.settle();
    return ++this.turn;
  }

  // A turn that another one has followed has nothing to close any more.
  /** @param {number} turn */
  close(turn) {
    if (turn !== this.turn) return;
    this.stopped?.abort();
    this.stopped = null;
    this.changed?.disconnect();
    mark(null);
  }

  start() {
    this.stopped = new AbortController();
    const { signal } = this.stopped;
    document.addEventListener("keydown", (event) => this.key(event), { signal, capture: true });
    document.addEventListener("click", (event) => {
      const target = /** @type {Element} */ (event.target);
      this.pressed = target.closest?.(`:is(${STRIP}, ${FOLDED}) button`);
      if (target.closest?.("[data-task]")) this.goToTask();
    }, { signal });
    for (const name of /** @type {const} */ (["wheel", "touchmove", "pointerdown", "keydown"])) {
      document.addEventListener(name, () => (this.until = 0), { signal, passive: true, capture: true });
    }
    addEventListener("resize", () => {
      this.until = performance.now() + SETTLING;
      this.plan();
    }, { signal });
    document.addEventListener("pointerdown", () => (this.entered = null), { signal, passive: true, capture: true });
    this.changed = new MutationObserver(() => this.plan());
    this.changed.observe(this.app, { childList: true, subtree: true });
  }

  plan() {
    this.planned ??= requestAnimationFrame(() => {
      this.planned = null;
      if (this.stopped) this.settle();
    });
  }

  settle() {
    const asked = findAsked(this.data.at);
    mark(asked, this.data);
    measure();
    if (asked && performance.now() < this.until) bring(asked);
    this.leadOn();
    this.holdOn();
  }

  goToTask() {
    return focus(this.task) || focus(FOLD);
  }

  // The strip is drawn anew as it is folded, and a button is gone once there is nothing left of what it gives.
  holdOn() {
    if (!this.pressed || this.pressed.isConnected || findFocus() !== document.body) return;
    if (this.pressed.closest(FOLD) ? focus(FOLD) : focus(this.task)) this.pressed = null;
  }

  // The keyboard goes on at the task of a step that was opened by hand, and behind a right answer at the way on.
  leadOn() {
    const { step, stage } = this.data;
    const here = `${step} ${stage === "over"}`;
    if (Guide.held === here) return;
    const first = Guide.held === null;
    if (!step) return void (Guide.held = here);
    const writing = findFocus()?.matches("input, textarea, [contenteditable=true]");
    if (first || (writing && stage !== "over") || focus(stage === "over" ? NEXT : this.task)) Guide.held = here;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (!this.data.step) return;
    const inStrip = /** @type {Element} */ (event.target).closest?.(`:is(${STRIP}, ${FOLDED})`);
    // The key that checks an answer is still down when the way on gets the focus.
    if (event.key === "Enter" && event.repeat && (inStrip || this.entered)) return take(event);
    if (event.key === "Enter" && !inStrip) return this.enterAgain(event);
    this.entered = null;
    if (event.key !== "F6") return;
    event.preventDefault();
    if (inStrip) return enter(findAsked(this.data.at), this.left);
    this.left = findFocus();
    this.goToTask();
  }

  // Enter on a part of the picture proposes it; once the server has said so, Enter again is *Check*.
  /** @param {KeyboardEvent} event */
  enterAgain(event) {
    const [element, { proposed }, { entered }] = [findFocus(), this.data, this];
    this.entered = { element, proposed };
    if (entered?.element !== element || entered?.proposed === proposed) return;
    this.entered = null;
    take(event);
    /** @type {HTMLElement | null} */ (document.querySelector(CHECK))?.click();
  }
}

// Nothing else is to be done about this key.
/** @param {KeyboardEvent} event */
function take(event) {
  event.preventDefault();
  event.stopPropagation();
}

/** @param {Element | null} asked @param {Partial<LessonData>} [data] */
function mark(asked, { number, picks } = {}) {
  for (const each of document.querySelectorAll(`[${ASKED}]`)) {
    if (each !== asked) for (const name of [ASKED, PICKS]) each.removeAttribute(name);
  }
  if (asked && asked.getAttribute(ASKED) !== String(number)) asked.setAttribute(ASKED, String(number));
  const parts = !picks ? null : asked?.querySelector(PARTED) ? "parts" : "";
  if (parts === null) asked?.removeAttribute(PICKS);
  else if (asked?.getAttribute(PICKS) !== parts) asked?.setAttribute(PICKS, parts);
}

// How high the strip is, for what stands above it.
function measure() {
  const high = `${document.querySelector(STRIP)?.getBoundingClientRect().height ?? 0}px`, { style } = document.documentElement;
  if (style.getPropertyValue(HIGH) !== high) style.setProperty(HIGH, high);
}

// Between what stays above and the strip; of what is higher than that, the beginning.
/** @param {Element} asked */
function bring(asked) {
  const strip = document.querySelector(STRIP);
  if (!strip || asked.matches(Object.values(NAMED).join())) return;
  const frames = [...document.querySelectorAll(FRAME)].map((each) => each.getBoundingClientRect());
  const above = frames.filter(({ top }) => top < innerHeight / 2); // on a phone the map is below
  const [from, to] = [Math.max(0, ...above.map(({ bottom }) => bottom)) + MARGIN, strip.getBoundingClientRect().top - MARGIN];
  const { top, bottom } = asked.getBoundingClientRect();
  const over = Math.max(0, Math.min(bottom - to, top - from)) || Math.min(0, top - from);
  if (Math.abs(over) >= 1) findScroller(asked).scrollBy({ top: over, behavior: "instant" });
}

// left: where one was in it before.
/** @param {Element | null} asked @param {Element | null | undefined} left */
function enter(asked, left) {
  if (!asked) return enterPicture();
  if (left && asked.contains(left)) return left.focus();
  const stop = findStop(asked);
  if (!stop) asked.tabIndex = -1; // what is covered has nothing to go to, but can be read out
  (stop ?? asked).focus();
}

/** @param {string} selector */
function focus(selector) {
  const found = [...document.querySelectorAll(selector)].find((each) => each.checkVisibility());
  found?.focus({ preventScroll: true });
  return Boolean(found);
}
