// The picture of the neurons.

/** @import { Canvas } from "../canvas.js" */
/** @import { Sketch } from "../sketch.js" */
/** @import { Fired, Then } from "./types.js" */
/** @import { Box, Name, Neuron, Scale, ToldNeuron } from "../types.js" */

import { writeAmount, writeCount, writeFixed, writeShort } from "../../shared/numbers.js";
import { measure } from "../letters.js";
import { mix, within } from "../motion.js";
import { cut } from "../sketch.js";
import { drawCaption, FAINT, quote, ringSpoken } from "./caption.js";
import { drawOutcome } from "./products.js";
import { writeOperation } from "./steps.js";

const WRITTEN = 48; // pixels at the bottom for what the neurons write together

// Neurons on the curve of the activation function, and in figures: the strongest, one that is damped, one shut off.
/** @param {Canvas} canvas @param {Sketch} sketch @param {Box} box @param {Fired} worked @param {number} time */
export function drawNeurons(canvas, sketch, box, worked, time) {
  const { strongest, alone, active, total, damped, shut, function: name, curve, onwards: then } = worked;
  const words = [[`${writeCount(active)} of ${writeAmount(total, "neuron")}`, "ffn"], [active === 1 ? "is above 0" : "are above 0"]];
  const maker = name || "put there by a change";
  drawCaption(sketch, box, words, `${maker} at ${quote(canvas, canvas.place.token)}: what goes in → what comes out`);
  const listed = listNeurons(strongest.slice(0, box.w < 420 ? 1 : 6), alone, damped, shut);
  const { chart, list } = placeNeurons(then.whole ? { ...box, h: box.h - WRITTEN } : box, listed.length);
  const before = listed.map(({ neuron }) => neuron[1]);
  const [low, high] = [Math.min(-2, ...before) * 1.08, Math.max(2, ...before) * 1.08];
  const x = (/** @type {number} */ value) => chart.x + ((value - low) / (high - low)) * chart.w;
  const y = (/** @type {number} */ value) => chart.y + chart.h - ((value + 0.3) / (high + 0.3)) * chart.h;
  drawCurve(sketch, chart, { x, y, low, high, curve: curve.filter(([point]) => point >= low && point <= high) });
  /** @type {Name[]} */
  const taken = [];
  listed.forEach((each, i) => {
    const shown = within(time, i * 0.09, 0.3 + i * 0.09);
    drawDot(sketch, i, each, { x, y, shown, taken });
    if (shown > 0) drawNeuron(sketch, i, each, { shown, list, most: Math.max(...listed.map(({ neuron }) => Math.abs(neuron[2]))) });
  });
  if (then.whole) drawWritten(canvas, sketch, box, then, within(time, 0.85, 1));
}

// What all of them write into the component that is followed, added to what came in, and normalized.
/** @param {Canvas} canvas @param {Sketch} sketch @param {Box} box @param {Then} then @param {number} shown */
function drawWritten(canvas, sketch, box, then, shown) {
  const { component, skip, written, sum, value, digits } = then;
  for (const part of ["norm", "sum2", `output.${canvas.place.layer}`]) ringSpoken(canvas, sketch, part);
  const added = `${writeFixed(skip, digits.terms)} ${writeOperation({ sign: "+", operand: written }, digits.terms)}`;
  const words = `${added} = ${writeFixed(sum, digits.total)} → ${writeFixed(value, digits.total)}`;
  const note = `component ${component}: what came in + what all write → LayerNorm`;
  drawOutcome(sketch, box, words, note, shown);
}

// The strongest; then, unless it is one of these, what the activation function takes most from, and what it shuts off.
/** @param {Neuron[]} strongest @param {boolean} alone @param {Neuron | null} damped @param {Neuron | null} shut @returns {ToldNeuron[]} */
export function listNeurons(strongest, alone, damped, shut) {
  /** @type {[neuron: Neuron | null, role: string][]} */
  const about = [[damped, "damped"], [shut, "shut off"]];
  const told = about.flatMap(([neuron, role]) => (
    neuron && !strongest.some(([index]) => index === neuron[0]) ? [{ neuron, role }] : []
  ));
  const others = strongest.map((neuron, i) => ({ neuron, role: i || !alone ? "" : "strongest" }));
  return [...others, ...told];
}

/**
 * @param {Sketch} sketch
 * @param {number} i
 * @param {ToldNeuron} given2
 * @param {{ x: Scale, y: Scale, shown: number, taken: Name[] }} given3
 */
function drawDot(sketch, i, { neuron: [, before, after], role }, { x, y, shown, taken }) {
  const [at, to] = [x(before), y(mix(0, after, shown))];
  const color = role ? "var(--bvc-ffn)" : "var(--bvc-paper)";
  const dot = { r: role ? 5.5 : 3.5, fill: color, stroke: role ? "var(--bvc-paper)" : "var(--bvc-ffn)" };
  sketch.put(`dot ${i}`, "circle", { cx: cut(at), cy: cut(to), ...dot, opacity: cut(shown, 3) });
  if (!role) return;
  const rise = { stroke: "var(--bvc-ffn)", "stroke-opacity": 0.5, "stroke-dasharray": "3 3" };
  sketch.line(`rise ${i}`, at, y(0), at, to, rise);
  const name = placeName(taken, measure(role, 13, false, 650), at, y(after), role === "shut off");
  sketch.text(`dot name ${i}`, name.x, name.y, role, {
    size: 13, bold: true, fill: "var(--bvc-ffn)", opacity: shown, halo: true,
  });
}

// Where a dot's name stands: the first place beside the dot that no other name has taken.
/** @param {Name[]} taken @param {number} wide @param {number} x @param {number} y @param {boolean} first */
function placeName(taken, wide, x, y, first) {
  /** @type {[left: number, base: number][]} */
  const around = [[x - 10 - wide, y + 4], [x - wide, y - 12], [x + 10, y + 4], [x + 4, y + 20]];
  /** @type {typeof around} */
  const places = first ? [[x - 4, y - 12]] : around;
  /** @type {(place: [left: number, base: number]) => boolean} */
  const free = ([left, base]) => taken.every(
    (other) => Math.abs(other.y - base) > 15 || left > other.x + other.wide || left + wide < other.x
  );
  const [left, base] = places.find(free) ?? places[0];
  taken.push({ x: left, y: base, wide });
  return { x: left, y: base };
}

// The curve with the list beside it, or over it where there is little room.
/** @param {Box} box @param {number} count */
export function placeNeurons({ x, y, w, h }, count) {
  if (w < 420) {
    const chart = { x: x + 8, y: y + 60, w: w - 20, h: Math.max(40, h - 96 - 22 * count) };
    return { chart, list: { x, w, y: chart.y + chart.h + 38, pitch: 22 } };
  }
  const chart = { x: x + 8, y: y + 64, w: w * 0.54 - 8, h: h - 100 };
  const left = chart.x + chart.w + 34;
  return { chart, list: { x: left, w: x + w - left, y: chart.y + 10, pitch: Math.min(44, chart.h / count) } };
}

// curve: the points of the program's own function, none where a change put numbers in its place; the dashed line: what
// would come out of it unchanged.
/**
 * @param {Sketch} sketch
 * @param {Box} box
 * @param {{ x: Scale, y: Scale, low: number, high: number, curve: [number, number][] }} given2
 */
function drawCurve(sketch, { x: left, w, y: top, h }, { x, y, low, high, curve }) {
  sketch.line("across", left, y(0), left + w, y(0), { stroke: "var(--bvc-line)" });
  sketch.line("up", x(0), top, x(0), top + h, { stroke: "var(--bvc-line)" });
  const same = { stroke: FAINT, "stroke-dasharray": "4 4" };
  sketch.line("same", x(0), y(0), x(high), y(high), same);
  if (curve.length) {
    sketch.path("curve", `M${curve.map(([point, value]) => `${cut(x(point))} ${cut(y(value))}`).join("L")}`, {
      stroke: "var(--bvc-ffn)", "stroke-width": 2,
    });
  }
  const small = { size: 12, fill: FAINT };
  sketch.text("least", left, top + h + 18, `in: ${writeShort(low)}`, small);
  sketch.text("none", x(0), top + h + 18, "0", { ...small, at: "middle" });
  sketch.text("most", left + w, top + h + 18, writeShort(high), { ...small, at: "end" });
  sketch.text("out", x(0) - 6, top + 4, `out: ${writeShort(high)}`, { ...small, at: "end" });
  const some = Math.max(1.2, high * 0.3);
  if (h > 180) sketch.text("same name", x(some) - 8, y(some) + 2, "dashed: unchanged", { ...small, at: "end" });
}

/**
 * @param {Sketch} sketch
 * @param {number} i
 * @param {ToldNeuron} given2
 * @param {{ shown: number, list: { x: number, y: number, w: number, pitch: number }, most: number }} given3
 */
function drawNeuron(sketch, i, { neuron: [index, before, after], role }, { shown, list, most }) {
  const y = list.y + i * list.pitch;
  const bold = role ? 650 : 400;
  const small = { size: 12.5, mono: true, opacity: shown };
  sketch.text(`neuron ${i}`, list.x, y + 4.5, `${index}`, { ...small, size: 13, bold });
  sketch.text(`in ${i}`, list.x + 88, y + 4.5, writeShort(before), { ...small, at: "end", fill: FAINT });
  sketch.text(`becomes ${i}`, list.x + 92, y + 4.5, "→", { ...small, fill: FAINT });
  const number = writeShort(after);
  const end = Math.max(0, (Math.abs(after) / (most || 1)) * (list.w - 112 - measure(number, 12.5, true, 650)) * shown);
  sketch.box(`fired ${i}`, { x: list.x + 108, y: y - 6, w: Math.max(1.5, end), h: 12 }, {
    rx: 2, fill: "var(--bvc-ffn)", "fill-opacity": role ? 1 : 0.6,
  });
  sketch.text(`out ${i}`, list.x + 112 + end, y + 4.5, number, { ...small, bold });
}
