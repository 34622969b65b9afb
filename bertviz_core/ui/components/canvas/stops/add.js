// The pictures of what is added and normalized: three rows of tables, and attention to what passes around it.

/** @import { Canvas } from "../canvas.js" */
/** @import { Sketch } from "../sketch.js" */
/** @import { LookedUp, Normalized } from "./types.js" */
/** @import { Box, Step } from "../types.js" */

import { STOP } from "../place.js";
import { drawCaption, drawLeader, leadToCaption, overCell, quote, ringSpoken } from "./caption.js";
import { runSums } from "./products.js";
import { drawSteps, placeSteps } from "./steps.js";

// Three rows of tables, added at one component and normalized.
/** @param {Canvas} canvas @param {Sketch} sketch @param {Box} box @param {LookedUp} worked @param {number} time */
export function drawLookUp(canvas, sketch, box, worked, time) {
  const token = quote(canvas, canvas.place.token);
  drawCaption(
    sketch, box, [[token, "prediction"], ["looks up three rows", "embedding"]],
    `component ${worked.component} of each, added, then normalized`
  );
  const steps = listLookedUp(worked);
  const chart = placeSteps(box, steps);
  drawSteps(canvas, sketch, chart, worked.digits, time);
  const cell = ringSpoken(canvas, sketch, "embedding");
  if (!cell || time < 1) return;
  const from = { x: chart.x(steps.length - 1) + chart.wide + 4, y: chart.y(worked.normalized) };
  drawLeader(sketch, canvas.frame.parts.embedding.x - 16, from, overCell(cell));
}

// The rows that are added, and on the same scale what LayerNorm makes of their sum.
/** @param {LookedUp} worked */
function listLookedUp({ rows, sum, normalized, adds_up: whole }) {
  const ends = runSums(rows.map(([, , operand]) => operand));
  /** @type {Step[]} */
  const added = rows.map(([name, row, operand, put], i) => ({
    name, note: put ? "a change" : `row ${row}`, sign: "+", operand, from: i ? ends[i - 1] : 0, to: ends[i],
    kind: "embedding",
    reached: whole && i === rows.length - 1 ? "sum" : "",
  }));
  const change = { name: "a change", from: ends[ends.length - 1], to: sum, kind: "embedding", leap: true, reached: "sum" };
  const norm = { name: "LayerNorm", note: `see stop ${STOP.add}`, kind: "embedding", leap: true, reached: "result" };
  return [...added, ...(whole ? [] : [change]), { ...norm, from: sum, to: normalized }];
}

// What passes around, what attention added, and the four steps of LayerNorm, at one component.
/** @param {Canvas} canvas @param {Sketch} sketch @param {Box} box @param {Normalized} worked @param {number} time */
export function drawAdd(canvas, sketch, box, worked, time) {
  const { component, digits, residual, normal_put: divided, put } = worked;
  const whole = worked.adds_up && !divided && !put;
  const found = ["what was found", "value"];
  const how = `${residual ? "added" : "without the residual"}, ${whole ? "" : "changed, "}then normalized`;
  const rounded = digits.exact ? "" : "; last digits are rounded";
  drawCaption(
    sketch, box, [...(residual ? [["What was there", "norm"], ["+", "residual"]] : [["Only", "residual"]]), found],
    `component ${component} of ${quote(canvas, canvas.place.token)}: ${how}${rounded}`
  );
  drawSteps(canvas, sketch, placeSteps(box, listNormalized(worked)), digits, time);
  const input = canvas.place.layer ? `output.${canvas.place.layer - 1}` : "embedding";
  const cells = [input, "added", "sum", "norm"].map((part) => ringSpoken(canvas, sketch, part));
  leadToCaption(sketch, cells[cells.length - 1], box);
}

// The quotient and the result are what the steps give, and what a change put there comes after that.
/** @param {Normalized} worked */
function listNormalized({ mean, centered, deviation, normal, gamma, scaled, beta, value, normal_put: divided, put, ...worked }) {
  const { sum } = worked;
  const quotient = divided ? centered / deviation : normal;
  const result = put ? scaled + beta : value;
  /** @param {number} from @param {number} to */
  const change = (from, to) => ({ name: "a change", from, to, kind: "norm", leap: true });
  return [
    ...listSum(worked),
    { name: "mean", sign: "−", operand: mean, from: sum, to: centered, kind: "norm" },
    { name: "σ", sign: "÷", operand: deviation, from: centered, to: quotient, kind: "norm", leap: true },
    ...(divided ? [change(quotient, normal)] : []),
    { name: "γ", sign: "×", operand: gamma, from: normal, to: scaled, kind: "norm", leap: true },
    { name: "β", sign: "+", operand: beta, from: scaled, to: result, kind: "norm", ...(put ? {} : { reached: "result" }) },
    ...(put ? [{ ...change(result, value), reached: "result" }] : []),
  ];
}

// What is added to the sum, with what a change put there in its place.
/** @param {Pick<Normalized, "residual" | "skip" | "added" | "sum" | "adds_up">} worked */
function listSum({ residual, skip, added, sum, adds_up: whole }) {
  const start = residual ? skip : 0;
  const end = whole ? sum : start + added;
  const attention = { name: "attention", sign: "+", operand: added, from: start, to: end, kind: "value" };
  const change = { name: "a change", from: end, to: sum, kind: "residual", leap: true, reached: "sum" };
  return [
    ...(residual ? [{ name: "input", from: 0, to: skip, kind: "norm" }] : []),
    ...(whole ? [{ ...attention, reached: "sum" }] : [attention, change]),
  ];
}
