// The tokens at the left.

/** @import { Canvas } from "./canvas.js" */
/** @import { Sketch } from "./sketch.js" */
/** @import { Token } from "./types.js" */

import { clamp } from "../shared/clamp.js";
import { isSeen, rowMiddle, rowTop, seenRows } from "./cells.js";
import { fit, measure } from "./letters.js";
import { spokenKey } from "./parts.js";

/** @param {Canvas} canvas @param {Sketch} sketch */
export function drawTokens(canvas, sketch) {
  const { frame, data } = canvas;
  const box = frame.parts.tokens;
  if (box.w < 20) return;
  const size = clamp(frame.row * 0.62, 12, 15);
  for (const row of seenRows(frame, data.tokens.length)) {
    const token = data.tokens[row];
    if (rowTop(frame, row) < canvas.frame.ceiling - frame.row || !isSeen(frame, row)) continue;
    const chosen = token.index === canvas.place.token;
    const spoken = chosen || spokenKey(canvas) === row;
    const faint = token.pad ? 0.55 : canvas.lights && !spoken && !canvas.explained.cell ? 0.8 : 1;
    drawChip(canvas, sketch, row, {
      token, chosen, lit: canvas.isLit(row) || spokenKey(canvas) === row,
      high: Math.min(30, frame.row - (frame.row > 24 ? 6 : 2)),
    });
    const fill = chosen ? "var(--bvc-surface)" : token.special ? "var(--bvc-faint)" : undefined;
    const number = box.w > 100 ? measure(token.index, 12, true) + 16 : 8;
    const text = fit(token.text, size, box.w - 16 - number, chosen ? 650 : 400);
    const y = rowMiddle(frame, row) + size / 3;
    sketch.text(`token ${row}`, box.x + 10, y, text, { size, bold: chosen, fill, opacity: faint });
    if (box.w > 100) {
      sketch.text(`index ${row}`, box.x + box.w - 12, y, token.index, {
        size: 12, at: "end", mono: true, fill: chosen ? fill : "var(--bvc-faint)", opacity: faint,
      });
    }
  }
}

/**
 * @param {Canvas} canvas
 * @param {Sketch} sketch
 * @param {number} row
 * @param {{ token: Token, chosen: boolean, lit: boolean, high: number }} given3
 */
function drawChip({ frame }, sketch, row, { token, chosen, lit, high }) {
  const { x, w } = frame.parts.tokens;
  const plain = token.second ? "var(--bvc-second)" : "var(--bvc-surface)";
  sketch.box(`chip ${row}`, { x: x + 0.5, y: rowMiddle(frame, row) - high / 2, w: w - 5, h: high }, {
    rx: token.piece ? 3 : Math.min(7, high / 3), fill: chosen ? "var(--bvc-text)" : lit ? "var(--bvc-first)" : plain,
    stroke: chosen ? "none" : lit ? "var(--bvc-faint)" : "var(--bvc-line)",
    "stroke-dasharray": token.special && !chosen ? "3 3" : undefined,
  });
}
