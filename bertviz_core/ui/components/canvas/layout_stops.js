// Where everything stands at a stop of the walk, and on a phone: what the stop is about, and its picture beside it.

/** @import { Column, Frame, Scene } from "./types.js" */

import { hide, KEY_CELL, listAll } from "./layout_parts.js";
import { STOP } from "./place.js";

// The parts that a stop shows: [id, width of the window's in hundredths, gap]; the picture takes the rest.
/** @type {Record<number, (names: { layer: number, before: string, last: string }) => [id: string, share?: number, gap?: number][]>} */
const STOP_PARTS = {
  [STOP.cut]: () => [["panel"]],
  [STOP.lookUp]: () => [["panel", 0, 44], ["embedding", 15]],
  [STOP.ask]: ({ before }) => [[before, 9, 26], ["query", 11, 14], ["key", 11, 14], ["value", 11, 44], ["panel"]],
  [STOP.compare]: () => [["query", 8, 22], ["key", 8, 30], ["matrix", 0, 44], ["panel"]],
  [STOP.divide]: () => [["query", 8, 22], ["key", 8, 30], ["matrix", 0, 44], ["panel"]],
  [STOP.collect]: () => [["matrix", 0, 26], ["value", 10, 2], ["collect", 6, 2], ["context", 10, 44], ["panel"]],
  [STOP.join]: () => [["context", 10, 26], ["added", 9, 48], ["panel"]],
  [STOP.add]: ({ before }) => [[before, 8, 14], ["added", 8, 36], ["sum", 8, 14], ["norm", 8, 48], ["panel"]],
  [STOP.neurons]: ({ layer }) => [
    ["norm", 7, 14], [`neurons.${layer}`, 12, 36], ["sum2", 6, 14], [`output.${layer}`, 7, 48], ["panel"],
  ],
  [STOP.word]: ({ last }) => [[last, 13, 44], ["panel"]],
};

// On a phone one of these groups is seen at a time.
const PHONE_GROUPS = {
  layer: [["Q K V", "query", "key", "value"], ["Heads", "weights"], ["Sum", "context", "sum", "norm"],
    ["Neurons", "neurons", "sum2", "output"]],
  head: [["Q and K", "query", "key"], ["Weights", "matrix"], ["Values", "value", "collect", "context"]],
};

/** @type {Record<string, number>} */
const PHONE_FLEX = { ribbons: 5, neurons: 2.4 }; // of parts that are not as wide as others

/** @param {Scene} scene @returns {Column[]} */
export function listStop(scene) {
  const { place: { layer, stop }, size, width, narrow } = scene;
  const names = { layer, before: layer ? `output.${layer - 1}` : "embedding", last: `output.${size.layers - 1}` };
  const shown = new Map(STOP_PARTS[stop](names).map(([id, share = 0, gap = 0]) => [id, { id, share, gap }]));
  /** @param {Frame} frame */
  const matrix = ({ row, count }) => Math.min(
    row * count, Math.max(KEY_CELL * count, width * (stop === STOP.collect ? 0.22 : 0.27))
  );
  /** @param {{ id: string, share?: number, gap?: number }} part @returns {Column} */
  const place = ({ id, share, gap }) => {
    if (share === undefined || gap === undefined) return { id };
    if (id === "panel") return { id, flex: 1, gap };
    return { id, gap: narrow ? gap * 0.6 : gap, width: id === "matrix" ? matrix : (width * share) / 100 };
  };
  const order = listAll(scene, stop);
  return [
    { id: "tokens", width: narrow ? 92 : 112, gap: 16 },
    ...order.map((id) => place(shown.get(id) ?? { id })),
  ];
}

// The groups of stages of a phone: their names, and the parts of each.
/** @param {Scene} scene @returns {string[][]} */
export function listGroups({ place: { level, layer }, size, words, phone }) {
  if (!phone) return [];
  if (level === "pass") {
    const layers = Array.from(
      { length: size.layers }, (_, i) => [`Layer ${i}`, `ribbons.${i}`, `neurons.${i}`, `output.${i}`]
    );
    return [["Embedding", "embedding"], ...layers, ...(words ? [["Words", "words"]] : [])];
  }
  const name = (/** @type {string} */ id) => (["neurons", "output"].includes(id) ? `${id}.${layer}` : id);
  return PHONE_GROUPS[level].map(([title, ...ids]) => [title, ...ids.map(name)]);
}

/** @param {Scene} scene @returns {Column[]} */
export function listPhone(scene) {
  const { place: { stop }, group } = scene;
  const groups = listGroups(scene);
  const ids = stop ? ["panel"] : groups[Math.min(group, groups.length - 1)].slice(1);
  const rows = !stop || [STOP.divide, STOP.collect].includes(stop); // the others need the width
  return [
    ...(rows ? [{ id: "tokens", width: 84, gap: 8 }] : hide("tokens")),
    ...listAll(scene, stop).map((id) => (ids.includes(id) ? { id, flex: PHONE_FLEX[id.split(".")[0]] ?? 3, gap: 8 } : { id })),
  ];
}
