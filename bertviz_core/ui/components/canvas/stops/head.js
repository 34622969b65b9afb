// The pictures of two stops inside of one head: ask and offer, and compare.

/** @import { Canvas } from "../canvas.js" */
/** @import { Sketch } from "../sketch.js" */
/** @import { Compared, Offered } from "./types.js" */
/** @import { Box, Stage } from "../types.js" */

import { writeFixed, writeShort } from "../../shared/numbers.js";
import { readValue } from "../data.js";
import { ring } from "../marks.js";
import { within } from "../motion.js";
import { namePart, stageOf } from "../parts.js";
import { drawCaption, quote, ringSpoken } from "./caption.js";
import { atProduct, drawOutcome, drawProduct, drawWaterfall, LANDING, writeOutcome } from "./products.js";

// The chosen token's query, and the key and value of the token that it is compared with, number for number.
/** @param {Canvas} canvas @param {Sketch} sketch @param {Box} box @param {Offered} worked @param {number} time */
export function drawOffer(canvas, sketch, box, worked, time) {
  const { at, data } = canvas;
  const key = worked.of;
  const other = key - data.window.start;
  drawCaption(
    sketch, box, [["Ask,", "query"], ["offer,", "key"], ["hand over", "value"]],
    "one vector each, number for number, and how long it is"
  );
  /** @type {[part: "query" | "key" | "value", row: number, title: string][]} */
  const rows = [
    ["query", at, `${quote(canvas, canvas.place.token)} asks`], ["key", other, `${quote(canvas, key)} offers`],
    ["value", other, `${quote(canvas, key)} hands over`],
  ];
  ringSpoken(canvas, sketch, namePart(canvas, "input").part);
  const high = (box.h - 70) / 3;
  rows.forEach(([part, row, title], i) => {
    const stage = stageOf(canvas, part);
    const top = box.y + 66 + i * high;
    const shown = within(time, i * 0.25, 0.5 + i * 0.25);
    sketch.text(`title ${part}`, box.x, top + 14, title, {
      size: 14, bold: true, fill: `var(--bvc-${part})`, opacity: shown,
    });
    sketch.text(`length ${part}`, box.x + box.w, top + 14, `length ${writeShort(worked[part])}`, {
      size: 13, mono: true, at: "end", opacity: shown,
    });
    if (stage && data.tokens[row]) {
      drawVector(
        canvas, sketch, part, { x: box.x, y: top + 22, w: box.w, h: high - 34 }, stage, row, shown
      );
    }
  });
}

// A row of a stage as bars up and down from zero.
/**
 * @param {Canvas} canvas
 * @param {Sketch} sketch
 * @param {string} name
 * @param {Box} box
 * @param {Stage} stage
 * @param {number} row
 * @param {number} shown
 */
function drawVector({ colors }, sketch, name, { x, y, w, h }, stage, row, shown) {
  const width = w / stage.columns.length;
  const values = stage.columns.map((_, column) => readValue(stage, { row, column }));
  const most = Math.max(...values.map(Math.abs), 1e-9);
  const zero = y + h / 2;
  sketch.line(`zero ${name}`, x, zero, x + w, zero, { stroke: "var(--bvc-line)" });
  values.forEach((value, i) => {
    const high = (Math.abs(value) / most) * (h / 2) * shown;
    const bar = { x: x + i * width, y: value < 0 ? zero : zero - high, w: Math.max(0.5, width - 1.5) };
    sketch.box(`${name} ${i}`, { ...bar, h: Math.max(0.5, high) }, {
      rx: 1, fill: value < 0 ? colors.negative : colors.cell(stage.kind), "fill-opacity": value < 0 ? 0.8 : 1,
    });
  });
}

// The products of a query and a key land, the largest in size first, and the sum runs along.
/** @param {Canvas} canvas @param {Sketch} sketch @param {Box} box @param {Compared} worked @param {number} time */
export function drawCompare(canvas, sketch, box, worked, time) {
  const { terms, key, digits, sum, scale, score, adds_up: whole } = worked;
  const asking = [[`${quote(canvas, canvas.place.token)} asks,`, "query"], [`${quote(canvas, key)} offers`, "key"]];
  drawCaption(sketch, box, asking, `${terms.length} products, largest in size first; the sum runs along`);
  const landed = Math.min(terms.length, Math.round(time * LANDING * terms.length));
  const parts = terms.map(([, , , product]) => ({ value: product }));
  drawWaterfall(canvas, sketch, box, { parts, landed, digits: digits.terms, kind: "attention" });
  drawProduct(sketch, box, terms, landed, { digits: digits.terms, kinds: ["query", "key", "attention"] });
  const words = `${writeFixed(sum, digits.terms)} / √${Math.round(scale ** 2)} ${writeOutcome(whole, score, digits)}`;
  drawOutcome(
    sketch, box, words, "the attention score; the next stop makes shares of the scores", within(time, 0.9, 1)
  );
  if (landed) markOperands(canvas, sketch, key - canvas.data.window.start, terms[atProduct(landed, terms)][0]);
}

// Both factors of the product are ringed where they stand.
/** @param {Canvas} canvas @param {Sketch} sketch @param {number} other @param {number} component */
function markOperands(canvas, sketch, other, component) {
  const paint = { stroke: "var(--bvc-text)", "stroke-width": 2 };
  ring(canvas, sketch, "score", "matrix", { row: canvas.at, key: other }, paint);
  /** @type {[part: string, row: number][]} */
  const factors = [["query", canvas.at], ["key", other]];
  for (const [part, row] of factors) {
    const column = stageOf(canvas, part)?.columns.indexOf(component) ?? -1;
    if (column >= 0) ring(canvas, sketch, `factor ${part}`, part, { row, column }, paint);
  }
}
