// Where everything stands. Each part has a place at every level, of no width where it is not shown, so that going from
// one level to another is one continuous movement.

/** @import { Column, Frame, PartBox, Scene } from "./types.js" */

import { clamp } from "../shared/clamp.js";
import { listHead, listLayer, listPass, listWhole } from "./layout_levels.js";
import { hasKeys, KEY_CELL } from "./layout_parts.js";
import { listPhone, listStop } from "./layout_stops.js";
import { STOP } from "./place.js";
import { EDGE, FOLDED } from "./sizes.js";

const ROW = { least: 15, most: 46 };
const PHONE_ROW = { least: 26, most: 44 };
const PHONE_STOP_ROW = { least: 17, most: 44 };
const STUBS = 14; // pixels over and under the rows for what goes to tokens out of sight
const RAIL = 18; // pixels at the right for the rail of a long sentence,
const SLANT = 22; // or on a phone for the slanted name of the last key

/** @param {Scene} scene @returns {Frame} */
export function arrange(scene) {
  const columns = listColumns(scene);
  const phone = scene.phone;
  const { least, most } = !phone ? ROW : scene.place.stop ? PHONE_STOP_ROW : PHONE_ROW;
  const [head, legend] = phone ? [52, scene.place.stop && scene.place.stop !== STOP.collect ? 10 : 30] : [64, 38];
  const stubs = scene.total * least > scene.height - head - legend || scene.total > scene.rows ? STUBS : 0;
  const top = head + stubs;
  const room = scene.height - top - legend - stubs;
  const fold = scene.place.strip ? foldRows(scene, room) : { lines: 1, least, most };
  const count = Math.max(1, Math.min(scene.rows, Math.floor(room / fold.least), limitKeys(scene)));
  const row = Math.min(fold.most, Math.floor((room / count) * 4) / 4);
  const { width, height } = scene;
  /** @type {Frame} */
  const frame = {
    top, ceiling: top - 4, stubs, row, count, first: chooseFirst(scene, count), width, height, phone, lines: fold.lines,
    parts: {}, lifted: 0,
  };
  const sized = columns.map((column) => (
    { ...column, width: typeof column.width === "function" ? column.width(frame) : column.width }
  ));
  const beside = Math.max(scene.total > count ? RAIL : 0, phone && hasKeys(scene.place) ? SLANT : 0);
  frame.parts = lineUp(sized, EDGE, width - EDGE - beside, frame);
  frame.lifted = scene.covered ? lift(scene, frame) : 0;
  frame.top -= frame.lifted;
  return frame;
}

// What is drawn at a level, from left to right: [{id, width | flex, gap}], hidden ones without either.
/** @param {Scene} scene @returns {Column[]} */
function listColumns(scene) {
  const { level, stop, strip } = scene.place;
  if (strip) return listWhole(scene);
  if (scene.phone) return listPhone(scene);
  if (stop) return listStop(scene);
  return { pass: listPass, layer: listLayer, head: listHead }[level](scene);
}

// A strip that is seen whole: each row's numbers in as many lines as make the cells largest. lines: in a row; least,
// most: pixels of a row.
/** @param {Scene} scene @param {number} room */
function foldRows({ width, rows, numbers, phone }, room) {
  const wide = width - (phone ? 110 : 160);
  const fold = (/** @type {number} */ side) => {
    const lines = Math.ceil(numbers / Math.floor(wide / side));
    return { lines, least: lines * side + FOLDED.blank, most: lines * FOLDED.most + FOLDED.blank };
  };
  let side = FOLDED.most;
  while (side > FOLDED.least && fold(side).least * rows > room) side -= 0.5;
  return fold(side);
}

// Keys of a head are columns too: no more rows than there is room for as columns.
/** @param {Scene} scene */
function limitKeys({ place, phone, width }) {
  if (!hasKeys(place)) return Infinity;
  return Math.max(4, Math.floor((phone ? width - 84 : (width - 300) * 0.5) / KEY_CELL));
}

// The first row that is drawn: the one that was rolled to, or as far as can be the one from before, with the chosen token
// among the rows, and the one that is spoken of beside it if both fit. The rows of the explained cell come before either.
/** @param {Scene} scene @param {number} count */
function chooseFirst({ rows, at, beside, first, rolled, spoken }, count) {
  const middle = Math.abs(at - beside) < count ? Math.floor((at + beside) / 2) : at;
  const wanted = first ?? middle - Math.floor(count / 2);
  const seen = bring(bring(wanted, [at], count), spoken, count);
  return clamp(rolled ? wanted : seen, 0, rows - count);
}

// The first row, moved on as little as can be so that these rows are drawn; the first of them where not all fit.
/** @param {number} first @param {number[]} rows @param {number} count */
function bring(first, rows, count) {
  const [one] = rows;
  if (one === undefined) return first;
  const [low, high] = [Math.min(...rows), Math.max(...rows)];
  const [from, to] = high - low < count ? [low, high] : [one, one];
  return Math.max(Math.min(first, from), to - count + 1);
}

// How far the rows go up so that the explained one is seen above a sheet that covers the lower part of the picture.
/** @param {Scene} scene @param {Frame} frame */
function lift({ covered, shown }, { top, row, first }) {
  return Math.max(0, top + (shown - first + 1) * row - covered);
}

/** @param {Column<number>[]} columns @param {number} left @param {number} right @param {Frame} frame @returns {Record<string, PartBox>} */
function lineUp(columns, left, right, { top, row, count }) {
  const shown = columns.filter(isShown);
  const fixed = shown.reduce((all, { width = 0, gap = 0 }, i) => all + width + (i < shown.length - 1 ? gap : 0), 0);
  const parts = shown.reduce((all, { flex = 0 }) => all + flex, 0);
  const unit = Math.max(0, (right - left - fixed) / (parts || 1));
  /** @type {Record<string, PartBox>} */
  const boxes = {};
  let x = left;
  for (const column of columns) {
    const w = isShown(column) ? column.width ?? (column.flex ?? 0) * unit : 0;
    boxes[column.id] = { x, w, y: top, h: row * count, a: isShown(column) ? 1 : 0 };
    if (isShown(column)) x += w + (column.gap ?? 0);
  }
  return boxes;
}

/** @param {Column} given */
function isShown({ width, flex }) {
  return width !== undefined || flex !== undefined;
}
