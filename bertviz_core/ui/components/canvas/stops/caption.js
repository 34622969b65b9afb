// What the pictures of the stops have in common: the lines over them, and how they point at cells.

/** @import { Canvas } from "../canvas.js" */
/** @import { Sketch } from "../sketch.js" */
/** @import { Box } from "../types.js" */

import { fit, measure } from "../letters.js";
import { ring } from "../marks.js";
import { spokenComponent, stageOf } from "../parts.js";
import { cut } from "../sketch.js";

export const FAINT = "var(--bvc-faint)";

// Two lines over a picture: what it shows, in the colours of what is spoken of, and how it is read.
/** @param {Sketch} sketch @param {Box} box @param {string[][]} words @param {string} under */
export function drawCaption(sketch, { x, y, w }, words, under) {
  let at = x;
  words.forEach(([text, kind], i) => {
    const shown = fit(text, 17, x + w - at, 650);
    sketch.text(`caption ${i}`, at, y + 17, shown, {
      size: 17, bold: true, fill: kind ? `var(--bvc-${kind})` : undefined,
    });
    at += measure(shown, 17, false, 650) + 5;
  });
  sketch.text("under", x, y + 37, fit(under, 13.5, w), { size: 13.5, fill: FAINT });
}

/** @param {Canvas} canvas @param {number} index */
export function quote(canvas, index) {
  const token = canvas.data.tokens[index - canvas.data.window.start];
  return token ? `“${token.text}”` : `token ${index}`;
}

// The cell of the component that is spoken of, boxed at the chosen row of a strip.
/** @param {Canvas} canvas @param {Sketch} sketch @param {string} part */
export function ringSpoken(canvas, sketch, part) {
  const column = stageOf(canvas, part)?.columns.indexOf(spokenComponent(canvas)) ?? -1;
  if (column < 0) return null;
  const paint = { stroke: "var(--bvc-text)", "stroke-width": 2, "data-spoken": part };
  return ring(canvas, sketch, `spoken ${part}`, part, { row: canvas.at, column }, paint);
}

// From a cell of the strip beside a picture to the line that says which component is enlarged.
/** @param {Sketch} sketch @param {Box | null} cell @param {Box} box */
export function leadToCaption(sketch, cell, { x, y }) {
  if (cell) drawLeader(sketch, x - 20, overCell(cell), { x: x - 5, y: y + 33 });
}

// Where a line reaches a cell: between its row and the one before, so that it crosses no other cell.
/** @param {Box} box */
export function overCell({ x, y, w }) {
  return { x: x + w / 2, y: y - 3 };
}

// A line with a dot at its end: sideways to `bend`, up or down, and on.
/**
 * @param {Sketch} sketch
 * @param {number} bend
 * @param {{ x: number, y: number }} from
 * @param {{ x: number, y: number }} to
 */
export function drawLeader(sketch, bend, from, to) {
  const way = `M${cut(from.x)} ${cut(from.y)}H${cut(bend)}V${cut(to.y)}H${cut(to.x)}`;
  sketch.path("leader", way, { stroke: "var(--bvc-text)", "stroke-width": 1.25, "stroke-linejoin": "round" });
  sketch.put("leader end", "circle", { cx: cut(to.x), cy: cut(to.y), r: 2.5, fill: "var(--bvc-text)" });
}
