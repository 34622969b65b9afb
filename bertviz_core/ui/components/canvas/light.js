// A row that is pointed at is lit here and on the whole page.

/** @import { Canvas } from "./canvas.js" */

// A row of the picture lights its token on the whole page, and the other way round; a weight also its key's.
/** @param {Canvas} canvas @param {number | null} row @param {number} [key] */
export function lightRow(canvas, row, key) {
  canvas.pointed = row;
  const { start } = canvas.data.window;
  const detail = row === null ? null : { row: row + start, key: (key ?? row) + start };
  canvas.root.dispatchEvent(new CustomEvent("bv-pointed", { bubbles: true, detail }));
}

/** @param {Canvas} canvas @param {number | null} row */
export function pointAtRow(canvas, row) {
  const inside = row !== null && row >= 0 && row < canvas.data.tokens.length ? row : null;
  if (inside === canvas.pointed) return;
  canvas.pointed = inside;
  canvas.draw();
}
