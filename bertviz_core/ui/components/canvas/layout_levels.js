// What is drawn at each level, from left to right: [{id, width | flex, gap}], hidden parts without either.

/** @import { Column, Frame, Scene } from "./types.js" */

import { clamp } from "../shared/clamp.js";
import { hide, hideBlock, INNER, KEY_CELL, listAll } from "./layout_parts.js";
import { namePart } from "./parts.js";
import { CARD } from "./sizes.js";

const BLOCK = { ribbons: 4.6, neurons: 2.45, output: 2.3 };
const CROWDED = 90; // pixels of a layer below which only the chosen one is drawn with all that it holds

// Every layer is in each list: what a list does not show of a layer stands in it without a width.
/** @param {Scene} scene @param {(layer: number, chosen: boolean) => Column | Column[]} show */
function listLayers({ size, place }, show) {
  return Array.from({ length: size.layers }, (_, i) => show(i, i === place.layer)).flat();
}

/** @param {Scene} scene @returns {Column[]} */
export function listPass(scene) {
  const { narrow, size, words, width } = scene;
  const gap = narrow || size.layers > 8 ? 8 : 14;
  const [chips, embedding, most] = narrow ? [92, 44, CARD.narrow] : [112, 72, CARD.wide];
  const roomFor = (/** @type {number} */ answer) => width - chips - embedding - (words ? answer : 0) - 60 - gap * size.layers;
  const isTight = (/** @type {number} */ answer) => roomFor(answer) / size.layers < CROWDED;
  const answer = isTight(most) ? CARD.narrow : most;
  const [room, crowded] = [roomFor(answer), isTight(answer)];
  const chosen = Math.min(151, room / 3);
  return [
    { id: "tokens", width: chips, gap: 12 }, { id: "embedding", width: embedding, gap: 16 },
    ...listLayers(scene, (i) => listBlock(i, i === scene.open, crowded ? chosen : 0, gap)),
    ...(words ? [{ id: "words", width: answer }] : hide("words")), ...hide("panel", "sum2"),
  ];
}

// A layer from its attention to its output. wide: pixels of the chosen one where the others have less; 0: all alike.
/** @param {number} i @param {boolean} here @param {number} wide @param {number} gap @returns {Column[]} */
function listBlock(i, here, wide, gap) {
  const total = BLOCK.ribbons + BLOCK.neurons + BLOCK.output;
  /** @param {keyof typeof BLOCK} name */
  const of = (name) => (wide && here ? { width: ((wide - 10) * BLOCK[name]) / total } : { flex: BLOCK[name] });
  const inner = here ? hide(...INNER) : [];
  if (wide && !here) {
    return [{ id: `ribbons.${i}`, flex: 4.6, gap: 2 }, ...hide(`neurons.${i}`), { id: `output.${i}`, flex: 1.8, gap }];
  }
  return [
    { id: `ribbons.${i}`, ...of("ribbons"), gap: 5 }, ...inner, { id: `neurons.${i}`, ...of("neurons"), gap: 5 },
    { id: `output.${i}`, ...of("output"), gap },
  ];
}

// The stages before and after the chosen layer, as thin spines.
/** @param {Scene} scene @param {number} from @param {number} to @param {number} [last] @returns {Column[]} */
function listSpines({ size, place, narrow }, from, to, last = 12) {
  const ids = [];
  for (let i = from; i < to; i++) ids.push(i < 0 ? "embedding" : `output.${i}`);
  const pitch = Math.min(narrow ? 12 : 21, (narrow ? 70 : 150) / Math.max(size.layers, 1));
  return ids.flatMap((id, i) => {
    const layer = Number(id.split(".")[1] ?? -1);
    const gap = i === ids.length - 1 ? last : pitch * 0.24;
    const inner = layer < 0 || layer === place.layer ? [] : hideBlock(layer);
    return [...inner, { id, width: pitch * 0.76, gap, spine: true }];
  });
}

// One strip of a layer alone over the whole width.
/** @param {Scene} scene @returns {Column[]} */
export function listWhole(scene) {
  const { place, phone } = scene;
  const part = place.strip === null ? null : namePart(scene, place.strip).part;
  const alone = (/** @type {string} */ id) => (id === part ? { id, flex: 1 } : { id });
  return [{ id: "tokens", width: phone ? 84 : 112, gap: 12 }, ...listAll(scene, 0).map(alone)];
}

/** @param {Scene} scene @returns {Column[]} */
export function listLayer(scene) {
  const { place: { layer }, size, narrow, words } = scene;
  const input = layer ? `output.${layer - 1}` : "embedding";
  const [gap, wide, plus] = narrow ? [7, 16, 28] : [15, 26, 38];
  /** @param {[id: string, flex: number, gap: number][]} list */
  const strips = (list) => list.map(([id, flex, after]) => ({ id, flex, gap: after }));
  return [
    { id: "tokens", width: narrow ? 84 : 112, gap: 12 }, ...listSpines(scene, -1, layer - 1),
    ...(layer ? hideBlock(layer - 1) : []), ...hide(`ribbons.${layer}`),
    ...strips([[input, 3.6, wide], ["query", 4, gap], ["key", 4, gap], ["value", 4, wide - 6]]), ...hide(
      "matrix", "collect"
    ),
    ...strips([["weights", narrow ? 19 : 26, wide - 6], ["context", 5.4, plus]]), ...hide("added"),
    ...strips([["sum", 4.4, gap], ["norm", 4.4, wide], [`neurons.${layer}`, 4.4, plus], ["sum2", 4.4, gap],
      [`output.${layer}`, 4.4, 16]]),
    ...listSpines(scene, layer + 1, size.layers, 16), ...hide("panel"),
    ...(words && !narrow ? [{ id: "words", width: CARD.layer }] : hide("words")),
  ];
}

/** @param {Scene} scene @returns {Column[]} */
export function listHead(scene) {
  const { place: { layer }, size, narrow, width } = scene;
  const gap = narrow ? 16 : 30;
  const room = width - (narrow ? 84 : 112) - Math.min(150, 21 * size.layers) - 60;
  /** @param {Frame} frame */
  const matrix = ({ row, count }) => Math.min(row * count * 1.15, Math.max(KEY_CELL * count, room * 0.42));
  const strip = (/** @type {Frame} */ frame) => clamp((room - matrix(frame) - 4 * gap - (narrow ? 40 : 70)) / 4, 36, 160);
  return [
    { id: "tokens", width: narrow ? 84 : 112, gap: 12 }, ...listSpines(scene, -1, layer, 18), ...hide(
      `ribbons.${layer}`
    ),
    { id: "query", width: strip, gap }, { id: "key", width: strip, gap: gap + (narrow ? 0 : 12) }, ...hide("weights"),
    { id: "matrix", width: matrix, gap }, { id: "value", width: strip, gap: 2 }, { id: "collect", flex: 1, gap: 2 },
    { id: "context", width: strip, gap: 16 }, ...hide("added", "sum", "norm", `neurons.${layer}`, "sum2", "panel"),
    ...listSpines(scene, layer, size.layers, 0), ...hide("words"),
  ];
}
