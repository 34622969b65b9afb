// Between two frames.

import { clamp } from "../shared/clamp.js";

export function ease(part) {
  return part < 0.5 ? 4 * part ** 3 : 1 - (2 - 2 * part) ** 3 / 2;
}

// How far a motion has come that goes from `start` to `end` of the time, 0 to 1.
export function within(time, start, end) {
  return ease(clamp((time - start) / (end - start), 0, 1));
}

export function mix(from, to, part) {
  return from + (to - from) * part;
}

export function mixFrames(from, to, part) {
  const parts = {};
  for (const [id, box] of Object.entries(to.parts)) parts[id] = mixNumbers(from.parts[id] ?? box, box, part);
  return { ...to, ...mixNumbers(pick(from), pick(to), part), parts, heads: undefined };
}

// A frame as wide as its window has become: what moves from there is never cut off.
export function stretchFrame(frame, part) {
  const parts = Object.entries(frame.parts).map(([id, box]) => [id, { ...box, x: box.x * part, w: box.w * part }]);
  return { ...frame, parts: Object.fromEntries(parts), heads: undefined };
}

// What of a frame goes over smoothly beside its parts.
function pick({ top, row, first, count }) {
  return { top, row, first, count };
}

function mixNumbers(from, to, part) {
  return Object.fromEntries(Object.entries(to).map(([name, value]) => [name, mix(from[name], value, part)]));
}
