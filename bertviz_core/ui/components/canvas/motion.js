// Between two frames.

/** @import { Frame } from "./types.js" */

import { clamp } from "../shared/clamp.js";

/** @param {number} part */
export function ease(part) {
  return part < 0.5 ? 4 * part ** 3 : 1 - (2 - 2 * part) ** 3 / 2;
}

// How far a motion has come that goes from `start` to `end` of the time, 0 to 1.
/** @param {number} time @param {number} start @param {number} end */
export function within(time, start, end) {
  return ease(clamp((time - start) / (end - start), 0, 1));
}

/** @param {number} from @param {number} to @param {number} part */
export function mix(from, to, part) {
  return from + (to - from) * part;
}

/** @param {Frame} from @param {Frame} to @param {number} part @returns {Frame} */
export function mixFrames(from, to, part) {
  /** @type {Frame["parts"]} */
  const parts = {};
  for (const [id, box] of Object.entries(to.parts)) parts[id] = mixNumbers(from.parts[id] ?? box, box, part);
  return { ...to, ...mixNumbers(pick(from), pick(to), part), parts, heads: undefined };
}

// A frame as wide as its window has become: what moves from there is never cut off.
/** @param {Frame} frame @param {number} part @returns {Frame} */
export function stretchFrame(frame, part) {
  const parts = Object.entries(frame.parts).map(([id, box]) => [id, { ...box, x: box.x * part, w: box.w * part }]);
  return { ...frame, parts: Object.fromEntries(parts), heads: undefined };
}

// What of a frame goes over smoothly beside its parts.
/** @param {Frame} frame */
function pick({ top, row, first, count }) {
  return { top, row, first, count };
}

/** @template {Record<keyof Numbers, number>} Numbers @param {Numbers} from @param {Numbers} to @param {number} part */
function mixNumbers(from, to, part) {
  const mixed = { ...to };
  for (const name in to) Object.assign(mixed, { [name]: mix(from[name], to[name], part) });
  return mixed;
}
