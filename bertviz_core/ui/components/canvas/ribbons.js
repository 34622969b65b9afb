// Attention as ribbons, from the rows of the stage before to the chosen row.

/** @import { Canvas } from "./canvas.js" */
/** @import { Sketch } from "./sketch.js" */
/** @import { Bundle, DrawnBundle, Frame, PartBox, Share } from "./types.js" */

import { isContext } from "../shared/addresses.js";
import { clamp } from "../shared/clamp.js";
import { writePercent } from "../shared/numbers.js";
import { isSeen, rowMiddle, rowTop, seenRows } from "./cells.js";
import { isMarked, readValue } from "./data.js";
import { measure } from "./letters.js";
import { cut, ribbon } from "./sketch.js";

const STRONG = 0.095; // from this weight on a ribbon's share is printed

// Attention, from the rows of the stage before to the chosen row: of every layer the mean over its heads.
/** @param {Canvas} canvas @param {Sketch} sketch */
export function drawRibbons(canvas, sketch) {
  const { frame, data } = canvas;
  for (let layer = 0; layer < data.size.layers; layer++) {
    const box = frame.parts[`ribbons.${layer}`];
    const stage = canvas.stages.get(`ribbons.${layer}`);
    if (!box || !stage || box.a < 0.05 || box.w < 8) continue;
    const weights = Array.from(stage.values);
    const marked = weights.map((_, row) => isMarked(stage, { row }));
    drawBundle(canvas, sketch, { name: `ribbons.${layer}`, box, weights, marked, outside: data.outside[layer], layer });
  }
  drawCollected(canvas, sketch);
}

// Of the chosen head: how much of each token's value goes into the result.
/** @param {Canvas} canvas @param {Sketch} sketch */
function drawCollected(canvas, sketch) {
  const { frame, at, explained, place } = canvas;
  const box = frame.parts.collect;
  const stage = canvas.stages.get("head.weights");
  const elsewhere = explained.cell && !isContext(explained.cell);
  if (box.a < 0.05 || box.w < 8 || stage?.layer !== place.layer || elsewhere || !canvas.data.tokens[at]) return;
  const weights = Array.from({ length: canvas.data.tokens.length }, (_, key) => readValue(stage, { row: at, key }));
  const marked = weights.map((_, key) => isMarked(stage, { row: at, key }));
  const outside = canvas.data.outside.head;
  drawBundle(canvas, sketch, { name: "collect", box, weights, marked, outside, layer: place.layer });
}

// marked: of which of the weights a change has moved.
/** @param {Canvas} canvas @param {Sketch} sketch @param {Bundle} given2 */
function drawBundle(canvas, sketch, { name, box, weights, marked, outside, layer }) {
  const { frame, data } = canvas;
  const rows = seenRows(frame, weights.length);
  const answering = canvas.hover?.where?.key ?? canvas.pointed;
  const depth = box.a * canvas.fade(name);
  const hidden = sumHidden(weights, frame, outside);
  const stack = stackEnds(canvas);
  drawStub(canvas, sketch, `${name} above`, box, { weight: hidden.before, end: stack(hidden.before), depth, side: -1 });
  for (const key of rows) {
    const weight = weights[key];
    const end = stack(weight);
    if (canvas.quiet && data.tokens[key].special) continue;
    const from = { y: rowMiddle(frame, key), h: Math.min(frame.row - 8, 24) };
    sketch.path(`${name} ${key}`, ribbon(box.x, box.x + box.w, Math.min(28, box.w * 0.42), from, end), {
      ...paintRibbon(canvas, weight, depth), "data-weight": weight, "data-layer": layer,
      "data-key": key + data.window.start, stroke: answering === key ? "var(--bvc-attention)" : undefined,
    });
  }
  drawStub(canvas, sketch, `${name} below`, box, { weight: hidden.after, end: stack(hidden.after), depth, side: 1 });
  printShares(canvas, sketch, { name, box, weights, marked, depth, rows, layer });
}

// Where ribbons end at the chosen row: one on the other, together as high as the row.
/** @param {Canvas} canvas */
function stackEnds({ frame, at }) {
  const row = clamp(at, frame.first - 0.7, frame.first + frame.count - 0.3);
  let used = rowTop(frame, row) + 3;
  return (/** @type {number} */ weight) => {
    const h = Math.abs(weight) * (frame.row - 6);
    used += h;
    return { y: used - h / 2, h };
  };
}

/** @param {Canvas} canvas @param {number} weight @param {number} depth */
function paintRibbon({ colors }, weight, depth) {
  const color = weight < 0 ? colors.negative : colors.ink("attention");
  return { fill: color, "fill-opacity": Math.abs(weight), opacity: cut(depth, 3) };
}

// What goes to rows that are not seen: above and below.
/** @param {number[]} weights @param {Frame} frame @param {Share} [outside] */
function sumHidden(weights, { first, count }, outside = { before: 0, after: 0 }) {
  const sum = (/** @type {number} */ from, /** @type {number | undefined} */ to) => weights.slice(from, to).reduce((all, weight) => all + weight, 0);
  const start = Math.round(first);
  return { before: outside.before + sum(0, start), after: outside.after + sum(start + Math.round(count), undefined) };
}

// A ribbon to tokens out of sight ends in a stub at the edge of the rows.
/**
 * @param {Canvas} canvas
 * @param {Sketch} sketch
 * @param {string} key
 * @param {PartBox} box
 * @param {{ weight: number, end: { y: number, h: number }, depth: number, side: number }} given4
 */
function drawStub({ frame, colors }, sketch, key, box, { weight, end, depth, side }) {
  if (Math.abs(weight) < 0.004) return;
  const edge = side < 0 ? frame.top - 4 : frame.top + frame.row * frame.count + 3;
  sketch.path(key, ribbon(box.x, box.x + box.w, Math.min(28, box.w * 0.42), { y: edge, h: 7 }, end), {
    fill: colors.ink("attention"), "fill-opacity": Math.abs(weight), opacity: cut(depth, 3), "data-outside": weight,
  });
  if (Math.abs(weight) < STRONG / 2 || box.w < 44) return;
  const words = `${side < 0 ? "↑" : "↓"}${writePercent(Math.abs(weight))}`;
  printShare(sketch, `${key} share`, box.x + 2, edge + (side < 0 ? 1 : 9) - 4.5, words, box.a);
}

// The strongest weights, printed where their ribbons begin, on paper: read alike on all of them. Those that a change
// has moved are underlined as cells are.
/** @param {Canvas} canvas @param {Sketch} sketch @param {DrawnBundle} given2 */
function printShares(canvas, sketch, { name, box, weights, marked, depth, rows, layer }) {
  if (box.w < 36 || depth < 0.05) return;
  const shown = rows.filter((key) => !(canvas.quiet && canvas.data.tokens[key].special) && isSeen(canvas.frame, key));
  const order = shown.sort((a, b) => weights[b] - weights[a]).slice(0, box.w > 60 ? 4 : 2);
  for (const key of order) {
    const weight = weights[key];
    if (weight < STRONG) break;
    const words = writePercent(weight);
    if (measure(words, 12, true, 600) > box.w - 4) continue;
    const [x, y] = [box.x + 2, rowMiddle(canvas.frame, key)];
    printShare(sketch, `${name} share ${key}`, x, y, words, box.a);
    if (!marked[key]) continue;
    sketch.line(`${name} share ${key} mark`, x + 3, y + 7, x + 3 + measure(words, 12, true, 600), y + 7, {
      stroke: "var(--bvc-text)", "stroke-width": 2, opacity: cut(box.a, 3), "data-changed": layer,
      "data-key": key + canvas.data.window.start,
    });
  }
}

/**
 * @param {Sketch} sketch
 * @param {string} key
 * @param {number} x
 * @param {number} y
 * @param {string} words
 * @param {number} opacity
 */
function printShare(sketch, key, x, y, words, opacity) {
  sketch.box(`${key} tag`, { x, y: y - 7.5, w: measure(words, 12, true, 600) + 6, h: 15 }, {
    rx: 4, fill: "var(--bvc-paper)", "fill-opacity": 0.8, opacity: cut(opacity, 3),
  });
  sketch.text(key, x + 3, y + 4.5, words, { size: 12, mono: true, bold: 600, opacity });
}
