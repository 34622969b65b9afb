// Parts of the picture: which stage each of them draws now, which of its columns, and what is spoken of.

/** @import { Canvas } from "./canvas.js" */
/** @import { Frame, Place, Stage } from "./types.js" */

import { clamp } from "../shared/clamp.js";
import { writeAmount, writeCount } from "../shared/numbers.js";
import { STOP } from "./place.js";

const LEAST = { residual: 4, head: 2.1, spine: 3.6 }; // pixels that a cell is wide at least
export const INPUT = "input"; // the strip of a layer that draws what it reads
export const ONE_HEAD = ["query", "key", "value", "context"];

// A stage's name, as the server writes it, as parts of the picture.
/** @param {{ place: Place, frame?: Frame }} given @param {string} id @returns {{ part: string }} */
export function namePart({ place, frame }, id) {
  const name = id.replace("head.", "");
  if (name === INPUT) return { part: place.layer ? `output.${place.layer - 1}` : "embedding" };
  if (name === "scores" || (name === "weights" && (frame?.parts.matrix.w ?? 0) > 2)) return { part: "matrix" };
  return { part: ["neurons", "output", "ribbons"].includes(name) ? `${name}.${place.layer}` : name };
}

// The strip of a layer that a part draws, and that can be seen whole; null for any other part.
/** @param {Canvas} canvas @param {string} part */
export function findStrip(canvas, part) {
  return canvas.data.whole.find((strip) => namePart(canvas, strip).part === part) ?? null;
}

// Whether a part of the whole pass is what the first layer reads, which is seen whole there.
/** @param {Canvas} canvas @param {string} part */
export function opensLayer({ data, place }, part) {
  return place.level === "pass" && !place.stop && part === "embedding" && data.whole.includes(INPUT);
}

/** @param {Canvas} canvas @param {string} part */
export function isWhole(canvas, part) {
  return canvas.place.strip !== null && findStrip(canvas, part) === canvas.place.strip;
}

// The stage that a part draws; null while the numbers of the chosen layer and head are on their way.
/** @param {Canvas} canvas @param {string} part @returns {Stage | null} */
export function stageOf(canvas, part) {
  const { stages, place } = canvas;
  const whole = isWhole(canvas, part) ? stages.get(`whole.${place.strip}`) : null;
  const layer = part === "embedding" ? null : part.includes(".") ? Number(part.split(".")[1]) : place.layer;
  if (whole && whole.layer === layer) return whole;
  const inHead = place.stop ? isInHead(place) : place.level === "head";
  let name = part;
  if (part === "matrix") name = place.stop === STOP.compare ? "head.scores" : "head.weights";
  else if (part === "context") name = inHead ? "head.context" : "context";
  else if (ONE_HEAD.includes(part)) name = `head.${part}`;
  const stage = stages.get(name) ?? stages.get(part);
  if (!stage) return null;
  const ofLayer = !part.includes(".") && part !== "embedding";
  if (ofLayer && stage.layer !== place.layer) return null;
  if (name === "head.context") return isOfHead(stage, place.head, canvas.data.size.head_width) ? stage : null;
  const head = stage.axes.find(([axis]) => axis === "head")?.[1];
  return head === undefined || head === "{head}" || Number(head) === place.head ? stage : null;
}

// Whether a stop is about what one head does.
/** @param {Place} given */
function isInHead({ stop }) {
  return stop >= STOP.ask && stop <= STOP.collect;
}

/** @param {Stage} stage @param {number} head @param {number} width */
function isOfHead({ columns }, head, width) {
  return Math.floor(columns[0] / width) === head;
}

// The part that draws a stage now.
/** @param {Canvas} canvas @param {Stage} stage */
export function partOf(canvas, stage) {
  return Object.keys(canvas.frame.parts).find((part) => stageOf(canvas, part) === stage);
}

// Whether the program makes a stage from several tensors. A sum without its residual, or the output of a layer that is
// skipped, is a copy of one.
/** @param {Canvas} canvas @param {string} name */
export function joins({ stages }, name) {
  return (stages.get(name)?.reads.length ?? 2) > 1;
}

// The component that is spoken of: in the walk the one that is followed from stop to stop, else the chosen one; null for none.
/** @param {Canvas} canvas */
export function spokenComponent({ data, place }) {
  return (place.stop ? data.stops[STOP.lookUp - 1]?.worked.component : null) ?? place.component;
}

// The row of the key that a stop compares with the chosen token, which is lit as well; null where there is none.
/** @param {Canvas} canvas */
export function spokenKey(canvas) {
  return [STOP.ask, STOP.compare].includes(canvas.place.stop) ? findBeside(canvas) : null;
}

// The row of the key that the stops inside of a head tell of; the chosen token's own at all others.
/** @param {Canvas} canvas */
export function findBeside({ data, place, at }) {
  return isInHead(place) && data.stops.length ? data.stops[STOP.compare - 1].worked.key - data.window.start : at;
}

// The places of a strip's columns that are spoken of: that of the explained cell, that of the component.
/** @param {Canvas} canvas @param {Stage} stage */
function spokenColumns(canvas, stage) {
  const own = canvas.stages.find(canvas.explained.cell).filter((found) => found.stage === stage);
  const component = isOfStream(canvas, stage) ? stage.columns.indexOf(spokenComponent(canvas)) : -1;
  return [...new Set([component, ...own.map(({ where }) => where.column ?? -1)])].filter((column) => column >= 0);
}

// Which places among a strip's columns are drawn where it is this wide; what is spoken of among them: at a stop they are
// moved on so far that it stands in their middle, else it takes the last places. Of a strip that is seen whole, and of
// a head, all are.
/** @param {Canvas} canvas @param {Stage} stage @param {number} width */
export function drawnColumns(canvas, stage, width) {
  const { level, strip } = canvas.place;
  const ofHead = stage.columns.length <= canvas.data.size.head_width && ONE_HEAD.includes(stage.id.replace("head.", ""));
  if (strip || (ofHead && level === "head")) return stage.columns.map((_, i) => i);
  const least = ofHead ? LEAST.head : LEAST.residual;
  const count = clamp(Math.floor(width / least), 1, stage.columns.length);
  const spoken = spokenColumns(canvas, stage);
  const last = stage.columns.length - count;
  const start = canvas.place.stop ? clamp((spoken[0] ?? 0) - Math.floor(count / 2), 0, last) : 0;
  const columns = Array.from({ length: count }, (_, i) => start + i);
  const beyond = spoken.filter((column) => !columns.includes(column)).slice(0, count).sort((a, b) => a - b);
  columns.splice(count - beyond.length, beyond.length, ...beyond);
  return columns;
}

// Whether a stage is of the residual stream's width and components.
/** @param {Canvas} canvas @param {Stage} stage */
export function isOfStream(canvas, stage) {
  return stage.total === canvas.data.size.width && !stage.id.endsWith("context") && stage.size.length === 2;
}

// Which components a strip draws, in words.
/** @param {Canvas} canvas @param {Stage} stage @param {number} width */
export function tellColumns(canvas, stage, width) {
  const drawn = drawnColumns(canvas, stage, width);
  const whole = stage.id === "head.context" ? stage.columns.length : stage.total;
  if (drawn.length === whole) return writeAmount(whole, "number");
  if (stage.kind === "ffn") return `${drawn.length} of ${writeCount(stage.total)}`;
  const indices = drawn.map((place) => stage.columns[place]);
  const run = indices.findIndex((index, i) => index !== indices[0] + i);
  if (run < 0) return `${indices[0]}–${indices.at(-1)} of ${stage.total}`;
  const [last, own] = [indices[run - 1], indices[run]];
  const told = run === indices.length - 1 ? `${indices[0]}–${last}, ${own}` : indices.length;
  return `${told} of ${stage.total}`;
}
