// The picture of how the heads become one vector: side by side, times a column of the output matrix, head by head.

/** @import { Canvas } from "../canvas.js" */
/** @import { Sketch } from "../sketch.js" */
/** @import { Joined } from "./types.js" */
/** @import { Box, Digits, Scale } from "../types.js" */

import { clamp } from "../../shared/clamp.js";
import { writeAmount, writeCount, writeFixed } from "../../shared/numbers.js";
import { measure } from "../letters.js";
import { within } from "../motion.js";
import { drawCaption, FAINT, leadToCaption, quote, ringSpoken } from "./caption.js";
import { drawOutcome, drawWaterfall, writeOutcome, writeProduct } from "./products.js";
import { writeOperation } from "./steps.js";

const BIAS = 38; // pixels

// Each head's numbers over their weights, and under both what they bring to the component; then the bias.
/** @param {Canvas} canvas @param {Sketch} sketch @param {Box} box @param {Joined} worked @param {number} time */
export function drawJoin(canvas, sketch, box, worked, time) {
  const { component, heads, width, vector, parts, product, bias, value, digits, adds_up: whole } = worked;
  drawCaption(
    sketch, box, [[writeAmount(heads, "head"), "value"], ["side by side,", "value"], ["times W_O"]],
    `${heads} × ${width} = ${writeCount(vector.length)} numbers; they make component ${component} of ` +
      quote(canvas, canvas.place.token)
  );
  const landed = Math.round(within(time, 0.35, 0.9) * (parts.length + 1));
  const { strips, chart } = placeJoin(box);
  const added = [...parts.map((each) => ({ value: each })), { value: bias, wide: BIAS }];
  const fall = drawWaterfall(canvas, sketch, chart, { parts: added, landed, digits: digits.terms, kind: "value" });
  drawStrips(canvas, sketch, worked, { ...strips, starts: fall.starts, end: box.x + box.w }, time);
  writeParts(sketch, worked, fall, landed, digits);
  sketch.text("bias", fall.starts[heads], fall.bottom + 22, "bias", { size: 12, fill: FAINT, opacity: within(time, 0.85, 0.9) });
  const sum = `${writeFixed(product, digits.terms)} ${writeOperation({ sign: "+", operand: bias }, digits.terms)}`;
  drawOutcome(
    sketch, box, `${sum} ${writeOutcome(whole, value, digits)}`,
    `all heads + bias = component ${component} of the attention output`, within(time, 0.9, 1)
  );
  const cell = ringSpoken(canvas, sketch, "added");
  if (time === 1) leadToCaption(sketch, cell, box);
}

// Both strips over the waterfall, as high as there is room for.
/** @param {Box} box */
function placeJoin({ x, y, w, h }) {
  const high = clamp(h * 0.05, 8, 22);
  const first = y + 92;
  const second = first + high + 18;
  const under = second + high + 20;
  return { strips: { high, first, second }, chart: { x, w, y: under - 88, h: h - (under - 88 - y) } };
}

// The concatenated heads, and the column of the output matrix: the chosen head framed in both, its number ringed.
/**
 * @param {Canvas} canvas
 * @param {Sketch} sketch
 * @param {Joined} worked
 * @param {{ high: number, first: number, second: number, starts: number[], end: number }} given3
 * @param {number} time
 */
function drawStrips(canvas, sketch, worked, { high, first, second, starts, end }, time) {
  const { vector, weights, head, heads, width, term, digits, component } = worked;
  const shown = within(time, 0, 0.3);
  const left = starts[0];
  const at = writeProduct(sketch, left, first - 22, term, { digits: digits.factors, kinds: ["value", null, "value"] });
  const room = starts[heads] + BIAS - at;
  const note = [`number ${term[0]} of ${vector.length} times its weight in column ${component} of W_O`, `number ${term[0]}`, ""].find(
    (words) => measure(words, 13) < room
  ) ?? "";
  sketch.text("which", at + 6, first - 22, note, { size: 13, fill: FAINT });
  /** @type {[name: string, y: number, numbers: number[]][]} */
  const rows = [["heads", first, vector], ["column", second, weights]];
  for (const [name, y, numbers] of rows) {
    const most = Math.max(...numbers.map(Math.abs), 1e-9);
    numbers.forEach((number, i) => {
      const cell = placeNumber(starts, width, i);
      sketch.box(`${name} ${i}`, { ...cell, y, h: high }, {
        fill: canvas.colors.shade("value", number, most), opacity: shown,
      });
    });
    const framed = { x: starts[head] - 1.5, y: y - 2, w: starts[head + 1] - starts[head] + 1, h: high + 4 };
    sketch.box(`framed ${name}`, framed, { rx: 3, fill: "none", stroke: "var(--bvc-value)", "stroke-width": 1.5 });
    const ringed = placeNumber(starts, width, term[0]);
    sketch.box(`ringed ${name}`, { x: ringed.x - 1.5, y: y - 2, w: ringed.w + 3, h: high + 4 }, {
      rx: 2, fill: "none", stroke: "var(--bvc-text)", "stroke-width": 2,
    });
  }
  const beside = { size: 12, fill: FAINT, opacity: shown };
  [["heads", first], [`× column ${component}`, second]].forEach(([words, y]) => {
    const next = starts[heads] + 4;
    if (measure(words, 12) < end - next) sketch.text(`beside ${words}`, next, Number(y) + high / 2 + 4, words, beside);
  });
  nameHeads(sketch, worked, starts, second - 5);
}

// Where one of the concatenated numbers stands: in its head's block.
/** @param {number[]} starts @param {number} width @param {number} i */
function placeNumber(starts, width, i) {
  const block = Math.floor(i / width);
  const wide = (starts[block + 1] - starts[block] - 2) / width;
  return { x: starts[block] + (i % width) * wide, w: Math.max(0.4, wide - (wide > 3 ? 0.5 : 0)) };
}

/** @param {Sketch} sketch @param {Joined} worked @param {number[]} starts @param {number} y */
function nameHeads(sketch, { head, heads }, starts, y) {
  const room = starts[1] - starts[0] - 4;
  const all = measure(`head ${heads}`, 12, false, 650) < room;
  for (let i = 0; i < heads; i++) {
    const words = all || i === head ? `head ${i}` : `${i}`;
    const near = !all && Math.abs(i - head) * room < 46; // the chosen one's name needs the room of its neighbours
    if (near && i !== head) continue;
    const style = { size: 12, at: "middle", bold: i === head, fill: i === head ? "var(--bvc-value)" : FAINT };
    sketch.text(`head ${i}`, (starts[i] + starts[i + 1] - 2) / 2, y, words, style);
  }
}

// What each head brings, at its bar; where there is little room, the chosen one's.
/**
 * @param {Sketch} sketch
 * @param {Joined} worked
 * @param {{ starts: number[], ends: number[], y: Scale }} fall
 * @param {number} landed
 * @param {Digits} digits
 */
function writeParts(sketch, { parts, head }, { starts, ends, y }, landed, digits) {
  const words = parts.map((each) => writeFixed(each, digits.factors));
  const all = words.every((each) => measure(each, 12, true, 600) < starts[1] - starts[0] - 4);
  parts.forEach((each, i) => {
    if (i >= landed || (!all && i !== head)) return;
    const [middle, end] = [(starts[i] + starts[i + 1] - 2) / 2, y(ends[i])];
    const style = { size: 12, mono: true, at: "middle", bold: i === head ? 650 : 400, halo: true };
    sketch.text(`brought ${i}`, middle, each < 0 ? end + 14 : end - 6, words[i], style);
  });
}
