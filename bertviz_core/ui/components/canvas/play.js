// The walk: ten stops from the characters to the word, each a sentence with this sentence's own numbers.

/** @import { Canvas } from "./canvas.js" */
/** @import { Stop } from "./types.js" */

import { clamp } from "../shared/clamp.js";
import { findInside } from "../shared/element.js";
import { pointAtRow } from "./light.js";
import { readAloud, SIDE, writeIdle, writeSentence, writeTrack } from "./play_words.js";
import { MOTION, timeStops } from "./reading.js";
import { LANDING } from "./stops/products.js";

const STEPS = 6; // of a picture that lists nothing
const SPEEDS = [1, 2, 0.5];

export class Player {
  playing = false;
  speed = 1;
  time = 1;
  spent = 0;
  held = false; // by who points at it, and so looks or reads
  last = 0;
  /** @type {number} */ running;

  /** @param {Canvas} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.line = findInside(canvas.root, ".bvc-say");
    this.track = findInside(canvas.root, ".bvc-player");
    this.line.addEventListener(
      "pointerover", ({ target }) => this.light(/** @type {Element} */ (target).closest("[data-part]")?.dataset.part ?? null)
    );
    this.line.addEventListener("pointerenter", () => this.hold(true));
    this.line.addEventListener("pointerleave", () => {
      this.light(null);
      this.hold(false);
    });
  }

  get stops() {
    return this.canvas.data.stops;
  }

  get stop() {
    return this.canvas.place.stop;
  }

  // Seconds of the stop that is shown.
  get lasts() {
    return timeStops(this.canvas)[this.stop - 1];
  }

  // The picture comes about all the same; then its time stands still.
  /** @param {boolean} held */
  hold(held) {
    this.held = held;
    if (this.playing) this.canvas.chrome.read(this.canvas.hover);
  }

  // Seen for the first time, a stop out of the URL is drawn as it ends.
  /** @param {boolean} fresh */
  arrive(fresh) {
    if (fresh) this.time = 1;
  }

  /** @param {string | null} part */
  light(part) {
    const { canvas } = this;
    const token = part?.startsWith("token:") ? Number(part.slice(6)) - canvas.data.window.start : null;
    const focus = token === null ? part : null;
    if (canvas.focus === focus && canvas.pointed === token) return;
    canvas.focus = focus;
    pointAtRow(canvas, token);
    canvas.draw();
  }

  /** @returns {void} */
  toggle() {
    if (!this.stops.length) return;
    if (this.playing) return void this.pause();
    this.playing = true;
    const over = this.stop === this.stops.length && this.spent >= this.lasts;
    if (!this.stop || over) return void this.goTo(1);
    this.show();
    this.run();
  }

  // Where the walk rests, the URL says so.
  pause() {
    if (!this.playing) return;
    this.playing = false;
    const { stop, level } = this.canvas.place;
    this.canvas.tell({ stop, level });
    this.show();
  }

  /** @param {number} stop */
  goTo(stop) {
    const { canvas } = this;
    this.spent = 0;
    this.time = canvas.reduced ? 1 : 0;
    canvas.chooseRows(); // a stop begins with the rows that it speaks of
    canvas.go({ stop, level: this.stops[stop - 1].level }, !this.playing);
    canvas.chrome.say(
      `${stop} of ${this.stops.length}, ${this.stops[stop - 1].name}: ${readAloud(this.stops[stop - 1])}`
    );
    this.run();
  }

  // To the next stop, or the one before: whoever goes on by hand stays there.
  /** @param {number} by */
  step(by) {
    if (!this.stop) return false;
    this.playing = false;
    this.goTo(clamp(this.stop + by, 1, this.stops.length));
    if (this.track.contains(document.activeElement)) findInside(this.track, "[aria-current]").focus();
    return true;
  }

  // One step of what the stop shows, on or back.
  /** @param {number} by */
  stepInside(by) {
    if (!this.stop) return false;
    this.pause();
    cancelAnimationFrame(this.running);
    const [count, { canvas }] = [countSteps(this.stops[this.stop - 1]), this];
    const at = Math.round(this.time * count) + by;
    this.time = clamp(at, 0, count) / count;
    this.spent = this.time * MOTION[this.stop - 1];
    canvas.draw();
    canvas.chrome.say(`Step ${Math.round(this.time * count)} of ${count}`);
    return true;
  }

  end() {
    this.playing = false;
    this.canvas.go({ stop: 0 });
  }

  hurry() {
    this.speed = SPEEDS[(SPEEDS.indexOf(this.speed) + 1) % SPEEDS.length];
    this.show();
  }

  run() {
    cancelAnimationFrame(this.running);
    this.last = performance.now();
    this.running = requestAnimationFrame(() => this.tick());
  }

  /** @returns {void} */
  tick() {
    const { canvas, stop } = this;
    if (!stop || !canvas.stopped) return;
    const now = performance.now();
    if (!this.held || this.time < 1) this.spent += ((now - this.last) / 1000) * this.speed;
    this.last = now;
    const drawn = this.time < 1;
    this.time = canvas.reduced ? 1 : Math.min(1, this.spent / MOTION[stop - 1]);
    if (drawn && !canvas.moving) canvas.draw();
    this.progress();
    if (this.playing && this.spent >= this.lasts) return void this.goOn();
    if (this.playing || this.time < 1) this.running = requestAnimationFrame(() => this.tick());
  }

  goOn() {
    if (this.stop < this.stops.length) this.goTo(this.stop + 1);
    else this.pause();
  }

  show() {
    const { canvas, stop, stops } = this;
    canvas.root.classList.toggle("bvc-without-stops", !stops.length);
    if (!stops.length) return;
    canvas.chrome.write(
      this.line, stop ? writeSentence(canvas, stops[stop - 1], stop, stops.length) : writeIdle(canvas)
    );
    canvas.chrome.write(this.track, writeTrack(this));
    this.progress();
  }

  // How far along the track the walk is.
  progress() {
    const { stop, stops } = this;
    const fill = this.track.querySelector(".bvc-fill");
    if (!fill) return;
    const within = stop && stop < stops.length && this.playing ? Math.min(1, this.spent / this.lasts) : 0;
    fill.style.width = stop ? `${((100 - 2 * SIDE) * (stop - 1 + within)) / (stops.length - 1)}%` : "0";
  }
}

// How many steps a stop's picture has.
/** @param {Stop} stop */
export function countSteps({ worked }) {
  if (worked.terms) return Math.round(worked.terms.length * LANDING);
  const { pieces, exponentials, values, parts, strongest, words } = worked;
  return [pieces, exponentials, values, parts, strongest, words].find(Array.isArray)?.length ?? STEPS;
}
