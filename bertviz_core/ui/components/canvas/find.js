// What stands at a point of the picture.

/** @import { Canvas } from "./canvas.js" */
/** @import { PartBox, Target } from "./types.js" */

import { clamp, clampIndex } from "../shared/clamp.js";
import { headBoxes, layStrip } from "./cells.js";
import { INPUT, findStrip, opensLayer, stageOf } from "./parts.js";
import { locate } from "./room.js";
import { TITLE } from "./sizes.js";
import { cardBox, lineHeight, listBest } from "./words.js";

/** @param {Target | null} one @param {Target | null} other */
export function isSameTarget(one, other) {
  return JSON.stringify(nameTarget(one)) === JSON.stringify(nameTarget(other));
}

/** @param {Target | null} target */
function nameTarget(target) {
  return target && [target.part, target.where, target.layer, target.word, target.strip];
}

// What stands at a point of the window.
/** @param {Canvas} canvas @param {PointerEvent} event @returns {Target | null} */
export function findAt(canvas, event) {
  const { x, y } = locate(canvas, event);
  return canvas.frame ? findTarget(canvas, x, y) : null;
}

/** @param {Canvas} canvas @param {number} x @param {number} y @returns {Target | null} */
export function findTarget(canvas, x, y) {
  const { frame, place, data } = canvas;
  const row = Math.floor(frame.first + (y - frame.top) / frame.row);
  const [part, box] = Object.entries(frame.parts).find(
    ([, each]) => each.a > 0.5 && each.w > 1 && x >= each.x - 2 && x <= each.x + each.w + 2
  ) ?? [];
  const inside = y >= frame.top && row < Math.min(data.tokens.length, frame.first + frame.count);
  if (part === "weights") return findHead(canvas, x, y);
  if (!inside) return y < frame.top && !place.stop ? findTitle(canvas, part, x) : null;
  if (!part || !box || part === "panel" || part === "collect") return { part: "row", where: { row } };
  if (part === "tokens") return { part, where: { row } };
  if (part === "words") return { part, ...findWord(canvas, y, row) };
  if (part.startsWith("ribbons")) return { part, layer: Number(part.split(".")[1]), where: { row } };
  return findCell(canvas, part, box, { row, x, y });
}

/**
 * @param {Canvas} canvas
 * @param {string} part
 * @param {PartBox} box
 * @param {{ row: number, x: number, y: number }} given3
  * @returns {Target}
  */
function findCell(canvas, part, box, { row, x, y }) {
  const stage = stageOf(canvas, part);
  if (!stage) return { part: "row", where: { row } };
  const { frame } = canvas;
  const inside = clamp((x - box.x) / box.w, 0, 0.9999);
  if (part === "matrix") return { part, stage, where: { row, key: Math.floor(frame.first + inside * frame.count) } };
  const column = layStrip(canvas, part, stage, box).find(row, x, y);
  return column === undefined ? { part: "row", where: { row } } : { part, stage, where: { row, column } };
}

/** @param {Canvas} canvas @param {number} x @param {number} y @returns {Target | null} */
function findHead(canvas, x, y) {
  const { frame, data } = canvas;
  const stage = stageOf(canvas, "weights");
  const head = headBoxes(canvas).findIndex(
    (box) => x >= box.x - 4 && x <= box.x + box.size + 4 && y >= box.y - TITLE && y <= box.y + box.size + 4
  );
  if (head < 0 || !stage) return null;
  const { x: left, y: top, size } = headBoxes(canvas)[head];
  const place = (/** @type {number} */ far) => (
    clampIndex(Math.floor(frame.first + (far / size) * frame.count), data.tokens.length)
  );
  return { part: "weights", stage, where: { head, row: place(y - top), key: place(x - left) } };
}

// Over the rows: of the pass a layer or the embedding, of a layer the title of a strip that can be seen whole.
/** @param {Canvas} canvas @param {string | undefined} part @param {number} x @returns {Target | null} */
function findTitle(canvas, part, x) {
  if (canvas.place.level === "pass") {
    return part && opensLayer(canvas, part) ? { part, strip: INPUT } : findBlock(canvas, x);
  }
  const strip = canvas.place.level === "layer" && part && canvas.frame.parts[part].w > 24 && findStrip(canvas, part);
  return strip ? { part, strip } : null;
}

/** @param {Canvas} canvas @param {number} x @returns {Target | null} */
function findBlock({ frame, data }, x) {
  for (let layer = 0; layer < data.size.layers; layer++) {
    const [from, to] = [frame.parts[`ribbons.${layer}`], frame.parts[`output.${layer}`]];
    if (from.a > 0.5 && x >= from.x && x <= to.x + to.w) return { part: `layer.${layer}`, layer };
  }
  return null;
}

/** @param {Canvas} canvas @param {number} y @param {number} row */
function findWord(canvas, y, row) {
  const card = cardBox(canvas);
  const word = Math.floor((y - card.y - 8) / lineHeight(canvas.frame));
  const [inside, own] = [y >= card.y && y <= card.y + card.h, { row: canvas.at }];
  const within = inside && word >= 0 && word < listBest(canvas).length;
  return within ? { word, where: own } : { where: inside ? own : { row } };
}

// The layer whose output is drawn as a thin spine, in a level that is about another layer.
/** @param {Canvas} canvas @param {string} part @returns {number | null} */
export function findSpine({ place, frame }, part) {
  const layer = /^output\.(\d+)$/.exec(part)?.[1];
  const spine = layer !== undefined && place.level !== "pass" && frame.parts[part].w <= 24;
  return spine && Number(layer) !== place.layer ? Number(layer) : null;
}
