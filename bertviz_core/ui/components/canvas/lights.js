// What is spoken of: the explained cell and its operands, where they are drawn, what a stop tells of.

/** @import { Canvas } from "./canvas.js" */
/** @import { Region, Where } from "./types.js" */

import { isOfQueryAndKey, isPrediction } from "../shared/addresses.js";
import { findBeside, isOfStream, namePart, partOf, stageOf } from "./parts.js";
import { STOP } from "./place.js";

/** @type {("row" | "column")[]} */
const SHARED = ["row", "column"]; // what many operands may have in common
const MANY = 3; // more operands than this in one row or column are outlined together
/** @type {Record<string, string[]>} */
const SOURCES = {
  query: ["input"], key: ["input"], value: ["input"], sum: ["input", "context"], norm: ["sum"], neurons: ["norm"],
  sum2: ["norm", "neurons"], output: ["sum2"],
};

// What keeps its full colour while all else is dimmed; null where nothing is spoken of. [{part, row?, column?, key?}]
/** @param {Canvas} canvas @returns {Region[] | null} */
export function findLights(canvas) {
  if (canvas.focus) return [namePart(canvas, canvas.focus)];
  const { cell, operands } = canvas.explained;
  if (cell) {
    const found = listExplained(canvas, cell, operands);
    return found && [...found, ...findComponent(canvas, canvas.place.component)];
  }
  return canvas.place.stop ? listStopLights(canvas) : null;
}

/** @param {Canvas} canvas @param {string} cell @param {string[]} operands @returns {Region[] | null} */
function listExplained(canvas, cell, operands) {
  const rings = findDrawn(canvas, cell);
  const regions = listRegions(canvas, cell, operands);
  if (isPrediction(cell)) {
    const { data: { size, words } } = canvas;
    return words ? [{ part: "words" }, { part: `output.${size.layers - 1}`, row: canvas.at }] : null;
  }
  return rings.length || regions.length ? [...rings.map(({ part, where }) => ({ part, ...where })), ...regions] : null;
}

// Where a cell stands in the picture: [{part, where}].
/** @param {Canvas} canvas @param {string} address @returns {{ part: string, where: Where }[]} */
export function findDrawn(canvas, address) {
  return canvas.stages.find(address).flatMap(({ stage, where }) => {
    const part = partOf(canvas, stage);
    const box = part && canvas.frame.parts[part];
    return box && box.a > 0.4 && box.w > 1 ? [{ part, where }] : [];
  });
}

// The operands of the explained cell, as rows, columns or single cells of parts.
/** @param {Canvas} canvas @param {string} cell @param {string[]} operands @returns {Region[]} */
export function listRegions(canvas, cell, operands) {
  const [shown] = findDrawn(canvas, cell);
  if (shown && isOfQueryAndKey(cell) && "key" in shown.where) {
    const { row, key, head } = shown.where;
    const own = { part: shown.part, row, ...(head === undefined ? {} : { head }) };
    return [{ part: "query", row }, { part: "key", row: key }, own];
  }
  /** @type {Map<string, Where[]>} */
  const groups = new Map();
  for (const part of listSources(canvas, shown)) groups.set(part, []);
  for (const { part, where } of operands.flatMap((address) => findDrawn(canvas, address))) {
    groups.set(part, [...(groups.get(part) ?? []), where]);
  }
  const gathered = (/** @type {Where[]} */ cells) => (cells.length || !shown ? gather(cells) : [{ row: shown.where.row }]);
  return [...groups].flatMap(([part, cells]) => gathered(cells).map((region) => ({ part, ...region })));
}

// The stages from whose rows a cell is made, where its own operands are not all drawn.
/** @param {Canvas} canvas @param {{ part: string, where: Where } | undefined} shown @returns {string[]} */
function listSources(canvas, shown) {
  if (!shown || shown.where.key !== undefined) return [];
  const sources = SOURCES[shown.part.split(".")[0]] ?? [];
  const own = stageOf(canvas, shown.part)?.layer === canvas.place.layer;
  const parts = own ? sources.map((id) => namePart(canvas, id).part) : [];
  return parts.filter((part) => canvas.frame.parts[part]?.w > 1);
}

/** @param {Where[]} cells @returns {Partial<Where>[]} */
function gather(cells) {
  for (const name of SHARED) {
    if (cells.length > MANY && cells.every((cell) => cell[name] === cells[0][name])) {
      const { head } = cells[0];
      return [{ [name]: cells[0][name], ...(head === undefined ? {} : { head }) }];
    }
  }
  return cells;
}

/** @param {Canvas} canvas @returns {Region[] | null} */
function listStopLights(canvas) {
  const { data, place, at } = canvas;
  const stop = data.stops[place.stop - 1];
  if (!stop) return null;
  const key = findBeside(canvas);
  if (place.stop === STOP.ask) {
    const input = namePart(canvas, "input");
    return [{ ...input, row: at }, { ...input, row: key }, { part: "query", row: at }, { part: "key", row: key }, {
      part: "value", row: key,
    }];
  }
  if (place.stop === STOP.compare) {
    return [{ part: "query", row: at }, { part: "key", row: key }, { part: "matrix", row: at }];
  }
  if (place.stop === STOP.divide) return [{ part: "matrix", row: at }];
  return stop.lights.map((id) => namePart(canvas, id));
}

// Where a component of the residual stream is drawn, none being null: [{part, column}].
/** @param {Canvas} canvas @param {number | null} component @returns {{ part: string, column: number }[]} */
export function findComponent(canvas, component) {
  return Object.keys(canvas.frame.parts).flatMap((part) => {
    const stage = part.startsWith("ribbons") ? null : stageOf(canvas, part);
    const column = stage && component !== null && isOfStream(canvas, stage) ? stage.columns.indexOf(component) : -1;
    return column < 0 ? [] : [{ part, column }];
  });
}
