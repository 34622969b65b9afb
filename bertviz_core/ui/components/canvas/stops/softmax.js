// Numbers that become shares: powers of e that are stacked.

/** @import { Sketch } from "../sketch.js" */
/** @import { Block, Box, Digits, Item, Others, Power, Softmax, SoftmaxPlace, TextStyle } from "../types.js" */

import { writeFixed, writePercent } from "../../shared/numbers.js";
import { fit, measure } from "../letters.js";
import { mix, within } from "../motion.js";
import { cut } from "../sketch.js";
import { FAINT } from "./caption.js";
import { runSums } from "./products.js";

const LABEL = 15; // pixels from a share's label to the next

// softmax: items from top to bottom, others together as one more block; digits: decimals of terms and their sum;
// decimals: of the scores.
/** @param {Sketch} sketch @param {Box} box @param {Softmax} softmax @param {number} time */
export function drawSoftmax(sketch, box, softmax, time) {
  const { items, others, top, high, row, kind } = softmax;
  const motion = { grow: within(time, 0, 0.3), fly: within(time, 0.35, 0.75), name: within(time, 0.78, 0.95) };
  const place = placeSoftmax(box);
  const most = Math.max(...items.map(({ term }) => term), 1e-9);
  const longest = Math.max(20, place.stack - place.bar - 58) / most;
  titleSoftmax(sketch, box, softmax, place, motion, within(time, 0.55, 0.75));
  /** @type {Block[]} */
  const stack = items.map((item) => ({ name: item.name, share: item.share, item }));
  if (others.share > 0.0005) stack.push({ name: others.name, share: others.share, item: null });
  const ends = runSums(stack.map(({ share }) => share * high));
  stack.forEach(({ item, share }, i) => {
    const tall = share * high;
    const power = {
      stacked: top + ends[i] - tall, tall, place, longest, row, kind, narrow: box.w < 340, decimals: softmax.decimals,
      digits: softmax.digits,
    };
    if (item) drawPower(sketch, i, item, power, motion);
    else drawOthers(sketch, others, power, motion);
  });
  drawShares(sketch, box, softmax, { place, stack, ends, opacity: motion.name });
}

/**
 * @param {Sketch} sketch
 * @param {Box} box
 * @param {Softmax} given2
 * @param {SoftmaxPlace} place
 * @param {{ name: number }} given4
 * @param {number} stacked
 */
function titleSoftmax(sketch, { w }, { titles, denominator, top, kind, digits }, place, { name }, stacked) {
  /** @param {string} key @param {number} x @param {string} text @param {TextStyle} style */
  const head = (key, x, text, style) => sketch.text(key, x, top - 10, text, { size: 13, bold: true, ...style });
  if (w >= 340) head("key", place.score - 60, titles[0], { fill: FAINT, at: "end" });
  if (w >= 340) head("score", place.score, titles[1], { fill: FAINT, at: "end" });
  head("powers", place.bar, w < 480 ? "e^(…−max)" : `e^(${titles[1]} − max)`, { fill: `var(--bvc-${kind})` });
  const total = `Σ ${writeFixed(denominator, digits.total)}`;
  head("total", place.stack + place.wide, total, { opacity: stacked, at: "end" });
  head("share", place.stack + place.wide + 12, "share", { fill: `var(--bvc-${kind})`, opacity: name });
}

// The columns of a softmax, as far as there is room for them.
/** @param {Box} box */
function placeSoftmax({ x, w }) {
  if (w < 340) return { score: x + 34, bar: x + 42, wide: 36, stack: x + w - 104 };
  if (w < 480) return { score: x + 116, bar: x + 126, wide: 42, stack: x + w - 118 };
  return { score: x + 150, bar: x + 168, wide: 56, stack: x + w - 170 };
}

// The largest shares, as many as there is room for, each at its block, or as near as the others let it; by name if all
// names have room.
/**
 * @param {Sketch} sketch
 * @param {Box} box
 * @param {Softmax} given2
 * @param {{ place: SoftmaxPlace, stack: Block[], ends: number[], opacity: number }} given3
 */
function drawShares(sketch, box, { top, high }, { place, stack, ends, opacity }) {
  if (!opacity) return;
  const left = place.stack + place.wide;
  const bySize = stack.map((block, i) => ({ block, i })).filter(({ block }) => block.share >= 0.012).sort(
    (a, b) => b.block.share - a.block.share
  );
  const named = bySize.slice(0, Math.floor(high / LABEL)).sort((a, b) => a.i - b.i).map(
    ({ block, i }) => ({ block, i, middle: top + ends[i] - (block.share * high) / 2 })
  );
  const room = box.x + box.w - left - 14;
  const byName = named.every(({ block }) => !block.item || measure(nameShare(block), 13, false, 650) <= room);
  const heights = spread(named.map(({ middle }) => middle), top + LABEL / 2, top + high - LABEL / 2);
  named.forEach(({ block, i, middle }, place) => {
    const y = heights[place];
    const label = byName && measure(nameShare(block), 13, false, 650) <= room ? nameShare(block) : block.item
      ? writePercent(block.share) : `rest ${writePercent(block.share)}`;
    sketch.path(`to ${i}`, `M${cut(left + 1)} ${cut(middle)}L${cut(left + 10)} ${cut(y)}`, {
      stroke: FAINT, opacity: cut(opacity, 3),
    });
    sketch.text(`share ${i}`, left + 13, y + 4.5, label, { size: 13, bold: block.share > 0.1, opacity });
  });
}

// Heights that are at least a label apart, in the same order, none before `least` or beyond `most`.
/** @param {number[]} heights @param {number} least @param {number} most */
export function spread(heights, least, most) {
  const spaced = [...heights];
  spaced.forEach((y, i) => (spaced[i] = Math.max(y, i ? spaced[i - 1] + LABEL : least)));
  for (let i = spaced.length - 1; i >= 0; i--) {
    spaced[i] = Math.min(spaced[i], i + 1 < spaced.length ? spaced[i + 1] - LABEL : most);
  }
  return spaced;
}

/** @param {Block} given */
function nameShare({ name, share }) {
  return `${name} ${writePercent(share)}`;
}

/**
 * @param {Sketch} sketch
 * @param {number} i
 * @param {Item} item
 * @param {Power} given3
 * @param {{ grow: number; fly: number; name: number }} motion
 */
function drawPower(sketch, i, item, { stacked, tall, place, longest, row, kind, narrow, decimals, digits }, motion) {
  const fill = `var(--bvc-${kind})`;
  const high = Math.min(26, row - 8);
  const wide = Math.max(1, item.term * longest * motion.grow);
  const up = item.y - high / 2;
  nameRow(sketch, i, item, place, narrow);
  sketch.text(`score ${i}`, place.score, item.y + 4.5, writeFixed(item.score, decimals), {
    size: 12.5, mono: true, at: "end",
  });
  sketch.box(`power ${i}`, { x: place.bar, y: up, w: wide, h: high }, { rx: 2, fill, "fill-opacity": 0.16 });
  sketch.box(`flying ${i}`, {
    x: mix(place.bar, place.stack, motion.fly), y: mix(up, stacked, motion.fly),
    w: mix(wide, place.wide, motion.fly), h: mix(high, Math.max(0.8, tall - 1.5), motion.fly),
  }, { rx: 2, fill, "fill-opacity": cut(0.35 + 0.65 * item.share, 3) });
  if (motion.grow > 0.9) nameTerm(sketch, i, place.bar + wide + 7, item, digits);
}

/** @param {Sketch} sketch @param {number} i @param {Item} given2 @param {SoftmaxPlace} place @param {boolean} narrow */
function nameRow(sketch, i, { name, faint, y }, place, narrow) {
  if (narrow) return;
  sketch.text(`name ${i}`, place.score - 60, y + 4.5, fit(name, 14, 86), {
    size: 14, at: "end", fill: faint ? FAINT : undefined,
  });
}

/** @param {Sketch} sketch @param {number | string} i @param {number} x @param {{ y: number, term: number }} given3 @param {Digits} digits */
function nameTerm(sketch, i, x, { y, term }, digits) {
  sketch.text(`term ${i}`, x, y + 4.5, writeFixed(term, digits.terms), { size: 12, mono: true, fill: FAINT });
}

// All that is not listed, as one block of the stack, and in the list where it has a place there.
/** @param {Sketch} sketch @param {Others} given1 @param {Power} given2 @param {{ grow: number, fly: number }} given3 */
function drawOthers(sketch, { name, listed }, { stacked, tall, place, kind, narrow, digits }, { grow, fly }) {
  sketch.box("others", { x: place.stack, y: stacked, w: place.wide, h: Math.max(0.8, tall - 1.5) }, {
    rx: 2, fill: `var(--bvc-${kind})`, "fill-opacity": 0.14, opacity: cut(fly, 3),
  });
  if (!listed || grow < 0.9) return;
  if (!narrow) sketch.text("others name", place.score, listed.y + 4.5, name, { size: 13, at: "end", fill: FAINT });
  nameTerm(sketch, "of others", place.bar + 7, listed, digits);
}
