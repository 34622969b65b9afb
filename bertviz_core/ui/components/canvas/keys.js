// The keyboard: one stop of the Tab key for the whole picture. The cursor is what findTarget() gives.

/** @import { Canvas } from "./canvas.js" */

import { clampIndex } from "../shared/clamp.js";
import { findInside } from "../shared/element.js";
import { listPlaces, listStops, setCursor, setTitle, startCursor, strongestKey } from "./cursor.js";
import { findStrip } from "./parts.js";
import { act } from "./point.js";
import { moveWindow } from "./rail.js";

export const KEYS = [
  ["↑ ↓ ← →", "from cell to cell"], ["Ctrl ← →", "from stage to stage"], ["Page ↑ ↓", "further tokens"],
  ["Enter", "open, explain"], ["Esc", "one level up"], ["[ ]", "layer"], ["{ }", "head"], ["Space", "play, pause"],
  ["At a stop ← →", "the next stop, the one before"], ["Shift ← →", "a step inside of the stop"],
  ["?", "this help"],
];
/** @type {Record<string, [down: number, right: number]>} */
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** @param {Canvas} canvas @param {AbortSignal} signal */
export function listenToKeys(canvas, signal) {
  canvas.stage.addEventListener("keydown", (event) => pressed(canvas, event) && event.preventDefault(), { signal });
  canvas.stage.addEventListener("focus", () => canvas.draw(), { signal });
  canvas.stage.addEventListener("blur", () => canvas.draw(), { signal });
  findInside(canvas.root, ".bvc-ask").addEventListener("focus", () => canvas.stage.focus({ preventScroll: true }), {
    signal,
  });
  // At a stop the arrows mean the walk wherever the focus is, as long as nothing else on the page has it.
  document.addEventListener("keydown", (event) => {
    if (isFree(canvas) && walk(canvas, event)) {
      event.preventDefault();
      event.stopPropagation();
    }
  }, { signal, capture: true });
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || !isFree(canvas) || canvas.explained.cell || event.key !== "Escape") return;
    if (!canvas.chrome.hideHelp()) canvas.leave();
  }, { signal });
}

/** @param {Canvas} canvas */
function isFree({ root }) {
  return document.activeElement === document.body || root.contains(document.activeElement);
}

// Left and right at a stop: whether that is what was pressed.
/** @param {Canvas} canvas @param {KeyboardEvent} event */
function walk({ player, place, chrome }, { key, shiftKey, ctrlKey, metaKey, altKey }) {
  const by = ARROWS[key]?.[1];
  if (!place.stop || !by || ctrlKey || metaKey || altKey || chrome.help.open) return false;
  return shiftKey ? player.stepInside(by) : player.step(by);
}

// Whether the key meant something here.
/** @param {Canvas} canvas @param {KeyboardEvent} event */
function pressed(canvas, { key, ctrlKey, metaKey, altKey }) {
  if (metaKey || altKey) return false;
  if (key in ARROWS) return move(canvas, ARROWS[key][0], ARROWS[key][1], ctrlKey);
  /** @type {Record<string, () => unknown>} */
  const commands = {
    Enter: () => open(canvas), " ": () => canvas.player.toggle(), "?": () => canvas.chrome.showHelp(),
    "[": () => stepLayer(canvas, -1), "]": () => stepLayer(canvas, 1),
    "{": () => stepHead(canvas, -1), "}": () => stepHead(canvas, 1),
    PageUp: () => page(canvas, -1), PageDown: () => page(canvas, 1), Home: () => jump(canvas, 0), End: () => jump(
      canvas, Infinity
    ),
  };
  if (!(key in commands) || (ctrlKey && key !== "Home" && key !== "End")) return false;
  commands[key]();
  return true;
}

/** @param {Canvas} canvas @param {number} by */
function stepLayer(canvas, by) {
  const layer = clampIndex(canvas.place.layer + by, canvas.data.size.layers);
  canvas.go({ layer });
  canvas.chrome.say(`Layer ${layer}`);
}

/** @param {Canvas} canvas @param {number} by */
function stepHead(canvas, by) {
  const { heads } = canvas.data.size;
  const head = (canvas.place.head + by + heads) % heads;
  canvas.go({ head });
  canvas.chrome.say(`Head ${head} of layer ${canvas.place.layer}`);
}

/** @param {Canvas} canvas @param {number} by */
function page(canvas, by) {
  const { data, frame, first = 0 } = canvas;
  moveWindow(canvas, data.window.start + first + by * Math.round(frame.count));
}

/** @param {Canvas} canvas @param {number} row */
function jump(canvas, row) {
  const cursor = startCursor(canvas);
  const places = listPlaces(canvas, cursor.part);
  setCursor(canvas, cursor.part, cursor.where.row, row ? places.length - 1 : 0);
}

// Enter: what the cursor is at; without one, one level down.
/** @param {Canvas} canvas */
function open(canvas) {
  const { cursor, place, at } = canvas;
  if (cursor) return act(canvas, cursor);
  if (place.level === "pass") return canvas.go({ level: "layer" });
  if (place.level === "layer") return canvas.go({ level: "head" });
  return setCursor(canvas, "matrix", at, strongestKey(canvas));
}

/** @param {Canvas} canvas @param {number} down @param {number} right @param {boolean} far */
function move(canvas, down, right, far) {
  if (!canvas.frame) return true;
  const began = !canvas.cursor;
  const cursor = startCursor(canvas);
  const { part, index, where, strip } = cursor;
  if (began) return setCursor(canvas, part, where.row, index);
  if (strip && down > 0) return setCursor(canvas, part, where.row, index);
  if (!strip && down < 0 && !where.row && canvas.place.level === "layer" && findStrip(canvas, part)) {
    return setTitle(canvas, cursor);
  }
  const row = clampIndex(where.row + down, canvas.data.tokens.length);
  const stops = listStops(canvas);
  const next = index + right;
  const inside = !far && next >= 0 && next < listPlaces(canvas, part).length;
  if (!right || inside) return setCursor(canvas, part, row, next);
  const other = stops[stops.indexOf(part) + right];
  return other ? setCursor(canvas, other, row, right > 0 || far ? 0 : Infinity) : true;
}
