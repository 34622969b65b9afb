// Sums of products, number by number.

/** @import { Canvas } from "../canvas.js" */
/** @import { Sketch } from "../sketch.js" */
/** @import { Box, Digits, Kind, Part, Scale, Term } from "../types.js" */

import { writeFixed } from "../../shared/numbers.js";
import { fit, measure } from "../letters.js";
import { FAINT } from "./caption.js";

export const LANDING = 1.12; // how much sooner the products have landed than the picture is done

// The product that is spoken of: the one that lands; once all have landed, the largest in size.
/** @param {number} landed @param {Term[]} terms */
export function atProduct(landed, terms) {
  return landed < terms.length ? landed - 1 : 0;
}

// What a calculation gives; or what a change put in that place.
/** @param {boolean} whole @param {number} value @param {Digits} digits */
export function writeOutcome(whole, value, digits) {
  return `${whole ? "=" : "≠"} ${writeFixed(value, digits.total)}`;
}

// What a sum comes to, under it.
/** @param {Sketch} sketch @param {Box} box @param {string} words @param {string} note @param {number} opacity */
export function drawOutcome(sketch, { x, y, w, h }, words, note, opacity) {
  const size = measure(words, 17, true, 600) < w ? 17 : 14;
  sketch.text("outcome", x, y + h - 20, words, { size, mono: true, bold: 600, opacity });
  sketch.text("outcome note", x, y + h - 2, fit(note, 13, w), { size: 13, fill: FAINT, opacity });
}

/** @param {number[]} values */
export function runSums(values) {
  let sum = 0;
  return values.map((value) => (sum += value));
}

// Numbers that are added, each from where the one before ended, and the sum that runs along. parts: [{value, wide?}] in
// pixels where one is wider than the others; landed: how many have come.
/**
 * @param {Canvas} canvas
 * @param {Sketch} sketch
 * @param {Box} box
 * @param {{ parts: Part[], landed: number, digits: number, kind: Kind }} given3
 */
export function drawWaterfall(canvas, sketch, box, { parts, landed, digits, kind }) {
  const ends = runSums(parts.map(({ value }) => value));
  const [top, bottom] = [box.y + 100, box.y + box.h - 62];
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  const y = (/** @type {number} */ value) => top + ((high - value) / (high - low || 1)) * (bottom - top);
  const wide = Math.min(44, box.w * 0.14);
  const fixed = parts.reduce((all, part) => all + (part.wide ?? 0), 0);
  const pitch = (box.w - 14 - wide - 12 - fixed) / parts.filter((part) => !part.wide).length;
  const starts = [0, ...runSums(parts.map((part) => part.wide ?? pitch))].map((each) => box.x + 14 + each);
  sketch.line("zero", box.x + 14, y(0), box.x + box.w, y(0), { stroke: FAINT, "stroke-opacity": 0.6 });
  sketch.text("zero label", box.x + 9, y(0) + 4, "0", { size: 12, mono: true, at: "end", fill: FAINT });
  ends.forEach((end, i) => {
    const bar = { x: starts[i], w: Math.max(1, starts[i + 1] - starts[i] - 2), start: i ? ends[i - 1] : 0, end };
    const last = i === landed - 1 && landed < parts.length;
    if (i < landed) drawTerm(canvas, sketch, `landing ${i}`, { ...bar, kind, y, last });
    else sketch.box(`landing ${i}`, { x: bar.x, y: bottom + 10, w: bar.w, h: 3 }, { fill: "var(--bvc-line)" });
  });
  const run = landed ? ends[landed - 1] : 0;
  drawRunning(sketch, { x: box.x + box.w - wide, wide, y, run, digits, kind, from: starts[landed] });
  return { starts, ends, bottom, y };
}

/**
 * @param {Canvas} canvas
 * @param {Sketch} sketch
 * @param {string} key
 * @param {{ start: number, end: number, last: boolean, x: number, w: number, y: Scale, kind: Kind }} given3
 */
function drawTerm({ colors }, sketch, key, { start, end, last, x, w, y, kind }) {
  const below = end < start;
  const bar = { x, w, y: Math.min(y(start), y(end)), h: Math.max(1.5, Math.abs(y(start) - y(end))) };
  sketch.box(key, bar, {
    rx: 1.5, fill: below ? colors.negative : `var(--bvc-${kind})`, "fill-opacity": below ? 0.8 : 0.9,
    stroke: last ? "var(--bvc-text)" : undefined, "stroke-width": 1.5,
  });
}

/**
 * @param {Sketch} sketch
 * @param {{ x: number, wide: number, y: Scale, run: number, digits: number, kind: Kind, from: number }} given1
 */
function drawRunning(sketch, { x, wide, y, run, digits, kind, from }) {
  const color = `var(--bvc-${kind})`;
  sketch.line("running", from, y(run), x, y(run), { stroke: color, "stroke-dasharray": "2 3" });
  sketch.box("sum", { x, y: Math.min(y(0), y(run)), w: wide, h: Math.max(2, Math.abs(y(0) - y(run))) },
    { rx: 3, fill: color, "fill-opacity": 0.3, stroke: color, "stroke-width": 1.5 });
  sketch.text("sum number", x + wide, run >= 0 ? y(run) - 7 : y(run) + 17, writeFixed(run, digits), {
    size: 15, mono: true, at: "end", bold: 600, halo: true,
  });
}

// One product in figures, its factors with as many decimals as make it right.
/**
 * @param {Sketch} sketch
 * @param {Box} box
 * @param {Term[]} terms
 * @param {number} landed
 * @param {{ digits: number, kinds: Kind[] }} given4
 */
export function drawProduct(sketch, { x, y, w }, terms, landed, { digits, kinds }) {
  if (!landed) return;
  const term = terms[atProduct(landed, terms)];
  const at = writeProduct(sketch, x, y + 70, term, { digits, kinds });
  const count = landed < terms.length ? `${landed} of ${terms.length}` : "the largest in size";
  const words = [`component ${term[0]} · ${count}`, count].find((text) => measure(text, 13) < x + w - at - 8);
  if (words) sketch.text("landed", x + w, y + 70, words, { size: 13, at: "end", fill: FAINT });
}

// Factor · factor = product; gives where that ends.
/**
 * @param {Sketch} sketch
 * @param {number} x
 * @param {number} y
 * @param {Term} term
 * @param {{ digits: number, kinds: (Kind | null)[] }} given4
 */
export function writeProduct(sketch, x, y, [, one, other, product, finer], { digits, kinds }) {
  const decimals = finer ?? digits;
  /** @type {[text: string, kind: Kind | null][]} */
  const parts = [
    [writeFixed(one, decimals), kinds[0]], ["·", null], [writeFixed(other, decimals), kinds[1]], ["=", null],
    [writeFixed(product, digits), kinds[2]],
  ];
  let at = x;
  parts.forEach(([text, kind], i) => {
    sketch.text(`product ${i}`, at, y, text, {
      size: 15, mono: true, fill: kind ? `var(--bvc-${kind})` : undefined, bold: i === 4 ? 650 : 400,
    });
    at += measure(text, 15, true, i === 4 ? 650 : 400) + 9;
  });
  return at;
}
