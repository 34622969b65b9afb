// The scales of the colours, and after them what is drawn and what is not.

/** @import { Canvas } from "./canvas.js" */
/** @import { Sketch } from "./sketch.js" */
/** @import { Frame, Stage } from "./types.js" */

import { writeCount, writePercent, writeShort } from "../shared/numbers.js";
import { measure } from "./letters.js";
import { namePart, stageOf, tellColumns } from "./parts.js";
import { STOP } from "./place.js";
import { EDGE } from "./sizes.js";

// The scales that the level uses: [part, name].
/** @param {Canvas} canvas @returns {[part: string, name?: string][]} */
function listScales(canvas) {
  const { place, frame, data: { size } } = canvas;
  if (place.strip) return [[namePart(canvas, place.strip).part]];
  const { layer, level, stop } = place;
  const before = layer ? `output.${layer - 1}` : "embedding";
  /** @type {Record<number, [part: string, name?: string][]>} */
  const ofStop = {
    [STOP.lookUp]: [["embedding", "embedding"]],
    [STOP.ask]: [[before, "layer input"], ["query"], ["key"], ["value"]],
    [STOP.join]: [["context", "concatenated heads"], ["added", "attention output"]],
    [STOP.add]: [["sum", "attention output, sum"], ["norm", "layer input, LayerNorm"]],
    [STOP.word]: [[`output.${size.layers - 1}`, "layer output"]],
  };
  /** @type {[part: string, name?: string][]} */
  const inner = [
    ["matrix"], ["weights"], ["query"], ["key"], ["value"], ["sum"], [`output.${layer}`, "LayerNorm"],
    [`neurons.${layer}`, "neurons"],
  ];
  /** @type {[part: string, name?: string][]} */
  const outer = [["embedding"], [`output.${canvas.open}`, "output"], [`neurons.${canvas.open}`, "neurons"]];
  const wanted = ofStop[stop] ?? (level === "pass" && !stop ? outer : inner);
  return wanted.filter(([part]) => {
    const box = frame.parts[part];
    return box && box.a > 0.5 && box.w > 3 && !(part === "weights" && frame.parts.matrix.a > 0.5);
  });
}

// The line that the scales stand on.
/** @param {Frame} scene */
export function legendLine({ top, row, count, stubs, phone }) {
  return top + row * count + stubs + (phone ? 20 : 17);
}

// The scales, and after them what is drawn and what is not; the first line ends where the switch begins.
/** @param {Canvas} canvas @param {Sketch} sketch */
export function drawLegend(canvas, sketch) {
  const { frame, place } = canvas;
  const base = legendLine(frame);
  const end = frame.width - EDGE;
  const ends = frame.phone ? [end] : [end - canvas.chrome.switchWidth, end];
  let [x, line] = [EDGE, 0];
  /** @type {(wide: number, draw: (x: number, y: number) => void) => void} */
  const put = (wide, draw) => {
    if (x + wide > ends[line] && line + 1 < ends.length) [x, line] = [EDGE, line + 1];
    if (x + wide > ends[line]) return;
    draw(x, base + 17 * line);
    x += wide + (frame.phone ? 9 : 20);
  };
  for (const [part, name] of listScales(canvas)) {
    const stage = stageOf(canvas, part);
    if (!stage) continue;
    const words = name ?? stage.short;
    put(measureScale(canvas, stage, words), (x, y) => drawScale(canvas, sketch, stage, words, x, y));
  }
  if (frame.phone || place.stop) return;
  tellNote(canvas).forEach((sentence, i) => put(measure(sentence, 12.5), (left, y) => {
    sketch.text(`note ${i}`, left, y, sentence, { size: 12.5, fill: "var(--bvc-faint)" });
    x -= 14;
  }));
}

// Its two ends, each with its sign.
/** @param {Stage} stage */
function writeEnds({ limit, signed }) {
  return signed ? [writeShort(-limit), `+${writeShort(limit)}`] : ["0", writeShort(limit)];
}

/** @param {Canvas} canvas @param {Stage} stage @param {string} name */
function measureScale({ frame }, stage, name) {
  const ends = writeEnds(stage).reduce((all, end) => all + measure(end, 12, true), 0);
  return ends + scaleWidth(frame) + 19 + measure(name, 12.5);
}

/** @param {Frame} scene */
function scaleWidth({ phone }) {
  return phone ? 24 : 48;
}

/**
 * @param {Canvas} canvas
 * @param {Sketch} sketch
 * @param {Stage} stage
 * @param {string} name
 * @param {number} x
 * @param {number} y
 */
function drawScale({ colors, frame }, sketch, stage, name, x, y) {
  const { kind, limit, signed } = stage;
  const [low, high] = writeEnds(stage);
  const [before, wide] = [measure(low, 12, true) + 6, scaleWidth(frame)];
  const small = { size: 12, mono: true, fill: "var(--bvc-faint)" };
  sketch.text(`low ${name}`, x, y, low, small);
  for (let i = 0; i < 16; i++) {
    const value = signed ? (i / 7.5 - 1) * limit : (i / 15) * limit;
    sketch.box(`scale ${name} ${i}`, { x: x + before + (i * wide) / 16, y: y - 10, w: wide / 16 + 0.3, h: 11 }, {
      fill: colors.shade(kind, value, limit),
    });
  }
  const after = x + before + wide + 6;
  sketch.text(`high ${name}`, after, y, high, small);
  sketch.text(`of ${name}`, after + measure(high, 12, true) + 7, y, name, { size: 12.5, fill: "var(--bvc-faint)" });
}

/** @param {Canvas} canvas */
function tellNote(canvas) {
  const { data, frame: { parts }, place, quiet, token } = canvas;
  const marks = data.changed ? ["Underlined numbers were changed."] : [];
  const signs = "Grey is negative.";
  if (place.strip) return [signs, ...marks];
  if (place.level === "head") return [signs, `Row ${token}: what it asks, and what it is answered.`, ...marks];
  const every = writeCount(data.size.width);
  if (place.level === "layer") return [signs, `Choose a strip's title to see all ${every} of its numbers.`, ...marks];
  const told = (/** @type {string} */ part) => {
    const stage = stageOf(canvas, part);
    return stage ? tellColumns(canvas, stage, parts[part].w) : "";
  };
  const beyond = data.window.total > canvas.frame.count ? ["↑ ↓: what tokens above and below get."] : [];
  const size = data.face === "difference" ? "size of the change" : "weight";
  const own = `neurons.${canvas.open}`;
  const neurons = parts[own].w > 4 ? `; neurons ${told(own)}: the strongest at ${token}, then others` : "";
  return [
    signs, ...(quiet ? [tellQuiet(canvas)] : []),
    `Ribbons: attention of ${token}, ${data.size.heads > 1 ? `mean of ${data.size.heads} heads` : "the only head"}, opacity = ${size}.`,
    ...beyond, `Drawn: embedding ${told("embedding")}, output ${told(`output.${canvas.open}`)}${neurons}.`, ...marks,
    `For all ${every}, choose a layer, in it a strip's title.`,
  ];
}

/** @param {Canvas} canvas */
function tellQuiet({ data, stages, place }) {
  const values = stages.get(`ribbons.${place.layer}`)?.values ?? [];
  const share = data.tokens.reduce((all, { special }, i) => all + (special ? values[i] ?? 0 : 0), 0);
  return `Without special tokens: ${writePercent(share)} of layer ${place.layer} is not drawn.`;
}
