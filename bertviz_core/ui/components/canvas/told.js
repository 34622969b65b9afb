// What is pointed at, in words.

/** @import { Canvas } from "./canvas.js" */
/** @import { Cursor, Stage, Target, Where, FirstWord, Word } from "./types.js" */

import { writeAmount, writeCount, writeNumber, writePercent } from "../shared/numbers.js";
import { readValue } from "./data.js";
import { escapeHtml } from "./html.js";
import { stageOf } from "./parts.js";
import { wordOf } from "./words.js";

// What happens where the title of a strip is pressed.
/** @param {Canvas} canvas @param {Target} target @param {string} press */
function tellStrip(canvas, { part, strip = "" }, press) {
  const stage = stageOf(canvas, part) ?? canvas.stages.get(strip);
  if (!stage) return "";
  const { title, total } = stage;
  if (canvas.place.strip) return `${title}: all ${writeAmount(total, "number")} of each token. ${press}: back.`;
  return `${title}. ${press}: all its ${writeAmount(total, "number")} of each token.`;
}

// What stands under the pointer where that is no cell.
/** @param {Canvas} canvas @param {Target} target */
export function tellPart(canvas, target) {
  const { part, layer, where, word, strip } = target;
  const { data, stages } = canvas;
  if (strip) return tellStrip(canvas, target, "Click");
  const best = part === "words" && where ? wordOf(canvas, { where, word }) : undefined;
  if (best && where) {
    const [said, at] = [best.word, data.tokens[where.row]?.text ?? canvas.place.token].map(escapeHtml);
    return `“${said}” at “${at}”: ${writePercent(best.share)}. Choose it: its shortest story, back to the input.`;
  }
  if (layer === undefined) return "";
  const stage = stages.get(`ribbons.${layer}`);
  if (!part.startsWith("ribbons") || !stage || !where) return `Layer ${layer}: choose it to open it.`;
  const token = escapeHtml(data.tokens[where.row].text);
  const weight = writePercent(readValue(stage, where));
  const heads = data.size.heads > 1 ? `the mean of the ${data.size.heads} heads` : "the only head";
  return `${escapeHtml(canvas.token)} looks at “${token}” with ${weight}: ${heads} of layer ${layer}. ` +
    "Click: the layer opens, with each head's weight.";
}

// What a cell is, in the words of the titles.
/** @param {Canvas} canvas @param {Stage} stage @param {Where} where */
export function nameCell({ data }, stage, { row, column, key, head }) {
  const of = (/** @type {number} */ i) => `“${data.tokens[i].text}”`;
  const whose = [
    ...(stage.layer === null ? [] : [`layer ${stage.layer}`]), ...(head === undefined ? [] : [`head ${head}`]),
    key === undefined ? of(row) : `${of(row)} on ${of(key)}`,
    ...(column === undefined ? [] : [`${stage.kind === "ffn" ? "neuron" : "component"} ${stage.columns[column]}`]),
  ];
  return `${stage.title}: ${whose.join(", ")}`;
}

// The word of a row, or all of the chosen one, for the ear.
/** @param {{ top: FirstWord[], best: Word[] }} words @param {string} token @param {number} row @param {number | undefined} word */
function tellWords({ top, best }, token, row, word) {
  const { word: first, share, tied } = top[row];
  if (word === undefined) return `${token}: ${tied > 1 ? `${writeCount(tied)} words tie at` : first} ${writePercent(share)}`;
  return `Words: ${best.map((each) => `${each.word} ${writePercent(each.share)}`).join(", ")}`;
}

// What the cursor is at, for the ear.
/** @param {Canvas} canvas @param {Cursor} cursor */
export function describe(canvas, { part, stage, layer, where, word, strip }) {
  const { data } = canvas;
  const token = data.tokens[where.row].text;
  if (strip) return tellStrip(canvas, { part, strip }, "Enter");
  if (part === "words" && data.words) return `${tellWords(data.words, token, where.row, word)}, Enter: the story`;
  if (part === "weights") return `Head ${where.head} of layer ${canvas.place.layer}, Enter opens it`;
  if (layer !== undefined) return `Layer ${layer}, Enter opens it`;
  if (!stage) return token;
  const value = writeNumber(readValue(stage, where));
  const { column, key } = where;
  const named = key === undefined ? undefined : data.tokens[key];
  const of = named ? `key ${named.text}` : `component ${stage.columns[column ?? 0]}`;
  return `${stage.title}, ${token}, ${of}: ${value}`;
}
