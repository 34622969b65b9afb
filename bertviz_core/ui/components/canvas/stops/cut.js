// The picture of the first stop: the letters of the text flow into pieces, each an entry of the vocabulary.

/** @import { Canvas } from "../canvas.js" */
/** @import { Sketch } from "../sketch.js" */
/** @import { Cut } from "./types.js" */
/** @import { Box, Typed } from "../types.js" */

import { clamp } from "../../shared/clamp.js";
import { writeCount } from "../../shared/numbers.js";
import { isSeen, rowMiddle } from "../cells.js";
import { fit, measure } from "../letters.js";
import { mix, within } from "../motion.js";
import { cut } from "../sketch.js";
import { drawCaption, FAINT } from "./caption.js";

const GAP = 7; // pixels for blanks between letters, before they are stretched
const ADDED = 14; // and for a token that nobody typed
const SIZES = [18, 15, 12]; // of the letters
const AIRY = 2; // how much farther apart than in a text they stand at most
const ENTRY = 52; // pixels at the left for the entries' numbers

/** @typedef {{ x: number, end: number, letters: { text: string, x: number }[], size: number, over: boolean, next: number }} Slot */

// The text, letter by letter; under it each piece in its token's row, and which entry of the vocabulary that is.
/** @param {Canvas} canvas @param {Sketch} sketch @param {Box} box @param {Cut} worked @param {number} time */
export function drawCut(canvas, sketch, box, worked, time) {
  const narrow = box.w < 420;
  const { total, padding, vocabulary } = worked;
  const entry = narrow ? "" : `each an entry of the vocabulary of ${writeCount(vocabulary)}`;
  drawCaption(sketch, box, [[`${total + padding} tokens${narrow ? "" : ","}`, "prediction"], [entry]], "");
  const { frame, data } = canvas;
  const pieces = worked.pieces.filter(([index]) => isSeen(frame, index - data.window.start));
  const slots = placeLetters(box, pieces.map(([index]) => data.letters[index - data.window.start]));
  const top = frame.top - frame.stubs - 9;
  sketch.text("entries", box.x + ENTRY - 12, top, "entry", { size: 12, at: "end", fill: FAINT });
  pieces.forEach(([index, text, id], i) => {
    const fall = within(time, (0.6 * i) / pieces.length, 0.4 + (0.6 * i) / pieces.length);
    drawPiece(canvas, sketch, box, {
      row: index - data.window.start, text, id, slot: slots[i], top, fall, typed: data.letters[index - data.window.start] !== null,
    });
  });
}

// Where the letters stand: over the rows, as large and as far apart as there is room for; else in their rows.
/** @param {Box} box @param {(Typed | null)[]} typed @returns {Slot[]} */
export function placeLetters({ x, w }, typed) {
  const [size, airy] = chooseLetters(typed, w - ENTRY - 24);
  const over = airy >= 1;
  const stretch = over ? airy : 1;
  let at = x + ENTRY;
  const slots = typed.map((each, i) => {
    at = over ? at + leaveBlank(typed, i) * stretch : x + ENTRY;
    const start = at;
    const letters = [...(each?.text ?? "")].map((text) => {
      const wide = (measure(text, size) + 1) * stretch;
      at += wide;
      return { text, x: at - wide / 2 };
    });
    if (!each && over) at += ADDED * stretch;
    return { x: start, end: at, letters, size, over, next: 0 };
  });
  const next = Math.max(...slots.map(({ end }) => end)) + 26;
  return slots.map((slot) => ({ ...slot, next }));
}

// The largest size in which the letters need not stand closer than in a text; and how much farther apart they stand.
/** @param {(Typed | null)[]} typed @param {number} room @returns {[size: number, stretch: number]} */
function chooseLetters(typed, room) {
  /** @type {[size: number, stretch: number][]} */
  const ways = SIZES.map((size) => {
    const wide = (/** @type {Typed | null} */ each) => (
      each ? [...each.text].reduce((all, text) => all + measure(text, size) + 1, 0) : ADDED
    );
    const total = typed.reduce((all, each, i) => all + leaveBlank(typed, i) + wide(each), 0);
    return [size, Math.min(AIRY, room / (total || 1))];
  });
  return ways.find(([, stretch]) => stretch >= 1) ?? ways[ways.length - 1];
}

/** @param {(Typed | null)[]} typed @param {number} i */
function leaveBlank(typed, i) {
  const each = typed[i];
  return i && (!each || each.apart || !typed[i - 1]) ? GAP : 0;
}

// A piece: its letters over it, the stream that leads down from them, and its entry's number.
/**
 * @param {Canvas} canvas
 * @param {Sketch} sketch
 * @param {Box} box
 * @param {{ row: number, text: string, id: number, slot: Slot, top: number, fall: number, typed: boolean }} given3
 */
function drawPiece({ frame, at }, sketch, box, { row, text, id, slot, top, fall, typed }) {
  const [y, bold] = [rowMiddle(frame, row), row === at];
  const size = frame.row < 18 ? 12 : 14.5;
  const high = Math.min(28, frame.row - 3);
  const wide = Math.max(slot.over ? slot.end - slot.x : 0, measure(text, size, false, bold ? 650 : 400) + 12);
  const left = slot.over ? (slot.x + slot.end - wide) / 2 : typed ? slot.next : slot.x;
  const tile = { x: clamp(left, box.x + ENTRY, box.x + box.w - wide), y: y - high / 2, w: wide, h: high };
  const ink = bold ? "var(--bvc-text)" : FAINT;
  const paint = { fill: ink, "fill-opacity": cut((bold ? 0.16 : 0.08) * fall, 3) };
  if (typed) sketch.path(`stream ${row}`, writeStream(slot, tile, top + 5, fall), paint);
  const dots = { stroke: "var(--bvc-line)", "stroke-dasharray": "2 3", opacity: cut(fall) };
  if (slot.over) sketch.line(`axis ${row}`, box.x + ENTRY - 6, y, tile.x - 3, y, dots);
  sketch.box(`tile ${row}`, tile, {
    rx: 5, fill: "var(--bvc-surface)", stroke: ink, "stroke-width": bold ? 2 : 1, opacity: cut(fall, 3),
    "stroke-dasharray": typed ? undefined : "3 2",
  });
  slot.letters.forEach((letter, i) => {
    const style = { size: slot.size, at: "middle", bold };
    const base = slot.over ? top : y + size * 0.33;
    sketch.text(`letter ${row} ${i}`, letter.x, base, letter.text, style);
    if (fall > 0 && fall < 1) {
      sketch.text(`flying ${row} ${i}`, mix(letter.x, tile.x + tile.w / 2, fall * fall), mix(base, y + size * 0.33, fall), letter.text, {
        ...style, opacity: 1 - fall,
      });
    }
  });
  sketch.text(`id ${row}`, box.x + ENTRY - 12, y + 4.5, id, { size: size - 1.5 < 12 ? 12 : 13, mono: true, at: "end", bold, opacity: fall });
  sketch.text(`piece ${row}`, tile.x + tile.w / 2, y + size * 0.33, fit(text, size, box.w - ENTRY), {
    size, at: "middle", bold, opacity: fall,
  });
}

// From the letters down to their piece; in a row, to the right.
/** @param {Slot} slot @param {Box} tile @param {number} top @param {number} fall */
function writeStream({ x, end, over }, tile, top, fall) {
  if (over) {
    const [down, right] = [cut(mix(top, tile.y, fall)), cut(tile.x + tile.w)];
    return `M${cut(x)} ${top}H${cut(end)}L${right} ${down}H${cut(tile.x)}Z`;
  }
  const [from, to] = [cut(end + 2), cut(mix(end + 2, tile.x, fall))];
  return `M${from} ${cut(tile.y + tile.h * 0.25)}L${to} ${cut(tile.y)}V${cut(tile.y + tile.h)}L${from} ${cut(tile.y + tile.h * 0.75)}Z`;
}
