// The offers of a chart: heat maps, bars and points.

/** @import { Axis, Chart, Point, Trace } from "../shared/types.js" */
/** @import { Mark, Spot } from "./types.js" */

import { isSameCell, readAddress } from "../shared/address.js";
import { clampIndex } from "../shared/clamp.js";
import { writeNumber } from "../shared/numbers.js";
import { listTraces, measureAxis } from "../shared/plotly_inside.js";
import { LEAST, Offer, plain, RIM } from "./offer.js";

class Cells extends Offer {
  /** @param {Trace} trace @param {Point[]} points @param {Axis} xaxis @param {Axis} yaxis */
  constructor(trace, points, xaxis, yaxis) {
    super(trace, points, xaxis, yaxis);
    const [{ x, y, z, xCenter, yCenter }] = this.points;
    this.columnsAt = findCenters(x, z[0].length, xCenter).map((at) => this.xaxis.c2d(at));
    this.rowsAt = findCenters(y, z.length, yCenter).map((at) => this.yaxis.c2d(at));
  }

  get rows() {
    return this.points[0].z.length;
  }

  get columns() {
    return this.points[0].z[0].length;
  }

  /** @param {[row: number, column: number]} given */
  at([row, column]) {
    return { row, column };
  }

  /** @param {number} row @param {number} column */
  place(row, column) {
    return { x: this.columnsAt[column], y: this.rowsAt[row] };
  }

  /** @param {Spot} place */
  address(place) {
    const said = this.trace.customdata?.[place.row]?.[place.column];
    const address = super.address(place);
    return said ? address.replace("{q}", said[0]).replace("{k}", said[1]) : address;
  }

  /** @param {string} address */
  find(address) {
    if (!this.template(0).includes("{q}")) return super.find(address);
    for (let row = 0; row < this.rows; row++) {
      for (let column = 0; column < this.columns; column++) {
        if (isSameCell(this.address({ row, column }), address)) return { row, column };
      }
    }
    return null;
  }

  /** @param {Spot} given */
  box({ row, column }) {
    const [{ x, y }] = this.points;
    return this.makeCells([x[column], x[column + 1]], [y[row], y[row + 1]], LEAST);
  }

  /** @param {number[]} across @param {number[]} down @param {number} [least] */
  makeCells(across, down, least) {
    const [x0, x1] = across.map((at) => this.xaxis.c2p(at));
    const [y0, y1] = down.map((at) => this.yaxis.c2p(at));
    return this.makeBox(x0, x1, y0, y1, least);
  }

  /** @param {number} row */
  rowBox(row) {
    const [{ x, y }] = this.points;
    return this.makeCells([x[0], x.at(-1)], [y[row], y[row + 1]]);
  }

  /** @param {number} column */
  columnBox(column) {
    const [{ x, y }] = this.points;
    return this.makeCells([x[column], x[column + 1]], [y[0], y.at(-1)]);
  }

  /** @param {Spot} given */
  describe({ row, column }) {
    const { x, y } = this.place(row, column);
    const names = `${this.nameEntry(this.yaxis, y, "{y}")}, ${this.nameEntry(this.xaxis, x, "{x}")}`;
    const told = /** @type {any} */ (this.trace).text?.[row]?.[column]; // where colours are by another scale
    return `${names}: ${told ?? writeNumber(this.points[0].z[row][column])}`;
  }

  // The place that a key leads to from another one.
  /** @param {Spot} given @param {string} key @param {boolean} far */
  move({ row, column }, key, far) {
    const [{ x, y }] = this.points;
    const across = Math.sign(this.xaxis.c2p(x.at(-1)) - this.xaxis.c2p(x[0]));
    const down = Math.sign(this.yaxis.c2p(y.at(-1)) - this.yaxis.c2p(y[0]));
    const end = { Home: -this.columns * across, End: this.columns * across }[key] ?? 0;
    /** @type {Record<string, [rows: number, columns: number]>} */
    const steps = { ArrowRight: [0, across], ArrowLeft: [0, -across], ArrowDown: [down, 0], ArrowUp: [-down, 0] };
    const [rows, columns] = steps[key] ?? [far ? Math.sign(end) * across * down * this.rows : 0, end];
    return { row: clampIndex(row + rows, this.rows), column: clampIndex(column + columns, this.columns) };
  }
}

class List extends Offer {
  // How far a point stands from the first.
  /** @param {number} _row @returns {number} */
  far(_row) {
    throw new TypeError("no kind of list");
  }

  /** @type {number[] | undefined} */ order;

  get columns() {
    return 1;
  }

  get rows() {
    return this.points.length;
  }

  /** @param {number} row */
  at(row) {
    return { row, column: 0 };
  }

  /** @param {number} row */
  place(row) {
    const { x, y } = this.points[row];
    return { x: this.xaxis.c2d(x), y: this.yaxis.c2d(y) };
  }

  /** @returns {Mark | null} */
  columnBox() {
    return null;
  }

  // From one to the next as they stand, from left to right or from top to bottom.
  /** @param {{ row: number }} given @param {string} key */
  move({ row }, key) {
    this.order ??= this.points.map((_, i) => i).sort((one, other) => this.far(one) - this.far(other));
    /** @type {Record<string, number>} */
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -this.rows, End: this.rows };
    return this.at(this.order[clampIndex(this.order.indexOf(row) + steps[key], this.rows)]);
  }

  get words() {
    const { customdata, text } = this.trace;
    const words = [customdata, text].find((each) => Array.isArray(each) && typeof each[0] === "string");
    return /** @type {string[] | undefined} */ (words)?.map(plain);
  }
}

class Bars extends List {
  // The box of a bar from its ends along its length and across it.
  /** @param {number[]} long @param {number[]} thick @param {number} [least] */
  makeBar([from, to], [start, end], least) {
    return this.lying ? this.makeBox(from, to, start, end, least) : this.makeBox(start, end, from, to, least);
  }

  get lying() {
    return this.trace.orientation === "h";
  }

  /** @param {number} row */
  far(row) {
    const { p0, p1 } = this.points[row];
    return (this.lying ? this.yaxis : this.xaxis).c2p((p0 + p1) / 2);
  }

  /** @param {number} row */
  edges(row) {
    const { p0, p1, s0, s1 } = this.points[row];
    const [thick, long] = this.lying ? [this.yaxis, this.xaxis] : [this.xaxis, this.yaxis];
    return [[p0, p1].map((at) => thick.c2p(at, true)), [s0, s1].map((at) => long.c2p(at, true))];
  }

  // One that is hardly there is boxed where it would go on, not over the number before it.
  /** @param {{ row: number }} given */
  box({ row }) {
    const [thick, [from, to]] = this.edges(row);
    const least = from + (to < from ? -LEAST : LEAST);
    return this.makeBar([from, this.lying && Math.abs(to - from) < LEAST ? least : to], thick, LEAST);
  }

  /** @param {number} row */
  rowBox(row) {
    const [thick] = this.edges(row);
    return this.makeBar([0, measureAxis(this.lying ? this.xaxis : this.yaxis).length], thick);
  }

  /** @param {{ row: number }} given */
  describe({ row }) {
    const { x, y } = this.place(row);
    const name = this.lying ? this.nameEntry(this.yaxis, y, "{y}") : this.nameEntry(this.xaxis, x, "{x}");
    return `${this.words?.[row] ?? name}: ${writeNumber(this.lying ? x : y)}`;
  }
}

class Points extends List {
  /** @param {number} row */
  far(row) {
    const { x, y } = this.points[row];
    return this.xaxis.c2p(x) + this.yaxis.c2p(y) / 1e6; // what stands above one another: from top to bottom
  }

  /** @param {{ row: number }} given */
  box({ row }) {
    const { x, y, mrc = 0 } = this.points[row]; // a marker's radius is known once it has been drawn
    const half = Math.max(mrc + RIM, LEAST / 2);
    const [across, down] = [this.xaxis.c2p(x), this.yaxis.c2p(y)];
    const box = this.makeBox(across, across, down, down, 2 * half);
    return box && { ...box, round: true };
  }

  /** @param {number} row */
  rowBox(row) {
    return this.box({ row });
  }

  /** @param {{ row: number }} given */
  describe({ row }) {
    const { x, y } = this.place(row);
    const text = this.words?.[row];
    const named = [this.xaxis, this.yaxis].find(({ tickmode, type }) => tickmode === "array" || type === "category");
    const [own, other] = named === this.xaxis ? [x, y] : [y, x];
    if (named) return `${text || this.nameEntry(named, own)}: ${writeNumber(other)}`;
    const counted = [...readAddress(this.template(row)).index].map(([axis, at]) => `${axis} ${at === "{n}" ? row : at}`);
    return `${text || (counted.at(-1) ?? row)}: ${this.nameEntry(this.xaxis, x)}, ${this.nameEntry(this.yaxis, y)}`;
  }
}

/** @type {Record<string, new (trace: Trace, points: Point[], xaxis: Axis, yaxis: Axis) => Offer>} */
const OFFERS = { heatmap: Cells, bar: Bars, scatter: Points };

// The offers of a chart that has been drawn.
/** @param {Chart} chart */
export function listOffers(chart) {
  return listTraces(chart).flatMap(({ trace, points, xaxis, yaxis }) => {
    if (!trace.meta || trace.visible !== true || !(trace.type in OFFERS)) return [];
    return [new OFFERS[trace.type](trace, points, xaxis, yaxis)];
  });
}

// The middles of the cells between these edges.
/** @param {number[]} edges @param {number} count @param {number[] | undefined} centers */
function findCenters(edges, count, centers) {
  return Array.from({ length: count }, (_, i) => centers?.[i] ?? (edges[i] + edges[i + 1]) / 2);
}
