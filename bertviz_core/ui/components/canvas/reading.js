// How long a stop takes who reads slowly: by the words that are on screen at it.

/** @import { Canvas } from "./canvas.js" */
/** @import { Stop, TextStyle } from "./types.js" */

import { arrange } from "./layout.js";
import { drawStopPicture } from "./stops/picture.js";
import { drawTitles } from "./titles.js";

const RATE = 200 / 60; // words a second
const LOOK = 1; // seconds that a picture stands at least once it is complete
// Seconds that a stop's picture takes to come about.
export const MOTION = [4, 6, 4, 7, 7, 6, 7, 6, 5, 6];

/** @type {{ key: string, seconds: number[] }} */
let known = { key: "", seconds: [] }; // of the pass that was timed last

// Seconds of each stop of the pass that is shown.
/** @param {Canvas} canvas */
export function timeStops(canvas) {
  const { key, stops } = canvas.data;
  if (known.key !== key || known.seconds.length !== stops.length) {
    known = { key, seconds: stops.map((_, i) => Math.max(MOTION[i] + LOOK, countWords(canvas, i + 1) / RATE)) };
  }
  return known.seconds;
}

// In whole minutes, all stops.
/** @param {Canvas} canvas */
export function countMinutes(canvas) {
  return Math.max(1, Math.round(timeStops(canvas).reduce((all, each) => all + each, 0) / 60));
}

// The words of a stop: what is told, numbers too; and what is written over and into the picture, its numbers left out.
/** @param {Canvas} canvas @param {number} stop */
function countWords(canvas, stop) {
  const told = listTold(canvas.data.stops[stop - 1]).join(" ").match(/\S*[\p{L}\p{N}]\S*/gu) ?? [];
  const drawn = listDrawn(canvas, stop).join(" ").match(/\S*\p{L}{2}\S*/gu) ?? [];
  return told.length + drawn.length;
}

/** @param {Stop} stop */
function listTold({ title, sentence, plain }) {
  return [title, sentence.map(([text]) => text).join(""), ...plain.flat()];
}

// What is written at a stop whose picture is complete, as if it were shown now.
/** @param {Canvas} canvas @param {number} stop @returns {string[]} */
function listDrawn(canvas, stop) {
  /** @type {Canvas} */
  const there = Object.create(canvas);
  const place = { ...canvas.place, stop, level: canvas.data.stops[stop - 1].level, strip: null };
  Object.assign(there, { place, size: canvas.size ?? { width: innerWidth, height: innerHeight }, player: { time: 1 } });
  there.frame = arrange(there.survey());
  const notes = new Notes();
  for (const draw of [drawTitles, drawStopPicture]) draw(there, /** @type {any} */ (notes));
  return notes.words;
}

// A sketch of which only the words are kept.
class Notes {
  /** @type {string[]} */ words = [];
  put() {}
  box() {}
  line() {}
  path() {}

  /** @param {string} _key @param {number} _x @param {number} _y @param {string | number} text @param {TextStyle} [style] */
  text(_key, _x, _y, text, { opacity = 1 } = {}) {
    if (opacity > 0) this.words.push(String(text));
  }
}
