// What is pointed at, in words.

/** @import { Canvas } from "./canvas.js" */
/** @import { Stage, Target, Where } from "./types.js" */

import { writeCount, writeNumber, writePercent } from "../shared/numbers.js";
import { readValue } from "./data.js";
import { escapeHtml } from "./html.js";
import { namePart, stageOf } from "./parts.js";
import { wordOf } from "./words.js";

// What happens where the title of a strip is pressed.
/** @param {Canvas} canvas @param {string} strip @param {string} press */
function tellStrip(canvas, strip, press) {
  const { title, total } = stageOf(canvas, namePart(canvas, strip).part) ?? canvas.stages.get(strip);
  if (canvas.place.strip) return `${title}: all ${writeCount(total)} numbers of each token. ${press}: back.`;
  return `${title}. ${press}: all its ${writeCount(total)} numbers of each token.`;
}

// What stands under the pointer where that is no cell.
/** @param {Canvas} canvas @param {Target} target */
export function tellPart(canvas, { part, layer, where, word, strip }) {
  const { data, stages } = canvas;
  if (strip) return tellStrip(canvas, strip, "Click");
  if (part === "words") {
    const best = wordOf(canvas, { where, word });
    const [said, at] = [best.word, data.tokens[where.row]?.text ?? canvas.place.token].map(escapeHtml);
    return `“${said}” at “${at}”: ${writePercent(best.share)}. Click it: its shortest story, back to the input.`;
  }
  if (layer === undefined) return "";
  const stage = stages.get(`ribbons.${layer}`);
  if (!part.startsWith("ribbons") || !stage) return `Layer ${layer}: click to open it.`;
  const token = escapeHtml(data.tokens[where.row].text);
  const weight = writePercent(readValue(stage, where));
  return `${escapeHtml(canvas.token)} looks at “${token}” with ${weight}: the mean of the ${data.size.heads} heads of ` +
    `layer ${layer}. Click: the layer opens, with each head's weight.`;
}

// What a cell is, in the words of the titles.
/** @param {Canvas} canvas @param {Stage} stage @param {Where} where */
export function nameCell({ data }, stage, { row, column, key, head }) {
  const of = (i) => `“${data.tokens[i].text}”`;
  const whose = [
    ...(stage.layer === null ? [] : [`layer ${stage.layer}`]), ...(head === undefined ? [] : [`head ${head}`]),
    key === undefined ? of(row) : `${of(row)} on ${of(key)}`,
    ...(column === undefined ? [] : [`${stage.kind === "ffn" ? "neuron" : "component"} ${stage.columns[column]}`]),
  ];
  return `${stage.title}: ${whose.join(", ")}`;
}

// What the cursor is at, for the ear.
/** @param {Canvas} canvas @param {Target} target */
export function describe(canvas, { part, stage, layer, where, word, strip }) {
  const { data } = canvas;
  const token = data.tokens[where.row].text;
  const words = () => data.words.best.map((each) => `${each.word} ${writePercent(each.share)}`).join(", ");
  if (strip) return tellStrip(canvas, strip, "Enter");
  if (part === "words") {
    const { word: best, share, tied } = data.words.top[where.row];
    const first = tied > 1 ? `${writeCount(tied)} words tie at` : best;
    return `${word === undefined ? `${token}: ${first} ${writePercent(share)}` : `Words: ${words()}`}, Enter: the story`;
  }
  if (part === "weights") return `Head ${where.head} of layer ${canvas.place.layer}, Enter opens it`;
  if (layer !== undefined) return `Layer ${layer}, Enter opens it`;
  if (!stage) return token;
  const value = writeNumber(readValue(stage, where));
  const key = data.tokens[where.key]?.text;
  const of = key === undefined ? `component ${stage.columns[where.column]}` : `key ${key}`;
  return `${stage.title}, ${token}, ${of}: ${value}`;
}
