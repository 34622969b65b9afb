// The pictures of both softmaxes, over keys and over words; and how the best word came by its logit.

/** @import { Canvas } from "../canvas.js" */
/** @import { Sketch } from "../sketch.js" */
/** @import { Answered, Divided, Ended, Logit } from "./types.js" */
/** @import { Box } from "../types.js" */

import { writeCount, writeFixed, writeNumber, writeShort } from "../../shared/numbers.js";
import { isSeen, rowMiddle } from "../cells.js";
import { fit } from "../letters.js";
import { within } from "../motion.js";
import { drawCaption, FAINT, leadToCaption, ringSpoken } from "./caption.js";
import { drawOutcome, drawProduct, drawWaterfall, writeOutcome } from "./products.js";
import { drawSoftmax } from "./softmax.js";
import { writeOperation } from "./steps.js";

// Scores become powers of e, these stack to the denominator and become shares.
/** @param {Canvas} canvas @param {Sketch} sketch @param {Box} box @param {Divided} worked @param {number} time */
export function drawDivide(canvas, sketch, box, worked, time) {
  const { frame, data } = canvas;
  const rows = worked.of.map((_, i) => i).filter((i) => isSeen(frame, i));
  const items = rows.map((i) => ({
    name: data.tokens[i].text, faint: data.tokens[i].special, score: worked.scores[i], term: worked.exponentials[i],
    share: worked.shares[i], y: rowMiddle(frame, i),
  }));
  const hidden = worked.shares.reduce((all, share, i) => all + (isSeen(frame, i) ? 0 : share), worked.others);
  const how = box.w < 480 ? [] : [["powers of e, divided by their sum"]];
  drawCaption(sketch, box, [["Scores become shares:", "attention"], ...how], "");
  drawSoftmax(sketch, box, {
    items, others: { name: "out of sight", share: hidden, listed: null }, denominator: worked.denominator, kind: "attention",
    titles: ["key", "score"], top: frame.top, high: frame.row * frame.count, row: frame.row, digits: worked.digits,
    decimals: 2,
  }, time);
}

// The best word's logit, and the last softmax: over the whole vocabulary.
/** @param {Canvas} canvas @param {Sketch} sketch @param {Box} box @param {Answered | Ended} worked @param {number} time */
export function drawAnswer(canvas, sketch, box, worked, time) {
  if (!("words" in worked)) return drawEnd(canvas, sketch, box, worked);
  const wide = box.w >= 700;
  const part = wide ? Math.min(390, box.w * 0.4) : box.w;
  drawLogit(canvas, sketch, { ...box, w: part }, worked, wide, time);
  const right = wide ? { ...box, x: box.x + part + 40, w: box.w - part - 40 } : box;
  const top = wide ? canvas.frame.top : box.y + 92;
  const high = canvas.frame.top + canvas.frame.row * canvas.frame.count - top;
  const pitch = Math.min(48, high / (worked.words.length + 1));
  const at = (/** @type {number} */ i) => ({ y: top + (i + 0.5) * pitch });
  const items = worked.words.map(([name, score, term, share], i) => ({ name, score, term, share, ...at(i) }));
  const rest = worked.denominator - items.reduce((all, { term }) => all + term, 0);
  const others = {
    name: `${writeCount(worked.total - items.length)} others`, share: worked.others,
    listed: { term: rest, ...at(items.length) },
  };
  return drawSoftmax(sketch, right, {
    items, others, denominator: worked.denominator, kind: "prediction", titles: ["word", "logit"], top, high,
    row: pitch, digits: worked.digits, decimals: worked.logit.digits.total,
  }, wide ? within(time, 0.35, 1) : time);
}

// Without an LM head: what the layers end with.
/** @param {Canvas} canvas @param {Sketch} sketch @param {Box} box @param {Ended} worked */
function drawEnd(canvas, sketch, box, { width, component, value }) {
  const words = `the layers end with ${width} numbers for each piece; component ${component}: ${writeNumber(value)}`;
  drawCaption(sketch, box, [["No LM head", "norm"]], words);
  const cell = ringSpoken(canvas, sketch, `output.${canvas.data.size.layers - 1}`);
  leadToCaption(sketch, cell, box);
}

// The LM head's vector times the word's row, product by product, and the word's bias.
/**
 * @param {Canvas} canvas
 * @param {Sketch} sketch
 * @param {Box} box
 * @param {Answered} worked
 * @param {boolean} wide
 * @param {number} time
 */
function drawLogit(canvas, sketch, box, { component, last, words: [[word]], logit }, wide, time) {
  const { terms, width, product, bias, value, digits, adds_up: whole } = logit;
  drawCaption(
    sketch, box, [[`“${word}”:`, "prediction"], [`${width} products`, "norm"]],
    `component ${component} is now ${writeShort(last)}; LM head’s vector × the word’s row`
  );
  leadToCaption(sketch, ringSpoken(canvas, sketch, `output.${canvas.data.size.layers - 1}`), box);
  const sum = `${writeFixed(product, digits.terms)} ${writeOperation({ sign: "+", operand: bias }, digits.terms)}`;
  const outcome = `${sum} ${writeOutcome(whole, value, digits)}`;
  if (!wide) return sketch.text("outcome", box.x, box.y + 60, outcome, { size: 15, mono: true, bold: 600 });
  const landed = drawLogitSum(canvas, sketch, box, logit, time);
  drawProduct(sketch, box, terms, landed, { digits: digits.terms, kinds: ["norm", "embedding", "prediction"] });
  return drawOutcome(
    sketch, box, outcome, "dot product + bias = logit; softmax makes shares of all logits", within(time, 0.35, 0.45)
  );
}

// The largest products one by one, all others as one, and the bias; gives how many of the former have landed.
/** @param {Canvas} canvas @param {Sketch} sketch @param {Box} box @param {Logit} worked @param {number} time */
function drawLogitSum(canvas, sketch, box, { terms, rest, width, bias, digits }, time) {
  const more = width - terms.length;
  const parts = [
    ...terms.map(([, , , each]) => ({ value: each })), ...(more ? [{ value: rest, wide: 58 }] : []),
    { value: bias, wide: 38 },
  ];
  const landed = Math.round(within(time, 0, 0.4) * parts.length);
  const { starts, bottom } = drawWaterfall(canvas, sketch, box, {
    parts, landed, digits: digits.total, kind: "prediction",
  });
  /** @type {[part: number, name: string][]} */
  const names = [[0, `${terms.length} largest in size`]];
  if (more) names.push([terms.length, `${more} more`]);
  names.push([parts.length - 1, "bias"]);
  for (const [i, name] of names) {
    const style = { size: 12, fill: FAINT, opacity: within(time, 0.3, 0.4) };
    const room = starts[i ? i + 1 : terms.length] - starts[i];
    sketch.text(`part ${i}`, starts[i], bottom + 22, fit(name, 12, room), style);
  }
  return Math.min(landed, terms.length);
}
