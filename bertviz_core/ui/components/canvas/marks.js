// What is ringed and outlined: the cell that the drawer explains, its operands where they are, what is pointed at.

/** @import { Canvas } from "./canvas.js" */
/** @import { Sketch } from "./sketch.js" */
/** @import { Cursor, Paint, Region, Target, Where } from "./types.js" */

import { isPrediction } from "../shared/addresses.js";
import { writeCellPercent } from "../shared/numbers.js";
import { cellBox, columnBoxes, isSeen, matrixCell, rowBox, rowMiddle, rowTop, seenRows } from "./cells.js";
import { readValue } from "./data.js";
import { measure } from "./letters.js";
import { findComponent, findDrawn, listRegions } from "./lights.js";
import { isOfStream, stageOf } from "./parts.js";
import { STOP } from "./place.js";
import { heading } from "./sizes.js";
import { cut } from "./sketch.js";

/** @param {Canvas} canvas @param {Sketch} sketch */
export function drawMarks(canvas, sketch) {
  const { hover, cursor, explained } = canvas;
  drawChosenRow(canvas, sketch);
  drawComponent(canvas, sketch);
  if (explained.cell) drawExplained(canvas, sketch);
  if (hover) drawPointed(canvas, sketch, "hover", hover);
  if (cursor && canvas.stage.matches(":focus-visible")) drawCursor(canvas, sketch, cursor);
}

// The chosen row of a head's matrix, with its weights printed where there is room.
/** @param {Canvas} canvas @param {Sketch} sketch */
function drawChosenRow(canvas, sketch) {
  const { frame, at, place, colors } = canvas;
  const box = frame.parts.matrix;
  const stage = stageOf(canvas, "matrix");
  if (box.a < 0.5 || box.w < 60 || !isSeen(frame, at)) return;
  sketch.box("chosen row", { x: box.x - 2.5, y: rowTop(frame, at) - 2, w: box.w + 3.5, h: frame.row + 2.5 },
    { rx: 4, fill: "none", stroke: "var(--bvc-attention)", "stroke-width": 1.5, opacity: cut(box.a, 3) });
  if (!stage || place.stop === STOP.compare) return;
  for (const key of seenRows(frame, canvas.data.tokens.length)) {
    const weight = readValue(stage, { row: at, key });
    if (!isSeen(frame, key) || Math.abs(weight) < 0.005) continue;
    const { x, w } = matrixCell(frame, box, { row: at, key });
    const words = writeCellPercent(weight);
    if (measure(words, 12, true, 600) > w) continue;
    const fill = colors.readable("attention", Math.abs(weight), "zero");
    const style = { size: 12, mono: true, bold: 600, at: "middle", fill, opacity: box.a };
    sketch.text(`weight ${key}`, x + w / 2, rowMiddle(frame, at) + 4.5, words, style);
  }
}

/** @param {Canvas} canvas @param {Sketch} sketch */
function drawExplained(canvas, sketch) {
  const { cell, operands } = canvas.explained;
  listRegions(canvas, cell, operands).forEach((region, i) => drawRegion(canvas, sketch, `operand ${i}`, region));
  for (const { part, where } of findDrawn(canvas, cell)) {
    ring(canvas, sketch, `cell ${part}`, part, where, {
      stroke: "var(--bvc-text)", "stroke-width": 2.5, "data-ring": cell,
    });
    if (part === "matrix") drawWire(canvas, sketch, where);
  }
  if (isPrediction(cell)) {
    drawRegion(canvas, sketch, "operand row", {
      part: `output.${canvas.data.size.layers - 1}`, row: canvas.at,
    });
  }
}

/** @param {Canvas} canvas @param {Sketch} sketch @param {string} key @param {Region} region */
function drawRegion(canvas, sketch, key, region) {
  const { frame } = canvas;
  const box = frame.parts[region.part];
  const stage = stageOf(canvas, region.part);
  if (!stage || !box || box.a < 0.5 || box.w < 2) return;
  const paint = { fill: "none", stroke: `var(--bvc-${stage.kind})`, "stroke-width": 2, rx: 4 };
  if (region.part === "weights") return;
  if (region.row !== undefined && region.column === undefined && region.key === undefined) {
    if (region.part === "matrix" || !isSeen(frame, region.row)) return;
    const row = rowBox(frame, region.part, region.row);
    return void sketch.box(key, { x: row.x - 2.5, y: row.y + 0.5, w: row.w + 5, h: row.h - 1 }, paint);
  }
  if (region.column !== undefined && region.row === undefined) {
    return columnBoxes(canvas, region.part, region.column).forEach(({ x, y, w, h }, i) => {
      sketch.box(`${key} ${i}`, { x: x - 2, y, w: w + 4, h }, paint);
    });
  }
  if (region.row !== undefined) ring(canvas, sketch, key, region.part, { ...region, row: region.row }, paint);
}

/**
 * @param {Canvas} canvas
 * @param {Sketch} sketch
 * @param {string} key
 * @param {string} part
 * @param {Where} where
 * @param {Paint} paint
 */
export function ring(canvas, sketch, key, part, where, paint) {
  const box = cellBox(canvas, part, where);
  if (!box) return null;
  sketch.box(key, { x: box.x - 1.5, y: box.y - 1.5, w: box.w + 3, h: box.h + 3 }, { rx: 3, fill: "none", ...paint });
  return box;
}

// From the key's row, where the operand is, to its column.
/** @param {Canvas} canvas @param {Sketch} sketch @param {Where} where */
function drawWire({ frame }, sketch, { row, key }) {
  const { key: from, matrix } = frame.parts;
  if (key === undefined || from.a < 0.5 || from.w < 8 || key === row || !isSeen(frame, key)) return;
  const cell = matrixCell(frame, matrix, { row, key });
  const [y, x] = [rowMiddle(frame, key), cell.x + cell.w / 2];
  const end = key < row ? cell.y - 2 : cell.y + cell.h + 2;
  sketch.path("wire", `M${cut(from.x + from.w + 3)} ${cut(y)}H${cut(x)}V${cut(end)}`, {
    stroke: "var(--bvc-key)", "stroke-width": 1.5, opacity: 0.75,
  });
}

// A cell that is pointed at; a component of the residual stream also in every other stage of that width.
/** @param {Canvas} canvas @param {Sketch} sketch @param {string} name @param {Target} target */
function drawPointed(canvas, sketch, name, { part, stage, where }) {
  if (!stage || !where) return;
  ring(canvas, sketch, name, part, where, { stroke: "var(--bvc-text)", "stroke-width": 1.5 });
  if (where.column === undefined || !isOfStream(canvas, stage)) return;
  for (const twin of findComponent(canvas, stage.columns[where.column])) {
    if (twin.part !== part) {
      ring(canvas, sketch, `${name} ${twin.part}`, twin.part, { row: where.row, column: twin.column }, {
        stroke: "var(--bvc-text)", "stroke-width": 1,
      });
    }
  }
}

// The chosen component, in all rows of every stage that has it.
/** @param {Canvas} canvas @param {Sketch} sketch */
function drawComponent(canvas, sketch) {
  const { frame, place: { component } } = canvas;
  for (const { part, column } of findComponent(canvas, component)) {
    columnBoxes(canvas, part, column).forEach(({ x, y, w, h }, i) => {
      sketch.box(`component ${part} ${i}`, { x: x - 1, y, w: w + 2, h }, {
        rx: 2, fill: "none", stroke: "var(--bvc-text)", "stroke-width": 1.25, opacity: cut(frame.parts[part].a, 3),
        "data-component": component,
      });
    });
  }
}

/** @param {Canvas} canvas @param {Sketch} sketch @param {Cursor} cursor */
function drawCursor(canvas, sketch, { part, where, strip, stage }) {
  const paint = { stroke: "var(--bvc-accent)", "stroke-width": 2.5, "stroke-dasharray": "4 2" };
  const { x, w } = canvas.frame.parts[part];
  const box = strip ? { x, w, y: 4, h: heading(canvas).under } : stage ? cellBox(canvas, part, where) : null;
  const round = box ?? rowBox(canvas.frame, part, where.row);
  sketch.box("cursor", { x: round.x - 2, y: round.y - 2, w: round.w + 4, h: round.h + 4 }, {
    rx: 4, fill: "none", ...paint,
  });
}
