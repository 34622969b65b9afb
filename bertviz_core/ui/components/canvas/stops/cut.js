// The picture of the first stop: the text, cut into pieces.

/** @import { Canvas } from "../canvas.js" */
/** @import { Sketch } from "../sketch.js" */
/** @import { Cut } from "./types.js" */
/** @import { Box } from "../types.js" */

import { writeCount } from "../../shared/numbers.js";
import { isSeen, rowMiddle } from "../cells.js";
import { fit, measure } from "../letters.js";
import { mix, within } from "../motion.js";
import { cut } from "../sketch.js";
import { drawCaption, FAINT } from "./caption.js";

// The text, cut; and each piece as an entry of the vocabulary, at its place among all entries.
/** @param {Canvas} canvas @param {Sketch} sketch @param {Box} box @param {Cut} worked @param {number} time */
export function drawCut(canvas, sketch, box, worked, time) {
  const narrow = box.w < 420;
  const { pieces, total, padding, vocabulary } = worked;
  const entry = narrow ? "" : `each an entry of the vocabulary of ${writeCount(vocabulary)}`;
  drawCaption(sketch, box, [[`${total + padding} tokens${narrow ? "" : ","}`, "prediction"], [entry]], "");
  const [left, right] = [box.x + 74, box.x + box.w - 70];
  const start = measureCut(worked, box);
  pieces.forEach(([index, text, id], i) => {
    const row = index - canvas.data.window.start;
    if (!isSeen(canvas.frame, row)) return;
    const fall = within(time, 0.1 + (0.6 * i) / pieces.length, 0.4 + (0.6 * i) / pieces.length);
    const bold = row === canvas.at;
    if (!narrow) drawPiece(sketch, i, { x: start(i), end: start(i + 1), text, bold, shown: within(time, 0, 0.15) });
    const tick = left + ((right - left) * id) / vocabulary;
    const from = narrow ? null : { x: start(i), y: 40 };
    drawEntry(canvas, sketch, i, { text, id, row, bold, fall, left, right, tick, from });
  });
  const style = { size: 12, fill: FAINT, opacity: time };
  sketch.text("axis start", left, canvas.frame.top - 4, "entry 0", style);
  if (narrow) return;
  sketch.text("axis end", right, canvas.frame.top - 4, writeCount(vocabulary - 1), { ...style, at: "end" });
}

// A piece falls to its place among the entries of the vocabulary.
/**
 * @param {Canvas} canvas
 * @param {Sketch} sketch
 * @param {number} i
 * @param {{ text: string, id: number, row: number, bold: boolean, fall: number, left: number, right: number, tick: number, from: { x: number, y: number } | null }} given3
 */
function drawEntry({ frame }, sketch, i, { text, id, row, bold, fall, left, right, tick, from }) {
  const y = rowMiddle(frame, row);
  const end = { x: Math.min(tick + 9, right + 6), y };
  const { x, y: top } = from ?? end;
  sketch.line(`axis ${i}`, left, y, right, y, { stroke: "var(--bvc-line)", opacity: cut(fall) });
  sketch.text(`id ${i}`, left - 22, y + 4.5, id, { size: 13, mono: true, at: "end", bold, opacity: fall });
  const fill = bold ? "var(--bvc-text)" : FAINT;
  sketch.box(`tick ${i}`, { x: tick - 1.5, y: y - 8, w: 3, h: 16 }, { rx: 1, fill, opacity: cut(fall) });
  const words = from ? text : fit(text, 14, 60);
  const style = { size: 14.5, bold, opacity: fall };
  sketch.text(`piece ${i}`, mix(x, end.x, fall), mix(top, end.y, fall) + 5 * fall, words, style);
}

// A piece in the line of the text, and the cut behind it.
/**
 * @param {Sketch} sketch
 * @param {number} i
 * @param {{ x: number, end: number, text: string, bold: boolean, shown: number }} given2
 */
function drawPiece(sketch, i, { x, end, text, bold, shown }) {
  sketch.text(`word ${i}`, x + 3, 40, fit(text, 14.5, end - x), { size: 14.5, bold });
  sketch.line(`cut ${i}`, end - 2, 26, end - 2, 26 + 20 * shown, { stroke: FAINT, "stroke-dasharray": "3 2" });
}

// Where each piece stands while the text is still one line.
/** @param {Cut} worked @param {Box} box */
function measureCut({ pieces }, { x, w }) {
  /** @type {number[]} */
  const ends = [];
  let at = 0;
  for (const [, text] of pieces) ends.push((at += measure(text, 14.5) + 10));
  const scale = Math.min(1, w / at);
  return (/** @type {number} */ i) => x + (i ? ends[i - 1] : 0) * scale;
}
