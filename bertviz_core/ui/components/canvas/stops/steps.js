// A calculation step by step, from left to right: bars lead from one number to the next, arrows where it is multiplied.
//
// A step is {name, note?, sign?, operand?, from, to, kind, leap?, reached?}: sign and operand stand under it, at its end
// the number that it reaches; leap: an arrow, as what is multiplied has no length; reached: what that number is called.

/** @import { Canvas } from "../canvas.js" */
/** @import { Sketch } from "../sketch.js" */
/** @import { Box, Digits, Step, StepChart, StepPlace } from "../types.js" */

import { writeFixed } from "../../shared/numbers.js";
import { fit, measure } from "../letters.js";
import { mix, within } from "../motion.js";
import { cut } from "../sketch.js";
import { FAINT } from "./caption.js";

/** @type {Record<string, string>} */
const TURNED = { "+": "−", "−": "+" };

// Where the steps stand, all on one scale.
/** @param {Box} box @param {Step[]} steps @returns {StepChart} */
export function placeSteps(box, steps) {
  const left = box.x + 16; // beside the zero
  const pitch = Math.min(240, (box.x + box.w - left) / steps.length);
  const [top, bottom] = [box.y + 84, box.y + box.h - (pitch < 80 ? 104 : 88)]; // where signs have a line of their own
  const ends = steps.flatMap(({ from, to }) => [from, to, 0]);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const y = (/** @type {number} */ value) => top + ((high - value) / (high - low || 1)) * (bottom - top);
  return { steps, pitch, wide: Math.min(76, pitch * 0.5), y, x: (i) => left + i * pitch, names: box.y + box.h - 42 };
}

/**
 * @param {Canvas} canvas
 * @param {Sketch} sketch
 * @param {StepChart} chart
 * @param {Digits} digits
 * @param {number} time
 */
export function drawSteps(canvas, sketch, { steps, pitch, wide, y, x, names }, digits, time) {
  const count = steps.length;
  sketch.line("zero", x(0) - 4, y(0), x(count - 1) + wide + 4, y(0), { stroke: FAINT, "stroke-opacity": 0.6 });
  sketch.text("zero label", x(0) - 8, y(0) + 4, "0", { size: 12, mono: true, at: "end", fill: FAINT });
  steps.forEach((step, i) => {
    const shown = within(time, i / count, (i + 0.9) / count);
    const column = { x: x(i), wide, pitch, y, names, next: steps[i + 1] };
    if (shown > 0) drawStep(canvas, sketch, i, step, column, digits, shown);
  });
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
    const room = pitch - 8;
    const [text, size] = [[long, 13.5], [short, 13.5], [short, 12]].find(
      ([words, high]) => measure(words, Number(high), true, 600) < room
    ) ?? ["", 12];
    const paint = { ...style, size: Number(size), mono: true, bold: 600 };
    if (text) sketch.text(`operation ${i}`, middle, names, text, paint);
    else {
      const [done, number] = i ? [short[0], short.slice(2)] : ["", short];
      sketch.text(`sign ${i}`, middle, names - 15, done, paint);
      sketch.text(`operation ${i}`, middle, names, number, paint);
    }
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
