// Which cell stands where in a chart. A trace offers cells by its `meta`: one address, or one a row or point, in which
// {x} and {y} stand for the place of a cell on the axes, {n} for the number of the point, and {q} and {k} for the query
// and key that a map's customdata says of a cell. A place is {row, column}; lists of bars or points have one column.
// Boxes are in pixels from the chart's corner.

/** @import { Axis, Point, Trace } from "../shared/types.js" */
/** @import { Lit, Mark, Spot } from "./types.js" */

import { matchAddress, readAddress, ROW_TOKENS } from "../shared/address.js";
import { clampIndex } from "../shared/clamp.js";
import { writeNumber } from "../shared/numbers.js";
import { measureAxis, nameSubplot } from "../shared/plotly_inside.js";

export const LEAST = 8; // pixels of the smallest mark
export const RIM = 2; // pixels from a dot to its mark

export class Offer {
  /** @type {{ rows: number[], keys: number[] } | undefined} */ tokens;

  /** @param {Trace} trace @param {Point[]} points @param {Axis} xaxis @param {Axis} yaxis */
  constructor(trace, points, xaxis, yaxis) {
    this.trace = trace;
    this.points = points;
    this.xaxis = xaxis;
    this.yaxis = yaxis;
  }

  // What each kind of offer says of itself.

  /** @returns {number} */
  get rows() {
    throw new TypeError("no kind of offer");
  }

  /** @returns {number} */
  get columns() {
    throw new TypeError("no kind of offer");
  }

  // What stands on the axes at a place.
  /** @param {number} _row @param {number} _column @returns {{ x: any, y: any }} */
  place(_row, _column) {
    throw new TypeError("no kind of offer");
  }

  // The place of a point, as Plotly numbers it.
  /** @param {any} _number @returns {Spot} */
  at(_number) {
    throw new TypeError("no kind of offer");
  }

  /** @param {Spot} _place @returns {Mark | null} */
  box(_place) {
    throw new TypeError("no kind of offer");
  }

  /** @param {number} _row @returns {Mark | null} */
  rowBox(_row) {
    throw new TypeError("no kind of offer");
  }

  /** @param {number} _column @returns {Mark | null} */
  columnBox(_column) {
    throw new TypeError("no kind of offer");
  }

  /** @param {Spot} _place @returns {string} */
  describe(_place) {
    throw new TypeError("no kind of offer");
  }

  // The place that a key leads to from another one.
  /** @param {Spot} _place @param {string} _key @param {boolean} _far @returns {Spot} */
  move(_place, _key, _far) {
    throw new TypeError("no kind of offer");
  }

  get subplot() {
    return nameSubplot(this.xaxis, this.yaxis);
  }

  // The place of this offer that is nearest to a place of another one.
  /** @param {Spot} given */
  within({ row, column }) {
    return { row: clampIndex(row, this.rows), column: clampIndex(column, this.columns) };
  }

  /** @param {number} row */
  template(row) {
    const { meta } = this.trace;
    return (Array.isArray(meta) ? meta[row] : meta) ?? "";
  }

  // The address of a place; "" where a click means nothing.
  /** @param {Spot} given */
  address({ row, column }) {
    const { x, y } = this.place(row, column);
    return this.template(row).replace("{x}", x).replace("{y}", y).replace("{n}", String(row));
  }

  // The one place that draws a cell; where many places say the same cell, none of them is it.
  /** @param {string} address */
  find(address) {
    const found = [];
    const { meta } = this.trace;
    const common = Array.isArray(meta) ? null : matchAddress(meta ?? "", address);
    for (let row = 0; row < this.rows && found.length < 2; row++) {
      const said = Array.isArray(meta) ? matchAddress(this.template(row), address) : common;
      if (!said) continue;
      const here = { y: String(this.place(row, 0).y), n: String(row) };
      if ((said.y ?? here.y) !== here.y || (said.n ?? here.n) !== here.n) continue;
      for (let column = 0; column < this.columns && found.length < 2; column++) {
        const x = String(this.place(row, column).x);
        if ((said.x ?? x) === x) found.push({ row, column });
      }
    }
    return found.length === 1 ? found[0] : null;
  }

  // For each row the token that it belongs to as one of these axes says; none where all rows say the same.
  /** @param {string[]} axes */
  listRows(axes) {
    const said = Array.from({ length: this.rows }, (_, row) => {
      const { index } = readAddress(this.template(row));
      const { x, y } = this.place(row, 0);
      /** @type {Record<string, unknown>} */
      const places = { "{y}": y, "{n}": row, "{x}": this.columns > 1 ? undefined : x };
      const given = axes.map((axis) => index.get(axis)).find((each) => each !== undefined);
      return given !== undefined && given in places ? places[given] : given;
    });
    return this.rows > 1 && new Set(said).size === 1 ? [] : said.map(Number);
  }

  // What the columns are, if they are the entries of an axis.
  get columnsAxis() {
    return [...readAddress(this.template(0)).index].find(([, place]) => place === "{x}")?.[0];
  }

  // The column whose name leads to a point below or above the chart: names are printed at a slant.
  /** @param {number} x @param {number} y */
  columnNamed(x, y) {
    const { tickmode, tickvals = [], tickangle = 0, side } = this.xaxis;
    if (tickmode !== "array") return null;
    const turn = (tickangle * Math.PI) / 180;
    const { start, length } = measureAxis(this.yaxis);
    const down = y - start - (side === "top" ? 0 : length);
    const across = x - measureAxis(this.xaxis).start - (Math.sin(turn) ? (down * Math.cos(turn)) / Math.sin(turn) : 0);
    const far = (/** @type {unknown} */ value) => Math.abs(this.xaxis.c2p(value) - across);
    return [...tickvals].reduce((near, value) => (near === null || far(value) < far(near) ? value : near), null);
  }

  // The bands over what belongs to a token: its rows, and its columns as a key.
  /** @param {Lit} given */
  listBands({ row, key }) {
    const bands = [];
    const { index } = readAddress(this.template(0));
    this.tokens ??= { rows: this.listRows(ROW_TOKENS), keys: this.listRows(["key"]) };
    this.tokens.rows.forEach((each, i) => each === row && bands.push(this.rowBox(i)));
    this.tokens.keys.forEach((each, i) => each === key && bands.push(this.rowBox(i)));
    for (let i = 0; this.columns > 1 && i < this.columns; i++) {
      const { x } = this.place(0, i);
      const own = x === row && ROW_TOKENS.some((axis) => index.get(axis) === "{x}");
      if (own || (x === key && index.get("key") === "{x}")) bands.push(this.columnBox(i));
    }
    return bands;
  }

  // What stands in all rows but a token's, with what is left of it; nothing where that has no row.
  /** @param {number} token @returns {Mark[]} */
  listOthers(token) {
    const rows = this.listRows(ROW_TOKENS);
    if (!rows.includes(token)) return [];
    const boxes = rows.flatMap((each, i) => (each === token ? [] : this.rowBox(i) ?? []));
    return boxes.map(({ left, top, width, height }) => ({ left: 0, top, width: left + width, height }));
  }

  // A box between two points in pixels of the axes, as much of it as the chart shows; null where that is nothing.
  /** @param {number} x0 @param {number} x1 @param {number} y0 @param {number} y1 @param {number} [least] */
  makeBox(x0, x1, y0, y1, least = 0) {
    const [across, along] = [measureAxis(this.xaxis), measureAxis(this.yaxis)];
    const wide = clip(Math.min(x0, x1), Math.max(x0, x1), across.length, least);
    const high = clip(Math.min(y0, y1), Math.max(y0, y1), along.length, least);
    if (!wide || !high) return null;
    return { left: wide.start + across.start, top: high.start + along.start, width: wide.length, height: high.length };
  }

  // An entry of an axis in words: as the axis prints it, otherwise the name of what is counted and its index.
  /** @param {Axis} axis @param {unknown} value @param {string} [placeholder] */
  nameEntry(axis, value, placeholder) {
    const at = Array.from(axis.tickvals ?? []).indexOf(value);
    const text = axis.tickmode === "array" && plain(axis.ticktext?.[at]);
    if (text) return text;
    const { index } = readAddress(this.template(0));
    const counted = [...index].find(([, place]) => place === placeholder)?.[0] ?? plain(axis.title?.text);
    return axis.type === "category" ? String(value) : `${counted} ${format(value)}`.trim();
  }
}

// A stretch as start and length, at least as long as asked for, as much of it as lies between 0 and the end; null for none.
/** @param {number} from @param {number} to @param {number} end @param {number} least */
function clip(from, to, end, least) {
  if (to < 0 || from > end) return null;
  const more = Math.max(0, least - (to - from)) / 2;
  const [start, stop] = [Math.max(0, from) - more, Math.min(end, to) + more];
  return { start, length: stop - start };
}

// A text as Plotly draws it: without its tags, and the signs that would be read as such (figures/texts.py).
/** @param {string | undefined} text */
export function plain(text) {
  if (text === undefined) return "";
  return String(text).replace(/<[^>]*>/g, "").replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(code));
}

// What stands on an axis: an index, or a number in full.
/** @param {unknown} value */
function format(value) {
  if (typeof value !== "number") return String(value ?? "no value");
  return Number.isInteger(value) ? String(value).replace("-", "−") : writeNumber(value);
}
