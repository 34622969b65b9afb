// The picture of what is collected from the values.

/** @import { Canvas } from "../canvas.js" */
/** @import { Sketch } from "../sketch.js" */
/** @import { Collected } from "./types.js" */
/** @import { Box, Columns, Digits, Scale } from "../types.js" */

import { clamp } from "../../shared/clamp.js";
import { writeFixed } from "../../shared/numbers.js";
import { cellBox, isSeen, rowMiddle } from "../cells.js";
import { readValue } from "../data.js";
import { measure } from "../letters.js";
import { ring } from "../marks.js";
import { within } from "../motion.js";
import { stageOf } from "../parts.js";
import { cut } from "../sketch.js";
import { drawCaption, FAINT, leadToCaption, quote } from "./caption.js";
import { runSums } from "./products.js";

// Share times value, token by token: each begins where the one before it ended.
/** @param {Canvas} canvas @param {Sketch} sketch @param {Box} box @param {Collected} worked @param {number} time */
export function drawCollect(canvas, sketch, box, worked, time) {
  const { frame } = canvas;
  const { component, digits, values } = worked;
  const columns = placeFactors(canvas, box, worked);
  const hidden = values.reduce((all, value, i) => all + (isSeen(frame, i) ? 0 : value), worked.others);
  const rest = hidden ? `; out of sight: ${writeFixed(hidden, digits.terms)}` : "";
  const short = rest ? "" : ": share · value, added"; // where there is little room, which a rest needs more
  const how = columns.factors ? ": each token’s share times its value, added from row to row" : short;
  drawCaption(
    sketch, box, [[quote(canvas, canvas.place.token), "prediction"], ["collects", "value"]],
    `component ${component}${how}${rest}`
  );
  const ends = runSums([...values, worked.others]);
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  const [left, right] = [columns.end + 22, box.x + box.w - 22];
  const x = (/** @type {number} */ value) => left + ((value - low) / (high - low || 1)) * (right - left);
  const bottom = frame.top + frame.row * frame.count;
  sketch.line("zero", x(0), frame.top + 4, x(0), bottom, { stroke: FAINT, "stroke-opacity": 0.6 });
  sketch.text("zero label", x(0), frame.top - 2, "0", { size: 12, mono: true, at: "middle", fill: FAINT });
  values.forEach((value, i) => {
    if (!isSeen(frame, i)) return;
    const shown = within(time, (0.8 * i) / values.length, (0.8 * (i + 1)) / values.length + 0.05);
    const start = i ? ends[i - 1] : 0;
    drawShare(canvas, sketch, i, { value, start, shown, x });
    drawFactors(canvas, sketch, i, { columns, worked, shown });
  });
  const total = { x: x(worked.sum), least: left, most: box.x + box.w, bottom, panel: box };
  drawTotal(canvas, sketch, worked, total, within(time, 0.85, 1), digits);
}

// Where share, value and their product end, one under the other; the product alone where there is no room.
/** @param {Canvas} canvas @param {Box} box @param {Collected} worked @returns {Columns} */
function placeFactors(canvas, { x, w }, { digits, shares, values, component }) {
  const widest = (/** @type {number[]} */ numbers, /** @type {number} */ decimals) => Math.max(
    ...numbers.map((each) => measure(writeFixed(each, decimals), 12, true, 600))
  );
  const product = widest(values, digits.terms);
  const recorded = readColumn(canvas, component);
  const [share, value] = [widest(shares, digits.factors), widest(recorded ?? [0], digits.factors)];
  const all = share + value + product + 36;
  if (!recorded || w < all + 180) return { factors: null, end: x + product };
  return { factors: { share: x + share, value: x + share + 18 + value }, end: x + all };
}

// One component of the chosen head's values, row by row; null while they are on their way.
/** @param {Canvas} canvas @param {number} component */
function readColumn(canvas, component) {
  const stage = stageOf(canvas, "value");
  const column = stage?.columns.indexOf(component) ?? -1;
  return !stage || column < 0 ? null : canvas.data.tokens.map((_, row) => readValue(stage, { row, column }));
}

// All shares together, and where the sum stands in the result.
/**
 * @param {Canvas} canvas
 * @param {Sketch} sketch
 * @param {Collected} worked
 * @param {{ x: number, least: number, most: number, bottom: number, panel: Box }} given3
 * @param {number} opacity
 * @param {Digits} digits
 */
function drawTotal(canvas, sketch, { sum, component }, { x, least, most, bottom, panel }, opacity, digits) {
  const { frame, data, place, at } = canvas;
  const style = { stroke: "var(--bvc-value)", "stroke-width": 2, opacity: cut(opacity) };
  sketch.line("sum", x, frame.top + 4, x, bottom + 4, style);
  const words = `Σ ${writeFixed(sum, digits.total)}`;
  const half = measure(words, 15, true, 650) / 2;
  const bold = { size: 15, mono: true, bold: 650, at: "middle", fill: "var(--bvc-value)", opacity };
  sketch.text("sum number", clamp(x, least + half, most - half), bottom + 19, words, bold);
  ringColumn(canvas, sketch, component);
  const column = stageOf(canvas, "context")?.columns.indexOf(component + place.head * data.size.head_width) ?? -1;
  const paint = { stroke: "var(--bvc-text)", "stroke-width": 2, opacity };
  const cell = column < 0 ? null : ring(canvas, sketch, "result", "context", { row: at, column }, paint);
  if (opacity === 1) leadToCaption(sketch, cell, panel);
}

/**
 * @param {Canvas} canvas
 * @param {Sketch} sketch
 * @param {number} i
 * @param {{ value: number, start: number, shown: number, x: Scale }} given3
 */
function drawShare({ frame, colors }, sketch, i, { value, start, shown, x }) {
  const y = rowMiddle(frame, i);
  const high = Math.min(24, frame.row - 6);
  const end = start + value * shown;
  const bar = {
    x: Math.min(x(start), x(end)), y: y - high / 2, w: Math.max(1.5, Math.abs(x(end) - x(start))), h: high,
  };
  const fill = value < 0 ? colors.negative : colors.cell("value");
  sketch.box(`part ${i}`, bar, { rx: 2, fill, "fill-opacity": value < 0 ? 0.8 : 1 });
  const on = { stroke: FAINT, "stroke-dasharray": "2 3", opacity: cut(shown) };
  sketch.line(`on ${i}`, x(end), y + high / 2, x(end), y + frame.row - high / 2, on);
}

// The share and the recorded value that are multiplied, and what that makes.
/**
 * @param {Canvas} canvas
 * @param {Sketch} sketch
 * @param {number} i
 * @param {{ columns: Columns, worked: Collected, shown: number }} given3
 */
function drawFactors(canvas, sketch, i, { columns, worked, shown }) {
  const { digits, shares, values, largest, component, of } = worked;
  const y = rowMiddle(canvas.frame, i) + 4.5;
  const style = { size: 12, mono: true, at: "end", opacity: shown };
  const faint = { ...style, fill: FAINT };
  const bold = of[i] === largest ? 600 : 400;
  sketch.text(`value ${i}`, columns.end, y, writeFixed(values[i], digits.terms), { ...style, bold });
  const factor = readColumn(canvas, component)?.[i];
  if (!columns.factors || factor === undefined) return;
  const { share, value } = columns.factors;
  sketch.text(`share of ${i}`, share, y, writeFixed(shares[i], digits.factors), faint);
  sketch.text(`times ${i}`, share + 12, y, "·", faint);
  sketch.text(`factor ${i}`, value, y, writeFixed(factor, digits.factors), faint);
  sketch.text(`is ${i}`, value + 12, y, "=", faint);
}

// The component that is collected, in the values of all rows.
/** @param {Canvas} canvas @param {Sketch} sketch @param {number} component */
function ringColumn(canvas, sketch, component) {
  const stage = stageOf(canvas, "value");
  const box = canvas.frame.parts.value;
  const column = stage?.columns.indexOf(component) ?? -1;
  const cell = column < 0 ? null : cellBox(canvas, "value", { row: Math.ceil(canvas.frame.first), column });
  if (cell) {
    sketch.box("collected", { x: cell.x - 2, y: box.y, w: cell.w + 4, h: box.h }, {
      rx: 3, fill: "none", stroke: "var(--bvc-value)", "stroke-width": 2,
    });
  }
}
