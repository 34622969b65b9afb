// The cursor of the keyboard: where it can stand, and what is there.

/** @import { Cursor, Stage, Where } from "./types.js" */
/** @import { Canvas } from "./canvas.js" */

import { clampIndex } from "../shared/clamp.js";
import { readValue } from "./data.js";
import { lightRow } from "./light.js";
import { drawnColumns, findStrip, stageOf } from "./parts.js";
import { moveWindow } from "./rail.js";
import { describe } from "./told.js";

// The parts that the cursor visits, from left to right.
/** @param {Canvas} canvas */
export function listStops({ frame }) {
  const visited = Object.entries(frame.parts).filter(
    ([id, box]) => box.a > 0.5 && box.w > 3 && !["panel", "collect", "tokens"].includes(id)
  );
  return visited.sort(([, a], [, b]) => a.x - b.x).map(([id]) => id);
}

// The places of a part along a row: columns, keys, or one for what is opened as a whole.
/** @param {Canvas} canvas @param {string} part @returns {{ stage?: Stage, at?: Partial<Where>, layer?: number }[]} */
export function listPlaces(canvas, part) {
  const { frame, data } = canvas;
  if (part.startsWith("ribbons")) return [{ layer: Number(part.split(".")[1]) }];
  if (part === "words") return [{}];
  const stage = stageOf(canvas, part);
  if (!stage) return [{}];
  if (part === "matrix") return data.tokens.map((_, key) => ({ stage, at: { key } }));
  if (part === "weights") {
    return Array.from({ length: data.size.heads }, (_, head) => ({
      stage, at: { head, key: canvas.first },
    }));
  }
  return drawnColumns(canvas, stage, frame.parts[part].w).map((column) => ({ stage, at: { column } }));
}

/** @param {Canvas} canvas @returns {Cursor} */
export function startCursor(canvas) {
  if (canvas.cursor) return canvas.cursor;
  const { place, at } = canvas;
  const part = { pass: `ribbons.${place.layer}`, layer: "weights", head: "matrix" }[place.level];
  const column = { pass: 0, layer: place.head, head: strongestKey(canvas) }[place.level];
  return makeCursor(canvas, part, Math.max(0, at), column);
}

/** @param {Canvas} canvas */
export function strongestKey(canvas) {
  const stage = stageOf(canvas, "matrix");
  if (!stage || !canvas.data.tokens[canvas.at]) return 0;
  const weights = canvas.data.tokens.map((_, key) => readValue(stage, { row: canvas.at, key }));
  return weights.indexOf(Math.max(...weights));
}

/** @param {Canvas} canvas @param {string} part @param {number} row @param {number} column @returns {Cursor} */
function makeCursor(canvas, part, row, column) {
  const places = listPlaces(canvas, part);
  const index = clampIndex(column, places.length);
  const { stage, at, layer } = places[index];
  return { part, stage, layer, index, where: { row, ...at }, ...(part === "words" && row === canvas.at ? { word: 0 } : {}) };
}

/** @param {Canvas} canvas @param {string} part @param {number} row @param {number} column */
export function setCursor(canvas, part, row, column) {
  const cursor = makeCursor(canvas, part, row, column);
  canvas.cursor = cursor;
  const { first = 0, frame } = canvas;
  if (row < first) moveWindow(canvas, row + canvas.data.window.start);
  if (row >= first + frame.count) moveWindow(canvas, row + canvas.data.window.start - frame.count + 1);
  lightRow(canvas, row);
  canvas.chrome.read(cursor);
  canvas.chrome.say(describe(canvas, cursor));
  canvas.draw();
  return true;
}

// Over the first row, the title of a strip that can be seen whole.
/** @param {Canvas} canvas @param {Cursor} below */
export function setTitle(canvas, { part, index, where }) {
  const cursor = { part, index, where, strip: findStrip(canvas, part) ?? undefined };
  canvas.cursor = cursor;
  canvas.chrome.read(cursor);
  canvas.chrome.say(describe(canvas, cursor));
  canvas.draw();
  return true;
}
