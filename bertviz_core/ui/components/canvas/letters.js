// How wide texts are, in the fonts of the picture.

import { openPen } from "../shared/element.js";

export const SANS = '"Source Sans", system-ui, sans-serif';
export const MONO = '"Source Code Pro", "Source Code", ui-monospace, Menlo, Consolas, monospace';
const widths = new Map(); // of texts by their font, once the fonts are there
/** @type {CanvasRenderingContext2D | undefined} */
let pen; // that measures; made when it is first needed

/** @param {string | number} text @param {number} size @param {boolean} [mono] @param {number} [weight] */
export function measure(text, size, mono = false, weight = 400) {
  const font = `${weight} ${size}px ${mono ? MONO : SANS}`;
  const known = `${font} ${text}`;
  if (!widths.has(known)) {
    pen ??= openPen(document.createElement("canvas"));
    pen.font = font;
    widths.set(known, pen.measureText(String(text)).width);
  }
  return widths.get(known);
}

export function forgetWidths() {
  widths.clear();
}

// A text as far as there is room for it.
/** @param {string} text @param {number} size @param {number} room @param {number} [weight] */
export function fit(text, size, room, weight = 400) {
  if (measure(text, size, false, weight) <= room) return text;
  let end = text.length;
  while (end > 1 && measure(`${text.slice(0, end)}…`, size, false, weight) > room) end--;
  return `${text.slice(0, end)}…`;
}
