// Cells: each a rectangle whose colour is its number.

/** @import { Canvas } from "./canvas.js" */
/** @import { Colors } from "./colors.js" */
/** @import { Box, PartBox, Region, Stage, Where } from "./types.js" */

import { openPen } from "../shared/element.js";
import { headBoxes, layStrip, matrixCell, rowInset, rowTop, seenRows, smallCell } from "./cells.js";
import { isMarked, readValue } from "./data.js";
import { ONE_HEAD, spokenKey, stageOf } from "./parts.js";
import { STOP } from "./place.js";
import { EDGE } from "./sizes.js";

export const DIM = 0.7; // how much is left of what is not spoken of

export class Painter {
  /** @type {number} */ width;
  /** @type {number} */ height;
  /** @type {number} */ sharp;
  /** @type {string | null} */ color = null;

  /** @param {HTMLCanvasElement} element */
  constructor(element) {
    this.element = element;
    this.pen = openPen(element);
  }

  /** @param {number} width @param {number} height @param {number} scale */
  resize(width, height, scale) {
    const sharp = (window.devicePixelRatio || 1) * scale;
    if (width === this.width && height === this.height && sharp === this.sharp) return;
    Object.assign(this.element, { width: Math.round(width * sharp), height: Math.round(height * sharp) });
    this.pen.setTransform(sharp, 0, 0, sharp, 0, 0);
    Object.assign(this, { width, height, sharp });
  }

  /** @param {Canvas} canvas */
  draw(canvas) {
    const { pen } = this;
    const { frame } = canvas;
    pen.clearRect(0, 0, this.width, this.height);
    pen.save();
    pen.beginPath();
    pen.rect(0, canvas.frame.ceiling, this.width, frame.top + frame.row * frame.count + 2 - canvas.frame.ceiling);
    pen.clip();
    this.drawBands(canvas);
    this.color = null;
    for (const [part, box] of Object.entries(frame.parts)) {
      if (box.a > 0.01 && box.w > 1) this.drawPart(canvas, part, box);
    }
    pen.restore();
  }

  // The chosen row, and the one that is pointed at, from end to end.
  /** @param {Canvas} canvas */
  drawBands(canvas) {
    const { at, pointed, frame, colors, place } = canvas;
    const end = this.findEnd(frame.parts, place.stop);
    const band = (/** @type {number} */ row, /** @type {number} */ depth) => {
      this.pen.globalAlpha = depth;
      this.pen.fillStyle = colors.accent;
      this.pen.beginPath();
      this.pen.roundRect(0, rowTop(frame, row), end, frame.row, 8);
      this.pen.fill();
    };
    if (frame.parts.tokens.w < 20) return;
    if (place.stop !== STOP.cut) band(at, 0.085);
    const key = spokenKey(canvas);
    if (key !== null) band(key, 0.085);
    for (const row of new Set([pointed, canvas.hover?.where?.key ?? null])) {
      if (row !== null && row !== at) band(row, 0.05);
    }
  }

  // A row ends before the picture of a stop.
  /** @param {Record<string, PartBox>} given @param {number} stop */
  findEnd({ matrix, panel }, stop) {
    if ([STOP.compare, STOP.divide].includes(stop) && matrix.w) return matrix.x + matrix.w + EDGE;
    return stop && panel.w ? panel.x - EDGE : this.width;
  }

  /** @param {Canvas} canvas @param {string} part @param {PartBox} box */
  drawPart(canvas, part, box) {
    const stage = part.startsWith("ribbons") ? null : stageOf(canvas, part);
    if (!stage) return this.drawWaiting(canvas, part, box);
    const draw = part === "matrix" ? this.drawMatrix : part === "weights" ? this.drawHeads : this.drawStrip;
    const lit = canvas.lights?.filter((each) => each.part === part) ?? null;
    const whole = !lit?.length || lit.some(
      ({ row, column, key }) => row === undefined && column === undefined && key === undefined
    );
    const fading = canvas.fade(part);
    draw.call(this, canvas, stage, { ...box, part }, box.a * fading * (whole ? 1 : DIM), null);
    if (!whole) for (const only of lit) draw.call(this, canvas, stage, { ...box, part }, box.a * fading, only);
  }

  // Numbers that are on their way: rows without any.
  /** @param {Canvas} canvas @param {string} part @param {PartBox} box */
  drawWaiting({ frame, colors, data }, part, box) {
    if (!ONE_HEAD.includes(part) && !["matrix", "added", "sum", "norm", "sum2"].includes(part)) return;
    const inset = rowInset(frame);
    this.pen.globalAlpha = 0.6 * box.a;
    for (const row of seenRows(frame, data.tokens.length)) {
      this.cell(box.x, rowTop(frame, row) + inset, box.w, frame.row - 2 * inset, `rgb(${colors.rgb.zero.join()})`);
    }
  }

  /**
   * @param {Canvas} canvas
   * @param {Stage} stage
   * @param {PartBox & { part: string }} box
   * @param {number} depth
   * @param {Region | null} only
   */
  drawStrip(canvas, stage, box, depth, only) {
    const { frame, colors, data } = canvas;
    const strip = layStrip(canvas, box.part, stage, box);
    const [gap, between] = [strip.w >= 7 ? 1 : -0.4, frame.lines > 1 ? 1 : 0];
    for (const row of seenRows(frame, data.tokens.length)) {
      if (only?.row !== undefined && only.row !== row) continue;
      this.pen.globalAlpha = depth * (data.tokens[row].pad ? 0.45 : 1);
      strip.columns.forEach((column, i) => {
        if (only?.column !== undefined && only.column !== column) return;
        const where = { row, column };
        const { x, y, w, h } = strip.box(row, i);
        this.cell(x, y, w - gap, h - between, colors.shade(stage.kind, readValue(stage, where), stage.limit));
        if (isMarked(stage, where)) this.mark(colors, x, y + h - between, w - gap);
      });
    }
  }

  /** @param {Canvas} canvas @param {Stage} stage @param {Box} box @param {number} depth @param {Region | null} only */
  drawMatrix(canvas, stage, box, depth, only) {
    const { frame, data } = canvas;
    const rows = seenRows(frame, data.tokens.length);
    for (const row of rows) {
      if (only?.row !== undefined && only.row !== row) continue;
      for (const key of rows) {
        if (only?.key !== undefined && only.key !== key) continue;
        this.pen.globalAlpha = depth * (data.tokens[key].pad || data.tokens[row].pad ? 0.45 : 1);
        const cell = matrixCell(frame, box, { row, key });
        this.number(canvas, stage, { row, key }, cell);
      }
    }
  }

  /** @param {Canvas} canvas @param {Stage} stage @param {Box} _box @param {number} depth @param {Region | null} only */
  drawHeads(canvas, stage, _box, depth, only) {
    const rows = seenRows(canvas.frame, canvas.data.tokens.length);
    this.pen.globalAlpha = depth;
    headBoxes(canvas).forEach(({ size }, head) => {
      if (size < 4 || (only?.head !== undefined && only.head !== head)) return;
      const gap = size / canvas.frame.count > 5 ? 0.75 : 0;
      for (const row of rows) {
        if (only?.row !== undefined && only.row !== row) continue;
        for (const key of rows) {
          const cell = smallCell(canvas, { head, row, key });
          if (cell) this.number(canvas, stage, { head, row, key }, { ...cell, w: cell.w - gap, h: cell.h - gap });
        }
      }
    });
  }

  /** @param {Canvas} canvas @param {Stage} stage @param {Where} where @param {Box} box */
  number({ colors }, stage, where, { x, y, w, h }) {
    this.cell(x, y, w, h, colors.shade(stage.kind, readValue(stage, where), stage.limit));
    if (isMarked(stage, where)) this.mark(colors, x, y + h, w);
  }

  // Naming a colour costs more than filling a cell: it is named where it changes.
  /** @param {number} x @param {number} y @param {number} w @param {number} h @param {string} color */
  cell(x, y, w, h, color) {
    if (color !== this.color) this.pen.fillStyle = this.color = color;
    this.pen.fillRect(x, y, w, h);
  }

  // A cell that a change has moved is underlined.
  /** @param {Colors} colors @param {number} x @param {number} bottom @param {number} w */
  mark(colors, x, bottom, w) {
    const high = w < 7 ? 1 : 2;
    this.cell(x, bottom - high, w, high, colors.text);
  }
}
