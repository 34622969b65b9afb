// What stands over the stages, the heads and the columns of a matrix.

/** @import { Canvas } from "./canvas.js" */
/** @import { Sketch } from "./sketch.js" */
/** @import { Box, Frame, Name, Stage } from "./types.js" */

import { clamp } from "../shared/clamp.js";
import { writeAmount } from "../shared/numbers.js";
import { headBoxes, isSeen, seenRows } from "./cells.js";
import { fit, measure } from "./letters.js";
import { findStrip, opensLayer, stageOf, tellColumns } from "./parts.js";
import { STOP } from "./place.js";
import { heading } from "./sizes.js";
import { cut } from "./sketch.js";

/** @param {Canvas} canvas @param {Sketch} sketch */
export function drawTitles(canvas, sketch) {
  const { place, frame } = canvas;
  const levels = place.stop ? "stop" : place.level;
  for (const [part, box] of Object.entries(frame.parts)) {
    const ribbons = part.startsWith("ribbons");
    if (box.a < 0.6 || ["tokens", "words", "panel", "collect"].includes(part)) continue;
    const shown = Math.min(1, (box.a - 0.6) / 0.4);
    if (ribbons && levels === "pass") titleBlock(canvas, sketch, Number(part.split(".")[1]), shown);
    if (ribbons || (levels === "pass" && part !== "embedding")) continue;
    if (box.w < 24) titleSpine(canvas, sketch, part, box, shown);
    else titlePart(canvas, sketch, part, box, shown);
  }
  if (frame.parts.matrix.a > 0.5 && frame.parts.matrix.w > 60) titleKeys(canvas, sketch);
  if (frame.parts.weights.a > 0.5 && place.level === "layer" && !place.stop) titleHeads(canvas, sketch);
}

/** @param {Canvas} canvas @param {Sketch} sketch @param {number} layer @param {number} opacity */
function titleBlock(canvas, sketch, layer, opacity) {
  const { frame: { parts }, hover, place } = canvas;
  const { y } = heading(canvas);
  const [from, to] = [parts[`ribbons.${layer}`], parts[`output.${layer}`]];
  const width = to.x + to.w - from.x;
  const names = [`Layer ${layer}`, `L ${layer}`, `${layer}`];
  const words = names.find((text) => measure(text, 13.5, false, 650) < width) ?? "";
  sketch.text(`layer ${layer}`, from.x, y, words, { size: 13.5, bold: true, opacity });
  const marked = layer === place.layer || hover?.layer === layer || hover?.part?.endsWith(`.${layer}`);
  sketch.line(`rule ${layer}`, from.x, y + 11, to.x + to.w, y + 11,
    { stroke: marked ? "var(--bvc-text)" : "var(--bvc-line)", "stroke-width": marked ? 2 : 1, opacity: cut(opacity, 3) });
  titleInside(canvas, sketch, layer, [from.x, from.x + width], opacity);
}

// What a layer's strips are, each over its own; where they do not stand in one line, every other one a line higher.
/**
 * @param {Canvas} canvas
 * @param {Sketch} sketch
 * @param {number} layer
 * @param {[left: number, right: number]} given3
 * @param {number} opacity
 */
function titleInside({ frame }, sketch, layer, [left, right], opacity) {
  const inside = [["attention", "ribbons", "attention"], ["neurons", "neurons", "ffn"], ["output", "output", "norm"]];
  const labels = inside.map(([text, part, kind]) => ({ text, kind, ...frame.parts[`${part}.${layer}`] })).filter(
    ({ w }) => w > 8
  ).map(({ text, kind, x, w }) => {
    const wide = measure(text, 12);
    return { text, kind, x: clamp(x + (w - wide) / 2, left, right - wide), wide };
  });
  const crowded = (/** @type {Pick<Name, "x" | "wide">[]} */ some) => some.some(({ x }, i) => i && x < some[i - 1].x + some[i - 1].wide + 5);
  const lines = crowded(labels) ? 2 : 1;
  const room = labels.every(({ wide }) => wide <= right - left);
  if (!room || (lines === 2 && crowded(labels.filter((_, i) => i % 2 === 0)))) return;
  const base = frame.ceiling - frame.stubs - (lines === 2 ? 2 : frame.phone ? 3 : 8);
  labels.forEach(({ text, kind, x }, i) => sketch.text(`${text} ${layer}`, x, base - (i % 2 && lines === 2 ? 13 : 0), text, {
    size: 12, fill: `var(--bvc-${kind})`, opacity,
  }));
}

/** @param {Canvas} canvas @param {Sketch} sketch @param {string} part @param {Box} box @param {number} opacity */
function titlePart(canvas, sketch, part, box, opacity) {
  const stage = stageOf(canvas, part) ?? canvas.stages.get(`head.${part}`) ?? canvas.stages.get(part);
  if (!stage) return;
  const { y, line } = heading(canvas);
  const { level, layer, stop } = canvas.place;
  const inside = !stop || [STOP.ask, STOP.add].includes(stop);
  const input = inside && level === "layer" && stage.layer !== layer && /output|embedding/.test(part);
  const names = input ? ["Layer input", "Input", "In"] : nameStage(stage, canvas);
  const room = findNext(canvas.frame, box) - box.x - 7;
  const lines = breakTitle(names, room);
  const paint = { size: 13.5, bold: true, fill: `var(--bvc-${stage.kind})`, opacity };
  lines.forEach((words, i) => sketch.text(`title ${part} ${i}`, box.x, y + i * line, words, paint));
  if (opensLayer(canvas, part) || (level === "layer" && !stop && findStrip(canvas, part))) underlineTitle(canvas, sketch, part, box, lines);
  if (part === "matrix" || (part === "embedding" && box.w < 70)) return;
  const more = part === "weights" ? "rows ask, columns answer · choose a head" : tellColumns(canvas, stage, box.w);
  const text = [more, more.replace(/ of .*| numbers/, "")].find((words) => measure(words, 12) <= room);
  if (text) {
    sketch.text(`of ${part}`, box.x, y + lines.length * line, text, {
      size: 12, fill: "var(--bvc-faint)", opacity,
    });
  }
}

// The longest of the names that fits, in one line or, where it has two words, in two.
/** @param {string[]} names @param {number} room */
function breakTitle(names, room) {
  const fits = (/** @type {string} */ text) => measure(text, 13.5, false, 650) <= room;
  for (const name of names) {
    if (fits(name)) return [name];
    const words = name.split(" ");
    if (words.length === 2 && words.every(fits)) return words;
  }
  return names.slice(-1).filter(fits);
}

// What can be pressed is underlined, as the crumbs are.
/** @param {Canvas} canvas @param {Sketch} sketch @param {string} part @param {Box} box @param {string[]} lines */
function underlineTitle(canvas, sketch, part, box, lines) {
  const { y, line } = heading(canvas);
  const over = canvas.hover?.strip && canvas.hover.part === part;
  lines.forEach((words, i) => {
    const under = y + i * line + 4;
    sketch.line(`underline ${part} ${i}`, box.x, under, box.x + measure(words, 13.5, false, 650), under, {
      stroke: over ? "var(--bvc-text)" : "var(--bvc-line)", "stroke-width": over ? 2 : 1,
    });
  });
}

// Where the next part at the right begins.
/** @param {Frame} frame @param {Box} box */
function findNext({ parts, width }, box) {
  const others = Object.values(parts).filter(({ x, a, w }) => x > box.x && a > 0.5 && w > 1);
  return Math.min(width, ...others.map(({ x }) => x));
}

// Names of a stage from the longest to the shortest.
/** @param {Stage} stage @param {Canvas} canvas */
export function nameStage({ id, title, short }, { data, place }) {
  /** @type {Record<string, string>} */
  const spoken = { query: "Q · asks", key: "K · offers", value: "V · hands over", context: "Head output" };
  const own = id.startsWith("head.") && place.level === "head" ? spoken[id.slice(5)] : null;
  const heads = writeAmount(data.size.heads, "head");
  if (id === "weights") return [`Attention weights, ${heads}`, heads];
  if (id === "head.weights") return [...(data.changed ? [] : [`${title}: each row adds up to 1`]), title, "Weights"];
  if (id === "sum" || id === "sum2") return ["Residual sum", "Sum"];
  if (/^head\.(query|key|value)$/.test(id)) return own ? [own, short] : [short];
  const least = {
    context: ["Heads"], output: ["Output", "Out"], embedding: ["Embed"], norm: ["Norm"], neurons: ["Neur."],
  }[id.split(".")[0]];
  return own ? [own, "Output"] : [title, ...(least ?? [])];
}

// A stage before or after the layer, so thin that its name is read upwards.
/** @param {Canvas} canvas @param {Sketch} sketch @param {string} part @param {Box} box @param {number} opacity */
function titleSpine(canvas, sketch, part, box, opacity) {
  const layer = part === "embedding" ? null : Number(part.split(".")[1]);
  const every = Math.ceil(14 / Math.max(box.w, 1));
  if (box.w < 3 || (layer !== null && layer % every)) return;
  const here = layer === canvas.place.layer;
  const text = layer === null ? "embedding" : `layer ${layer}`;
  sketch.text(`spine ${part}`, box.x + box.w / 2 + 4, canvas.frame.ceiling - 2, text, {
    size: 12, bold: here, fill: here ? undefined : "var(--bvc-faint)", opacity, turn: -90,
  });
}

// The keys over the columns of a head's matrix.
/** @param {Canvas} canvas @param {Sketch} sketch */
function titleKeys(canvas, sketch) {
  const { frame, data, hover, cursor } = canvas;
  const box = frame.parts.matrix;
  const wide = box.w / frame.count;
  const y = canvas.frame.ceiling - 1;
  const lit = [hover, cursor].find((each) => each?.part === "matrix")?.where?.key;
  const keys = seenRows(frame, data.tokens.length).filter((key) => isSeen(frame, key));
  const flat = keys.every((key) => measure(data.tokens[key].text, 12) < wide - 4);
  for (const key of keys) {
    const { text } = data.tokens[key];
    const x = box.x + (key - frame.first + 0.5) * wide;
    const style = { size: 12, bold: key === lit ? 700 : 400, fill: key === lit ? undefined : "var(--bvc-faint)" };
    if (flat) sketch.text(`key ${key}`, x, y - 3, text, { ...style, at: "middle" });
    else sketch.text(`key ${key}`, x - 2, y, fit(text, 12, 44), { ...style, turn: -38 });
  }
}

/** @param {Canvas} canvas @param {Sketch} sketch */
function titleHeads(canvas, sketch) {
  const { place, hover, frame } = canvas;
  headBoxes(canvas).forEach(({ x, y, size }, head) => {
    const [chosen, over] = [head === place.head, hover?.part === "weights" && hover.where?.head === head];
    const name = size > 44 ? `head ${head}` : `${head}`;
    const style = {
      size: 12, bold: chosen ? 650 : 400, fill: chosen || over ? undefined : "var(--bvc-faint)",
      opacity: frame.parts.weights.a,
    };
    sketch.text(`head ${head}`, x, y - 6, name, style);
    if (!chosen && !over) return;
    sketch.box(`head box ${head}`, { x: x - 3, y: y - 3, w: size + 5, h: size + 5 },
      { rx: 4, fill: "none", stroke: chosen ? "var(--bvc-text)" : "var(--bvc-faint)", "stroke-width": 1.5 });
  });
}
