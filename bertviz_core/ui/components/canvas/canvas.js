// The whole forward pass as one picture: every cell a recorded number. `data` is described where it is made
// (ui/views/overview_canvas.py). The picture moves at once by itself and says afterwards where it went (`go`); what is
// pointed at, played and zoomed needs no message.
//
// For whoever is outside: its element (.bvc) has the properties readCell(address), the number that is drawn there, and
// drawVector(), the picture as SVG.

/** @import { CanvasData, Cursor, Frame, Place, Region, Send, Target } from "./types.js" */

import { readComponent, readLayer } from "../shared/addresses.js";
import { findInside } from "../shared/element.js";
import { isSeen } from "./cells.js";
import { Chrome } from "./chrome.js";
import { Colors } from "./colors.js";
import { readValue, Stages } from "./data.js";
import { listenToKeys } from "./keys.js";
import { arrange } from "./layout.js";
import { forgetWidths } from "./letters.js";
import { lightRow } from "./light.js";
import { findLights } from "./lights.js";
import { ease, mixFrames, stretchFrame } from "./motion.js";
import { drawOver, openLayers } from "./over.js";
import { DIM, Painter } from "./paint.js";
import { findBeside } from "./parts.js";
import { LEVELS, PLACE } from "./place.js";
import { Player } from "./play.js";
import { listenToPointer } from "./point.js";
import { Rail } from "./rail.js";
import { countUncovered, fillWindow, showRows, uncover } from "./room.js";
import { NARROW, PHONE } from "./sizes.js";
import { listenToTouch } from "./touch.js";
import { drawVector } from "./vector.js";
import { Visited } from "./visited.js";

const ZOOM = 450; // milliseconds
const SOON = 60; // milliseconds in which choices are put together into one message
const PATIENCE = 8000; // milliseconds in which an answer to an older question does not move the picture back
const TURN = 1500; // milliseconds in which the next message waits for the answer to the one before

export class Canvas {
  /** @type {CanvasData} */ data;
  /** @type {Place} */ place;
  /** @type {Stages} */ stages;
  /** @type {Colors} */ colors;
  /** @type {Send} */ send;
  /** @type {Frame} */ frame; // from when there is room for a picture on
  /** @type {Frame | null} */ from;
  /** @type {Frame | null} */ to;
  /** @type {{ width: number, height: number }} */ size;
  /** @type {Target | null} */ hover = null;
  /** @type {Cursor | null} */ cursor = null;
  /** @type {number | null} */ pointed = null;
  /** @type {string | null} */ focus = null;
  /** @type {Region[] | null} */ lights;
  /** @type {AbortController | null} */ stopped;
  /** @type {ResizeObserver} */ watching;
  /** @type {{ x: number, y: number, last: PointerEvent, looks: boolean, resting: number } | null} */ touch;
  /** @type {{ of: Partial<Place>, since: number } | null} */ asked;
  /** @type {number | undefined} */ window;
  /** @type {number | undefined} */ first;
  /** @type {number | undefined} */ wanted;
  /** @type {boolean} */ rolled;
  /** @type {boolean} */ looked;
  /** @type {number} */ turned;
  /** @type {number} */ scale;
  /** @type {number} */ since;
  /** @type {number} */ sending;
  /** @type {number | null} */ moving = null;
  turn = 0;
  sent = -TURN;
  group = 0;

  /** @param {HTMLElement} parent */
  constructor(parent) {
    /** @type {HTMLElement & { readCell?: (address: string) => number | undefined, drawVector?: () => Element }} */
    this.root = findInside(parent, ".bvc");
    this.stage = findInside(this.root, ".bvc-stage");
    this.painter = new Painter(findInside(this.root, ".bvc-cells"));
    this.sketches = openLayers(findInside(this.root, ".bvc-drawn"));
    this.chooseRows();
    this.quiet = false; // the attention on special tokens is not drawn
    /** @type {{ cell: string, operands: string[] }} */
    this.explained = { cell: "", operands: [] };
    this.unsent = false;
    this.visited = new Visited();
    this.player = new Player(this);
    this.chrome = new Chrome(this);
    this.rail = new Rail(this);
    this.root.readCell = (address) => this.read(address);
    this.root.drawVector = () => drawVector(this);
  }

  /** @param {CanvasData} data @param {Send} send */
  show(data, send) {
    this.send = send;
    const fresh = !this.data;
    const other = !fresh && (data.sentence !== this.data.sentence || data.pair !== this.data.pair);
    const moved = fresh || data.window.start !== this.data.window.start;
    this.data = data;
    this.sent = -TURN;
    this.stages = new Stages(data);
    this.hover = null;
    if (this.cursor?.stage) this.cursor.stage = this.stages.get(this.cursor.stage.id);
    this.colors = new Colors(data.colors);
    this.visited.keep(data, this.stages);
    this.adopt(data.place, fresh || other);
    this.visited.recall(data, this.stages, this.place);
    if (fresh || other) this.explain(data, false);
    if (other || (moved && this.wanted === undefined)) this.chooseRows();
    else if (moved && this.wanted !== undefined) this.first = this.wanted - data.window.start;
    if (this.wanted !== undefined && this.holds(this.wanted)) this.wanted = undefined;
    if (!this.stopped) this.start();
    this.chrome.style();
    this.refresh(!fresh && !moved);
    if (fresh) uncover(this);
    this.player.arrive(fresh);
    if (this.unsent) this.plan();
    return ++this.turn;
  }

  // A turn that another one has followed has nothing to close any more.
  /** @param {number} turn */
  close(turn) {
    if (turn !== this.turn) return;
    clearTimeout(this.sending);
    this.player.playing = false;
    this.stopped?.abort();
    this.watching.disconnect();
    this.stopped = null;
  }

  start() {
    this.stopped = new AbortController();
    const { signal } = this.stopped;
    listenToPointer(this, signal);
    listenToTouch(this, signal);
    listenToKeys(this, signal);
    document.addEventListener("bv-explained", ({ detail }) => this.explain(detail, true), { signal });
    window.addEventListener("resize", () => this.refresh(false), { signal });
    this.watching = new ResizeObserver(() => this.size && this.refresh(true));
    this.watching.observe(this.stage);
    document.fonts.addEventListener("loadingdone", () => this.remeasure(), { signal });
    document.fonts.ready.then(() => this.stopped && this.remeasure());
  }

  // Texts are as wide as their font makes them, once it is there.
  remeasure() {
    forgetWidths();
    this.refresh(false);
  }

  // The layout chooses the rows that are drawn, until somebody moves them by hand.
  chooseRows() {
    Object.assign(this, { first: undefined, wanted: undefined, rolled: false });
  }

  // Whether the rows from this token on were sent. While the window is moved on, answers to older wishes still come.
  /** @param {number} token */
  holds(token) {
    const { start, stop, total } = this.data.window;
    return token >= start && (token + Math.round(this.frame?.count ?? 0) <= stop || stop === total);
  }

  // The place that the server says, unless it still answers an older question.
  /** @param {Place} place @param {boolean} surely */
  adopt(place, surely) {
    const { waitingFor } = this;
    const answered = waitingFor && !this.unsent && PLACE.every(
      (name) => !(name in waitingFor) || place[name] === waitingFor[name]
    );
    if (waitingFor && !answered && !surely) return;
    this.asked = null;
    this.unsent = false;
    this.window = undefined;
    const { level, stop } = this.place ?? {};
    const moved = this.place && PLACE.some((name) => this.place[name] !== (place[name] ?? null));
    this.place = /** @type {any} */ (Object.fromEntries(PLACE.map((name) => [name, place[name] ?? null])));
    if (moved) lightRow(this, null);
    if (this.player.playing && !surely) this.place.stop = stop;
    else this.player.playing = false;
    if (this.place.stop) this.place.level = this.data.stops[this.place.stop - 1]?.level ?? this.place.level;
    if (level !== this.place.level || surely) this.group = this.chooseGroup();
  }

  // Go somewhere: at once here, a little later in the URL.
  /** @param {Partial<Place> & { window?: number }} change @param {boolean} [said] */
  go(change, said = true) {
    const level = this.place.level;
    if ("level" in change && this.place.strip) change = { strip: null, ...change };
    Object.assign(this.place, change);
    if (change.level && change.level !== level) this.group = this.chooseGroup();
    if (["level", "layer", "head", "strip"].some((name) => name in change)) this.cursor = null;
    this.hover = this.focus = null;
    lightRow(this, null);
    if ("layer" in change || "head" in change) this.visited.recall(this.data, this.stages, this.place);
    const other = "token" in change || change.stop;
    if (other && !isSeen(this.frame, this.at)) this.chooseRows();
    if (!this.place.stop) this.player.playing = false;
    const { level: there, stop } = this.place;
    if (said) this.tell(this.player.playing ? { ...change, level: there, stop } : { ...change });
    this.refresh(true);
  }

  // A message that overtakes another one takes its place: what is not answered yet is said again. Only one is on its way
  // at a time: each makes the server begin anew.
  /** @param {Partial<Place> & { window?: number }} change */
  tell(change) {
    const { window, ...place } = change;
    if (window !== undefined) this.window = window;
    this.asked = { of: { ...this.waitingFor, ...place }, since: performance.now() };
    this.unsent = true;
    this.plan();
  }

  plan() {
    clearTimeout(this.sending);
    this.sending = setTimeout(() => this.flush(), Math.max(SOON, this.sent + TURN - performance.now()));
  }

  flush() {
    if (!this.unsent || !this.asked) return;
    this.send("go", { ...this.asked.of, ...(this.window === undefined ? {} : { window: this.window }) });
    this.unsent = false;
    this.sent = performance.now();
  }

  // What was asked for and is not answered yet; null for nothing.
  get waitingFor() {
    return this.asked && performance.now() - this.asked.since < PATIENCE ? this.asked.of : null;
  }

  // One level up; out of a stop or a strip first, at the top out of a component.
  leave() {
    if (this.place.stop) return this.player.end();
    if (this.place.strip) return this.go({ strip: null });
    const up = LEVELS[LEVELS.indexOf(this.place.level) - 1];
    if (up) this.go({ level: up });
    else if (this.place.component !== null) this.go({ component: null });
  }

  /** @param {{ cell: string | null, operands?: string[] }} given @param {boolean} drawn */
  explain({ cell, operands }, drawn) {
    const changed = (cell || "") !== this.explained.cell;
    this.explained = { cell: cell || "", operands: operands ?? [] };
    if (!drawn || !changed) return;
    this.hover = null;
    if (cell) this.rolled = false;
    lightRow(this, null);
    const component = readComponent(this.explained.cell);
    if (component !== undefined) this.place.component = component; // the URL says so too: see `note` in ui/frame/follow.py
    if (cell && this.stages.lacks(cell)) this.tell({});
    showRows(this);
    this.refresh(true);
    uncover(this);
  }

  // The chosen token's row, counted from the first one that was sent; it may lie outside of them.
  get at() {
    return this.place.token - this.data.window.start;
  }

  // The layer that is drawn with all that it holds where there is little room: that of the explained cell, or the chosen one.
  get open() {
    return readLayer(this.explained.cell) ?? this.place.layer;
  }

  // The chosen token as a word of a sentence.
  get token() {
    return `“${this.data.tokens[this.at]?.text ?? `token ${this.place.token}`}”`;
  }

  get reduced() {
    return matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  // On a phone: the group of stages that belongs to the place.
  chooseGroup() {
    const { level, layer, stop } = this.place;
    if (level === "pass") return stop ? 0 : Math.min(layer + 1, this.data.size.layers);
    return level === "head" ? 1 : 0;
  }

  /** @param {string} address */
  read(address) {
    const [found] = this.stages.find(address);
    return found ? readValue(found.stage, found.where) : undefined;
  }

  // Where the frame changes, the parts go to their new places; `smooth`: seen on their way.
  /** @param {boolean} smooth */
  refresh(smooth) {
    fillWindow(this);
    this.chrome.draw();
    const { clientWidth: width, clientHeight: height } = this.stage;
    if (!width || !height) return;
    if (this.frame && width !== this.size.width) this.frame = stretchFrame(this.frame, width / this.size.width);
    this.size = { width, height };
    this.painter.resize(width, height, this.scale);
    const next = arrange(this.survey());
    this.first = Math.round(next.first);
    const still = !this.frame || !smooth || this.reduced || document.hidden;
    if (still) return this.arrive(next);
    Object.assign(this, { from: this.frame, to: next, since: performance.now() });
    this.moving ??= requestAnimationFrame(() => this.step());
  }

  /** @param {Frame} frame */
  arrive(frame) {
    if (this.moving !== null) cancelAnimationFrame(this.moving);
    Object.assign(this, { moving: null, frame, from: null, to: null });
    this.draw();
  }

  step() {
    this.moving = null;
    if (!this.from || !this.to || !this.stopped) return;
    const part = Math.min(1, (performance.now() - this.since) / ZOOM);
    this.frame = part < 1 ? mixFrames(this.from, this.to, ease(part)) : this.to;
    this.draw();
    if (part < 1) this.moving = requestAnimationFrame(() => this.step());
    else this.from = this.to = null;
  }

  // What the layout has to know.
  survey() {
    const { width, height } = this.size;
    const { data, place, at } = this;
    const explained = this.stages.find(this.explained.cell)[0]?.where;
    return {
      width, height, place, at, first: this.first, rolled: this.rolled, group: this.group, size: data.size, words: data.words,
      rows: data.tokens.length, beside: findBeside(this), total: data.window.total, open: this.open,
      phone: innerWidth <= PHONE, narrow: width < NARROW, covered: countUncovered(this),
      numbers: data.size[place.strip === "neurons" ? "neurons" : "width"],
      shown: explained?.row ?? at, spoken: [explained?.row, explained?.key].filter((row) => row !== undefined),
    };
  }

  draw() {
    if (!this.frame) return;
    this.lights = findLights(this);
    this.chrome.placeSwitch();
    this.painter.draw(this);
    drawOver(this);
    this.rail.draw();
  }

  // Whether a row is pointed at: of a weight, the one that asks and the one that answers.
  /** @param {number} row */
  isLit(row) {
    return this.pointed === row || this.hover?.where?.key === row;
  }

  // How much of a part is left where something else is spoken of.
  /** @param {string} part */
  fade(part) {
    return this.lights && !this.lights.some((each) => each.part === part) ? DIM : 1;
  }
}
