// A calculation step by step, from left to right: bars lead from one number to the next, arrows where it is multiplied.
//
// A step is {name, note?, sign?, operand?, from, to, kind, leap?, reached?}: sign and operand stand under it, at its end
// the number that it reaches; leap: an arrow, as what is multiplied has no length; reached: what that number is called.

/** @import { Canvas } from "../canvas.js" */
/** @import { Sketch } from "../sketch.js" */
/** @import { Box, Digits, Step, StepChart, StepPlace } from "../types.js" */

import { writeCount, writeFixed } from "../../shared/numbers.js";
import { fit, measure } from "../letters.js";
import { mix, within } from "../motion.js";
import { cut } from "../sketch.js";
import { FAINT } from "./caption.js";

/** @type {Record<string, string>} */
const TURNED = { "+": "−", "−": "+" };

// groups: lists of steps, each with a scale of its own over the same zero, so that large and small stand side by side.
/** @param {Box} box @param {Step[][]} groups @returns {StepChart} */
export function placeSteps(box, groups) {
  const left = box.x + 16; // beside the zero
  const pitch = Math.min(240, (box.x + box.w - left) / groups.flat().length);
  const wide = Math.min(76, pitch * 0.5);
  const [top, bottom] = [box.y + 84, box.y + box.h - 88];
  const reach = groups.map((steps) => {
    const ends = steps.flatMap(({ from, to }) => [from, to, 0]);
    return { up: Math.max(...ends), down: -Math.min(...ends) };
  });
  /** @param {"up" | "down"} side */
  const share = (side) => Math.max(...reach.map((each) => each[side] / (each.up + each.down || 1)));
  const zero = top + ((bottom - top) * share("up")) / (share("up") + share("down") || 1);
  const fill = (/** @type {number} */ room, /** @type {number} */ size) => (size ? room / size : Infinity);
  const units = reach.map(({ up, down }) => Math.min(fill(zero - top, up), fill(bottom - zero, down)));
  const scales = units.map((unit) => (/** @type {number} */ value) => zero - value * (Number.isFinite(unit) ? unit : 0));
  return { groups, pitch, wide, zero, units, scales, x: (i) => left + i * pitch, names: box.y + box.h - 42 };
}

/**
 * @param {Canvas} canvas
 * @param {Sketch} sketch
 * @param {StepChart} chart
 * @param {Digits} digits
 * @param {number} time
 */
export function drawSteps(canvas, sketch, chart, digits, time) {
  const { groups, pitch, wide, zero, scales, x } = chart;
  const count = groups.flat().length;
  sketch.line("zero", x(0) - 4, zero, x(count - 1) + wide + 4, zero, { stroke: FAINT, "stroke-opacity": 0.6 });
  sketch.text("zero label", x(0) - 8, zero + 4, "0", { size: 12, mono: true, at: "end", fill: FAINT });
  let i = 0;
  groups.forEach((steps, group) => steps.forEach((step, place) => {
    const shown = within(time, i / count, (i + 0.9) / count);
    const column = { x: x(i), wide, pitch, y: scales[group], names: chart.names, next: steps[place + 1] };
    if (shown > 0) drawStep(canvas, sketch, i, step, column, digits, shown);
    if (group && !place && shown > 0) drawScaleChange(sketch, chart, i, steps[0].to, shown);
    i += 1;
  }));
}

/**
 * @param {Canvas} canvas
 * @param {Sketch} sketch
 * @param {number} i
 * @param {Step} step
 * @param {StepPlace} column
 * @param {Digits} digits
 * @param {number} shown
 */
function drawStep(canvas, sketch, i, step, column, digits, shown) {
  const { from, to, kind, leap } = step;
  const { x, wide, pitch, y, next } = column;
  const now = mix(from, to, shown);
  const color = `var(--bvc-${kind})`;
  const [up, down] = [Math.min(y(from), y(now)), Math.max(y(from), y(now))];
  if (leap) drawLeap(sketch, i, { x: x + wide / 2, from: y(from), to: y(now) }, color);
  else {
    const fill = to < from ? canvas.colors.negative : color;
    sketch.box(`step ${i}`, { x, y: up, w: wide, h: Math.max(1.5, down - up) }, { rx: 2, fill, "fill-opacity": 0.85 });
  }
  sketch.line(`level ${i}`, x, y(now), x + wide, y(now), { stroke: "var(--bvc-text)", "stroke-width": 2 });
  const on = { stroke: FAINT, "stroke-dasharray": "2 3" };
  if (next) sketch.line(`on ${i}`, x + wide, y(now), x + pitch + (next.leap ? wide / 2 : 0), y(now), on);
  drawReached(sketch, i, step, column, digits, shown);
  drawOperation(sketch, i, step, column, digits, shown);
}

// A number becomes another one: an arrow from the one to the other.
/**
 * @param {Sketch} sketch
 * @param {number} i
 * @param {{ x: number, from: number, to: number }} given2
 * @param {string} color
 */
function drawLeap(sketch, i, { x, from, to }, color) {
  sketch.line(`leap ${i}`, x, from, x, to, { stroke: color, "stroke-width": 2.5 });
  const side = Math.sign(to - from);
  if (Math.abs(to - from) < 9) return;
  const [tip, back] = [to - side, to - 9 * side];
  sketch.path(`tip ${i}`, `M${cut(x)} ${cut(tip)}L${cut(x - 5)} ${cut(back)}H${cut(x + 5)}Z`, { fill: color });
}

// The number that a step reaches, beyond its end.
/**
 * @param {Sketch} sketch
 * @param {number} i
 * @param {Step} given2
 * @param {StepPlace} given3
 * @param {Digits} digits
 * @param {number} opacity
 */
function drawReached(sketch, i, { from, to, reached }, { x, wide, pitch, y }, digits, opacity) {
  const below = to < from;
  const number = writeFixed(to, digits.total);
  const style = { at: "middle", opacity, halo: true, bold: reached ? 650 : 500 };
  const size = measure(number, 14.5, true, 650) < pitch - 10 ? 14.5 : 12;
  sketch.text(`number ${i}`, x + wide / 2, y(to) + (below ? 18 : -8), number, { ...style, size, mono: true });
  if (reached) sketch.text(`reached ${i}`, x + wide / 2, y(to) + (below ? 34 : -24), reached, { ...style, size: 13 });
}

// What is done, and with what.
/**
 * @param {Sketch} sketch
 * @param {number} i
 * @param {Step} step
 * @param {StepPlace} given3
 * @param {Digits} digits
 * @param {number} opacity
 */
function drawOperation(sketch, i, step, { x, wide, pitch, names }, digits, opacity) {
  const { name = "", note, kind, sign, operand = 0 } = step;
  const middle = x + wide / 2;
  const style = { at: "middle", opacity };
  if (sign) {
    const decimals = "×÷".includes(sign) ? digits.factors : digits.terms;
    const long = i ? writeOperation({ sign, operand }, decimals) : writeFixed(operand, decimals);
    const short = i ? writeTurned({ sign, operand }, decimals) : long;
    /** @type {[text: string, size: number][]} */
    const ways = [[long, 13.5], [short, 13.5], [short, 12], [short.replace(" ", ""), 12]];
    const [text, size] = ways.find(
      ([words, high]) => measure(words, high, true, 600) < pitch - 8
    ) ?? ways[ways.length - 1];
    sketch.text(`operation ${i}`, middle, names, text, { ...style, size, mono: true, bold: 600 });
  }
  const fill = `var(--bvc-${kind})`;
  sketch.text(`name ${i}`, middle, names + 18, fit(name, 13, pitch - 4, 650), { ...style, size: 13, bold: true, fill });
  if (!note) return;
  sketch.text(`note ${i}`, middle, names + 34, fit(note, 12, pitch - 2), { ...style, size: 12, fill: FAINT });
}

/** @param {{ sign: string, operand: number }} given @param {number} decimals */
export function writeOperation({ sign, operand }, decimals) {
  const text = writeFixed(operand, decimals);
  return `${sign} ${text.startsWith("−") ? `(${text})` : text}`;
}

// A negative number added is a number taken away, and the other way round: without parentheses.
/** @param {{ sign: string, operand: number }} given @param {number} decimals */
export function writeTurned({ sign, operand }, decimals) {
  const turned = TURNED[sign];
  const text = writeFixed(operand, decimals);
  return turned && text.startsWith("−") ? `${turned} ${text.slice(1)}` : writeOperation({ sign, operand }, decimals);
}

// The same number on the next scale: lines from where it stood to where it stands, and how much smaller that is.
/** @param {Sketch} sketch @param {StepChart} given1 @param {number} i @param {number} value @param {number} opacity */
export function drawScaleChange(sketch, { x, wide, pitch, units, scales, names }, i, value, opacity) {
  const style = { stroke: FAINT, "stroke-dasharray": "2 3", opacity: cut(opacity, 3) };
  sketch.line("change", x(i - 1) + wide, scales[0](value), x(i), scales[1](value), style);
  const ratio = units[0] / units[1];
  if (!Number.isFinite(ratio) || !ratio) return;
  const words = ratio >= 1 ? `${writeRatio(ratio)} × smaller` : `${writeRatio(1 / ratio)} × larger`;
  const full = measure(`drawn ${words}`, 12) < pitch - 4 ? `drawn ${words}` : words;
  const label = { size: 12, at: "middle", fill: FAINT, opacity };
  sketch.text("change label", x(i) + wide / 2, names + 34, fit(full, 12, pitch - 2), label);
}

/** @param {number} ratio */
function writeRatio(ratio) {
  return ratio < 10 ? writeFixed(ratio, 1) : writeCount(Math.round(ratio));
}
