// The parts of the picture in the order of the pass: what each list of columns is made of.

/** @import { Column, Place, Scene } from "./types.js" */

import { STOP } from "./place.js";

export const KEY_CELL = 24; // pixels that a cell of a head's matrix has at least
export const INNER = ["query", "key", "weights", "matrix", "value", "collect", "context", "added", "sum", "norm"];

/** @param {...string} ids @returns {Column[]} */
export function hide(...ids) {
  return ids.map((id) => ({ id }));
}

/** @param {number} i */
export function hideBlock(i) {
  return hide(`ribbons.${i}`, `neurons.${i}`);
}

// All parts in the order of the pass; a stop's picture stands behind the stages that it is about.
/** @param {Scene} scene @param {number} stop */
export function listAll({ size, place }, stop) {
  const ids = stop === STOP.lookUp ? ["panel", "embedding"] : ["embedding"];
  for (let i = 0; i < size.layers; i++) {
    const block = [`ribbons.${i}`, `neurons.${i}`, `output.${i}`];
    ids.push(...(i === place.layer ? [block[0], ...INNER, block[1], "sum2", block[2]] : block));
  }
  return stop === STOP.lookUp ? [...ids, "words"] : [...ids, "panel", "words"];
}

// Whether a matrix with a column for each key is drawn.
/** @param {Place} given */
export function hasKeys({ level, stop }) {
  return level === "head" && (!stop || [STOP.compare, STOP.divide, STOP.collect].includes(stop));
}
