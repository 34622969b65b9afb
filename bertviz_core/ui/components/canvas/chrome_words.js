// What stands around the picture, as HTML.

/** @import { Canvas } from "./canvas.js" */
/** @import { Cell, Place } from "./types.js" */

import { writeAmount, writeCount, writeNumber, writePercent } from "../shared/numbers.js";
import { isPut, readValue } from "./data.js";
import { escapeHtml, ICONS, writeButton } from "./html.js";
import { listGroups } from "./layout_stops.js";
import { joins, namePart, stageOf } from "./parts.js";
import { LEVELS } from "./place.js";
import { countMinutes } from "./reading.js";
import { PHONE } from "./sizes.js";
import { nameStage } from "./titles.js";
import { nameCell } from "./told.js";

/** @param {Canvas} canvas */
export function writeCrumbs(canvas) {
  const { place, data } = canvas;
  if (place.stop) return `${writeButton("level:pass", "The whole pass")}<span>›</span><b>stop ${place.stop} of ${data.stops.length}</b>`;
  /** @type {Record<string, string>} */
  const names = {
    pass: "The whole pass", layer: `Layer ${place.layer}`, head: `Head ${place.head}`,
    strip: place.strip === null ? "" : nameStrip(canvas, place.strip),
  };
  const way = [...LEVELS.slice(0, LEVELS.indexOf(place.level) + 1), ...(place.strip ? ["strip"] : [])];
  const crumbs = way.map((level, i) => (i === way.length - 1 ? `<b aria-current="true">${names[level]}</b>`
    : writeButton(`level:${level}`, names[level]))).join("<span>›</span>");
  return crumbs + (place.component === null ? "" : writeComponent(place));
}

// While a layer's own numbers are on their way, a strip is called as it was of the layer before.
/** @param {Canvas} canvas @param {string} strip */
function nameStrip(canvas, strip) {
  const stage = stageOf(canvas, namePart(canvas, strip).part) ?? canvas.stages.get(strip);
  return stage ? nameStage(stage, canvas)[0] : strip;
}

/** @param {Canvas} canvas */
function tellFold({ place, frame, data }) {
  const total = data.size[place.strip === "neurons" ? "neurons" : "width"];
  const lines = frame?.lines > 1 ? `, line by line, ${writeCount(Math.ceil(total / frame.lines))} to a line` : "";
  return `All ${writeAmount(total, "number")} of each token${lines}`;
}

// The chosen component, with which it is let go of.
/** @param {Place} given */
function writeComponent({ component }) {
  const more = `class="bvc-component" aria-label="Component ${component}: let go of it"`;
  const name = '<span class="bvc-wide">component</span><span class="bvc-short">comp.</span>';
  return writeButton("component", `${name} ${component} <span aria-hidden="true">×</span>`, more);
}

/** @param {Canvas} canvas */
export function writeTitle(canvas) {
  const { place, data } = canvas;
  if (place.stop) return `<b>${escapeHtml(data.stops[place.stop - 1]?.title ?? "")}</b>${writeLayers(canvas)}`;
  if (place.level === "pass") return "";
  const { layer, head } = place;
  if (place.strip) return tellFold(canvas);
  if (place.level === "layer") {
    const found = joins(canvas, "sum") ? "adds what it found" : "keeps only what it found";
    return `<span class="bvc-wide">In layer ${layer} every</span><span class="bvc-short">Every</span> token looks around, ` +
      `${found}, then thinks<span class="bvc-wide"> for itself</span>`;
  }
  const name = `Head ${head} of layer ${layer}`;
  if (data.face === "difference") return `${name}: how its attention weights changed`;
  const most = findMost(canvas);
  if (!most) return name;
  const token = escapeHtml(canvas.token);
  if (most.nowhere) return `${name}: ${token} looks nowhere, all its attention weights are 0`;
  if (most.share <= 0) return `${name}: ${token} has no attention weight above 0`;
  return `${name}: ${token} looks at <b class="bvc-kind-attention">“${escapeHtml(most.text)}”</b> with ` +
    `<b>${writePercent(most.share)}</b>`;
}

// At a stop inside of a layer: which of the layers that is, and that it is alike in all of them.
/** @param {Canvas} canvas */
function writeLayers({ place, data: { size, stops } }) {
  if (stops[place.stop - 1]?.level === "pass") return "";
  const boxes = Array.from({ length: size.layers }, (_, i) => (i === place.layer ? "<i class=\"bvc-here\"></i>" : "<i></i>"));
  const alike = size.layers > 1 ? `<span class="bvc-wide">; the same happens in each of the ${size.layers} layers</span>` : "";
  return `<span class="bvc-layers" style="--layers:${size.layers}"><span aria-hidden="true">${boxes.join("")}</span>layer ${place.layer}` +
    `${alike}</span>`;
}

/** @type {("layer" | "head" | "token")[]} */
const PLACED = ["layer", "head", "token"]; // what decides where a token looks

// Which token the chosen one looks at most, {text, share, nowhere}; null where that is not known here.
/** @param {Canvas} canvas */
function findMost(canvas) {
  const { data, place, at } = canvas;
  if (PLACED.every((name) => data.most[name] === place[name])) return data.most;
  const stage = stageOf(canvas, "matrix");
  if (!stage || !data.tokens[at] || data.tokens.length < data.window.total) return null;
  const weights = data.tokens.map((_, key) => readValue(stage, { row: at, key }));
  const share = Math.max(...weights);
  return { share, text: data.tokens[weights.indexOf(share)].text, nowhere: weights.every((weight) => !weight) };
}

/** @param {Canvas} canvas */
export function writeActions(canvas) {
  const { data, place } = canvas;
  if (place.stop) return writeButton("end", "End the walk", 'class="bvc-button"');
  if (place.level === "head" && data.why) return `<span class="bvc-why">${escapeHtml(data.why)}</span>`;
  if (place.level !== "pass") return "";
  const others = data.examples.map((each, i) => ({ ...each, i })).filter(({ text }) => text !== data.sentence).slice(
    0, 3
  );
  const examples = others.map(({ name, text, pair, i }) => writeButton(`example:${i}`, escapeHtml(name),
    `class="bvc-example bvc-optional" title="${escapeHtml([text, pair].filter(Boolean).join(" / "))}"`));
  const show = `${ICONS.play}<span>Show me<span class="bvc-wide"> (${countMinutes(canvas)} min)</span></span>`;
  return writeButton("play", show, 'class="bvc-main"') +
    writeButton("", "Type your own", 'class="bvc-button bvc-optional" data-write') + examples.join("");
}

/** @param {Canvas} canvas */
export function writeStrip(canvas) {
  const { place, group, size, data } = canvas;
  if (innerWidth > PHONE || !size) return "";
  if (place.stop) return data.stops.map(({ name }, i) => writeTab(`stop:${i + 1}`, name, place.stop === i + 1)).join("");
  const up = place.level === "pass" ? "" : writeButton("up", "‹ Up");
  return up + listGroups(canvas.survey()).map(([title], i) => {
    const pressed = group === i && !place.strip;
    const words = pressed ? title : title.replace("Layer ", "").replace("Embedding", "Embed"); // so that all fit
    return writeButton(`group:${i}`, words, `aria-label="${title}" aria-pressed="${pressed}" tabindex="${pressed ? 0 : -1}"`);
  }).join("");
}

/** @param {Canvas} canvas */
export function writeTabs({ place }) {
  const tabs = [
    ["level:pass", "Pass", "pass"], ["level:layer", "Layer", "layer"], ["level:head", "Head", "head"],
    ["play", "Play", "play"],
  ];
  const now = place.stop ? "play" : place.level;
  return tabs.map(([does, name, is]) => writeTab(does, name, is === now)).join("");
}

/** @param {string} does @param {string} name @param {boolean} pressed */
function writeTab(does, name, pressed) {
  return writeButton(does, name, `aria-pressed="${pressed}" tabindex="${pressed ? 0 : -1}"`);
}

/** @param {Canvas} canvas @param {Cell} cell */
export function writeReadout(canvas, { stage, where }) {
  const { data } = canvas;
  const value = readValue(stage, where);
  const mean = stage.size.length === 1;
  const sign = data.face === "difference" && value > 0 ? "+" : "";
  const face = data.changed && data.face !== "after" ? `<span class="bvc-count">${data.face}</span>` : "";
  const made = isPut(stage, where) ? "put there by a change"
    : `made from ${stage.from}${stage.used ? ` · used by ${stage.used}` : ""}`;
  return `<b class="bvc-value bvc-kind-${stage.kind}" data-value="${value}">${sign}${writeNumber(value)}</b>${face}` +
    `<span class="bvc-name">${escapeHtml(nameCell(canvas, stage, where))}</span><code class="bvc-address">${mean ? "" : escapeHtml(canvas.stages.write(stage, where))}</code>` +
    `<span class="bvc-formula">${isPut(stage, where) ? "" : stage.formula}</span><span class="bvc-count">${made}</span>`;
}
