// Where rows and cells stand in the picture.

/** @import { Canvas } from "./canvas.js" */
/** @import { Box, Frame, PartBox, Stage, StripPlace, Where } from "./types.js" */

import { clampIndex } from "../shared/clamp.js";
import { drawnColumns, isWhole, stageOf } from "./parts.js";
import { FOLDED, TITLE } from "./sizes.js";

/** @param {Frame} frame @param {number} i */
export function rowTop({ top, row, first }, i) {
  return top + (i - first) * row;
}

/** @param {Frame} frame @param {number} i */
export function rowMiddle(frame, i) {
  return rowTop(frame, i) + frame.row / 2;
}

// The rows that are seen, with those that are on their way in or out.
/** @param {Frame} frame @param {number} rows */
export function seenRows({ first, count }, rows) {
  const from = Math.max(0, Math.floor(first));
  return Array.from({ length: Math.min(rows, Math.ceil(first + count)) - from }, (_, i) => from + i);
}

/** @param {Frame} frame @param {number} i */
export function isSeen({ first, count }, i) {
  return i >= first - 0.01 && i < first + count - 0.01;
}

// Blank above and below a row's cells.
/** @param {Frame} frame */
export function rowInset({ row }) {
  return row > 30 ? 3 : row > 20 ? 2 : 1;
}

// The small matrices of a layer's heads: [{x, y, size}], as large as there is room for.
/** @param {Canvas} canvas */
export function headBoxes({ frame, data }) {
  return (frame.heads ??= packHeads(frame.parts.weights, data.size.heads));
}

/** @param {PartBox} weights @param {number} heads */
function packHeads(weights, heads) {
  let best = { side: 0, across: 1, down: heads };
  for (let across = 1; across <= heads; across++) {
    const down = Math.ceil(heads / across);
    const side = Math.min((weights.w - 12 * (across - 1)) / across, weights.h / down - TITLE);
    if (side > best.side) best = { side, across, down };
  }
  const { side, across, down } = best;
  if (side < 1) return Array(heads).fill({ x: weights.x, y: weights.y, size: 0 });
  const step = Math.min((weights.w + 12) / across, side + 40);
  return Array.from({ length: heads }, (_, i) => ({
    x: weights.x + (i % across) * step, y: weights.y + TITLE + Math.floor(i / across) * (weights.h / down), size: side,
  }));
}

// How the cells of a strip stand. columns: the places of its columns; box(row, i): of the i-th of them in a row;
// find(row, x, y): the place of the column that is drawn at a point, undefined for none.
/** @param {Canvas} canvas @param {string} part @param {Stage} stage @param {Box} box @returns {StripPlace} */
export function layStrip(canvas, part, stage, box) {
  const { frame } = canvas;
  const columns = drawnColumns(canvas, stage, box.w);
  const whole = isWhole(canvas, part);
  const [lines, numbers] = whole ? [frame.lines, stage.total] : [1, columns.length];
  const across = Math.ceil(numbers / lines);
  const inset = whole ? FOLDED.blank / 2 : rowInset(frame);
  const [w, h] = [box.w / across, (frame.row - 2 * inset) / lines];
  const top = (/** @type {number} */ row) => rowTop(frame, row) + inset;
  return {
    columns, w, h,
    box: (row, i) => {
      const n = whole ? stage.columns[columns[i]] : i;
      return { x: box.x + (n % across) * w, y: top(row) + Math.floor(n / across) * h, w, h };
    },
    find: (row, x, y) => {
      const [right, down] = [(x - box.x) / w, (y - top(row)) / h].map(Math.floor);
      const n = clampIndex(down, lines) * across + clampIndex(right, across);
      return whole ? columns.find((column) => stage.columns[column] === n) : columns[n];
    },
  };
}

// The box of one cell, null where it is not drawn.
/** @param {Canvas} canvas @param {string} part @param {Where} where @returns {Box | null} */
export function cellBox(canvas, part, where) {
  const { frame } = canvas;
  const box = frame.parts[part];
  const stage = stageOf(canvas, part);
  if (!box || !stage || box.a < 0.4 || !isSeen(frame, where.row)) return null;
  if (part === "weights") return smallCell(canvas, where);
  const { row, column, key } = where;
  if (part === "matrix") return key !== undefined && isSeen(frame, key) ? matrixCell(frame, box, { row, key }) : null;
  const strip = layStrip(canvas, part, stage, box);
  const place = column === undefined ? -1 : strip.columns.indexOf(column);
  return place < 0 ? null : strip.box(row, place);
}

/** @param {Frame} frame @param {Box} box @param {{ row: number, key: number }} where */
export function matrixCell(frame, box, { row, key }) {
  const w = box.w / frame.count;
  return { x: box.x + (key - frame.first) * w, y: rowTop(frame, row), w: w - 1.5, h: frame.row - 1.5 };
}

/** @param {Canvas} canvas @param {Where} where @returns {Box | null} */
export function smallCell(canvas, { head, row, key }) {
  if (head === undefined || key === undefined || !isSeen(canvas.frame, key)) return null;
  const { first, count } = canvas.frame;
  const { x, y, size } = headBoxes(canvas)[head];
  const side = size / count;
  return { x: x + (key - first) * side, y: y + (row - first) * side, w: side, h: side };
}

// A whole row of a part.
/** @param {Frame} frame @param {string} part @param {number} i */
export function rowBox(frame, part, i) {
  const { x, w } = frame.parts[part];
  return { x, w, y: rowTop(frame, i), h: frame.row };
}

// A column of a strip: one box over all rows, or one in each row of a strip that is seen whole.
/** @param {Canvas} canvas @param {string} part @param {number} column @returns {Box[]} */
export function columnBoxes(canvas, part, column) {
  const { frame, data } = canvas;
  const cells = seenRows(frame, data.tokens.length).flatMap((row) => {
    const cell = cellBox(canvas, part, { row, column });
    return cell ? [cell] : [];
  });
  if (isWhole(canvas, part)) return cells;
  return cells.slice(0, 1).map((cell) => ({ ...cell, y: frame.parts[part].y, h: frame.parts[part].h }));
}
