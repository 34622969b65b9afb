// The answer: the likeliest word of each row, and beside them those of the chosen one, as bars.

/** @import { Canvas } from "./canvas.js" */
/** @import { Sketch } from "./sketch.js" */
/** @import { Box, FirstWord, Frame, Where, Word } from "./types.js" */

import { clamp } from "../shared/clamp.js";
import { writeCount, writePercent } from "../shared/numbers.js";
import { isSeen, rowMiddle, seenRows } from "./cells.js";
import { fit, measure } from "./letters.js";
import { heading, NUMBERED, WORD_LINE, WORD_LINE_LOW } from "./sizes.js";
import { cut } from "./sketch.js";

const INSET = 10; // pixels left of a word, in the card as above and below it
const HALF = 9; // pixels from a word's middle to its edge
const FEW = 3; // words of the card where rows are low

/** @param {Canvas} canvas @param {Sketch} sketch */
export function drawWords(canvas, sketch) {
  const { data, frame } = canvas;
  const box = frame.parts.words;
  if (!data.words || box.a < 0.05 || box.w < 60) return;
  const { y, third } = heading(canvas);
  sketch.text("words", box.x, y, "Words", { size: 13.5, bold: true, opacity: box.a });
  sketch.line("words rule", box.x, y + 11, box.x + box.w, y + 11, {
    stroke: "var(--bvc-line)", opacity: cut(box.a, 3),
  });
  const card = cardBox(canvas);
  const sub = listTitles(data.words.tied, canvas.token).find((text) => measure(text, 12) < box.w);
  sketch.text("words sub", box.x, third - 2, sub ?? "", { size: 12, fill: "var(--bvc-faint)", opacity: box.a });
  for (const row of seenRows(frame, data.tokens.length)) {
    if (!liesUnder(frame, row, card)) drawWord(canvas, sketch, row, data.words.top[row], box);
  }
  drawCard(canvas, sketch, card, listBest(canvas), box.a);
}

// What stands over the words, the longest first.
/** @param {number} tied @param {string} token */
function listTitles(tied, token) {
  const tie = `${writeCount(tied)} words tie`;
  if (tied > 1) return [`${tie} at ${token}`, tie];
  return ["the likeliest at each token", `the likeliest at ${token}`, "the likeliest"];
}

// Whether the card of the chosen row takes the place of a row's word.
/** @param {Frame} frame @param {number} row @param {Box} card */
function liesUnder(frame, row, { y, h }) {
  const middle = rowMiddle(frame, row);
  return middle > y - HALF && middle < y + h + HALF;
}

// Whether a row's word is pointed at, or one of the chosen row's.
/** @param {Canvas} canvas @param {{ row?: number, word?: number }} given1 */
function isPointed({ hover }, { row, word }) {
  return hover?.part === "words" && (word === undefined ? hover.where?.row === row : hover.word === word);
}

/**
 * @param {Canvas} canvas
 * @param {Sketch} sketch
 * @param {number} row
 * @param {FirstWord} given3
 * @param {{ x: number, w: number }} given4
 */
function drawWord(canvas, sketch, row, { word, share, tied }, { x, w }) {
  if (!isSeen(canvas.frame, row)) return;
  const lit = row === canvas.at || isPointed(canvas, { row });
  const paint = { opacity: canvas.frame.parts.words.a, fill: lit ? undefined : "var(--bvc-faint)" };
  const number = writePercent(share);
  const wide = w > NUMBERED ? measure(number, 12, true) + 8 : 0;
  const size = clamp(canvas.frame.row * 0.6, 12, 13.5);
  const y = rowMiddle(canvas.frame, row) + 5;
  sketch.text(`word ${row}`, x + INSET, y, fit(tied > 1 ? `${writeCount(tied)} tie` : word, size, w - wide - INSET), {
    size, ...paint,
  });
  if (wide) sketch.text(`word ${row} share`, x + w - 8, y, number, { size: 12, mono: true, at: "end", ...paint });
}

// Whether rows are so low that few words of theirs would be left beside the card.
/** @param {Frame} frame */
const isLow = (frame) => frame.row < WORD_LINE_LOW;

// The likeliest words of the chosen row, at most five; few where rows are low.
/** @param {Canvas} canvas @returns {Word[]} */
export function listBest({ frame, data }) {
  return (data.words?.best ?? []).slice(0, isLow(frame) ? FEW : undefined);
}

// How high a line of the card is.
/** @param {Frame} frame */
export const lineHeight = (frame) => (isLow(frame) ? WORD_LINE_LOW : WORD_LINE);

// Where the likeliest words of the chosen row stand.
/** @param {Canvas} canvas */
export function cardBox(canvas) {
  const { frame, at } = canvas;
  const { x, w } = frame.parts.words;
  const h = lineHeight(frame) * listBest(canvas).length + 16;
  const bottom = frame.top + frame.row * frame.count;
  return { x, w, h, y: clamp(rowMiddle(frame, at) - 20, frame.top, bottom - h) };
}

/**
 * @param {Canvas} canvas
 * @param {Sketch} sketch
 * @param {Box} box
 * @param {Word[]} best
 * @param {number} opacity
 */
function drawCard(canvas, sketch, { x, y, w, h }, best, opacity) {
  const { explained } = canvas;
  const shown = { opacity: cut(opacity, 3) };
  sketch.box("card", { x, y, w, h }, { rx: 10, fill: "var(--bvc-surface)", stroke: "var(--bvc-line)", ...shown });
  const widest = Math.max(...best.map(({ word }) => measure(word, 15, false, 650)));
  const most = best[0].share || 1;
  const number = Math.max(...best.map(({ share }) => measure(writePercent(share), 12, true, 700)));
  const longest = Math.min(w - number - 26, widest + 2);
  const high = lineHeight(canvas.frame);
  best.forEach(({ word, share, address }, i) => {
    const line = { x, w, y: y + 8 + i * high - (WORD_LINE - high) / 2, longest, number };
    drawBest(sketch, i, { word, share, part: share / most, first: share === best[0].share }, line, opacity);
    const ringed = { x: x + 3, y: y + 8 + i * high, w: w - 6, h: high };
    const ring = address === explained.cell ? "var(--bvc-text)" : isPointed(canvas, { word: i }) && "var(--bvc-faint)";
    if (ring) sketch.box(`ring ${i}`, ringed, { rx: 6, fill: "none", stroke: ring, "stroke-width": 2 });
  });
}

// One of the likeliest words: its share as a bar, where there is room, and in figures.
/**
 * @param {Sketch} sketch
 * @param {number} i
 * @param {{ word: string, share: number, part: number, first: boolean }} given2
 * @param {{ x: number, y: number, w: number, longest: number, number: number }} given3
 * @param {number} opacity
 */
function drawBest(sketch, i, { word, share, part, first }, { x, y, w, longest, number }, opacity) {
  const [size, bold, fill] = first ? [15, 700, undefined] : [14, 400, "var(--bvc-faint)"];
  sketch.text(`best ${i}`, x + 10, y + 17, fit(word, size, longest, bold), { size, bold, opacity });
  const room = w - longest - number - 34;
  const bar = { x: x + longest + 18, y: y + 7, w: Math.max(1.5, room * part), h: 10 };
  const paint = { rx: 2, fill: "var(--bvc-prediction)", "fill-opacity": first ? 1 : 0.5, opacity: cut(opacity, 3) };
  if (room > 12) sketch.box(`bar ${i}`, bar, paint);
  const style = { size: 12, mono: true, at: "end", bold, fill, opacity };
  sketch.text(`share ${i}`, x + w - 8, y + 16.5, writePercent(share), style);
}

// The likeliest word of a row, or one of those of the chosen one. {word, share, address}
/** @param {Canvas} canvas @param {{ where: Where, word?: number }} given1 @returns {Word | undefined} */
export function wordOf({ data: { words } }, { word, where }) {
  return word === undefined ? words?.top[where.row] : words?.best[word];
}
