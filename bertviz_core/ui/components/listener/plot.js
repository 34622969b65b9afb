// A chart on the page: its clicks and keys, and the marks that lie over it.

/** @import { Chart, PlotlyEvent, PlotlyPoint } from "../shared/types.js" */
/** @import { Listener } from "./listener.js" */
/** @import { Offer } from "./offer.js" */
/** @import { Found, Mark, Spot } from "./types.js" */

import { findTwin, readTokens, ROW_TOKENS } from "../shared/address.js";
import { clamp, clampIndex } from "../shared/clamp.js";
import { makeElement } from "../shared/element.js";
import { WORTH, writeNumber } from "../shared/numbers.js";
import { findPointerLayer, findTicks, giveWay, hears, isDrawn, measureAxis, writeInCells, writeInFull } from "../shared/plotly_inside.js";
import { join, readKind } from "./joined.js";
import { RIM } from "./offer.js";
import { listOffers } from "./offers.js";

const FRAMED = 12; // pixels; what is smaller a frame would hide
const LOUPE = 40; // pixels; what is smaller is first chosen by a touch, then explained
/** @type {("left" | "top" | "width" | "height")[]} */
const SIDES = ["left", "top", "width", "height"];
const MOVES = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End"];

export class Plot {
  /** @type {Offer[]} */ offers = [];
  /** @type {({ trace: number } & Spot) | null} */ cursor = null;
  /** @type {{ more: string } | null} */ shown = null;
  veiled = "[]"; // all that the spotlight leaves dim, as it is drawn
  named = false; // whether the name of a token is pointed at

  /** @param {Chart} drawn @param {Listener} listener */
  constructor(drawn, listener) {
    this.drawn = drawn;
    this.listener = listener;
    this.veil = makeElement("div", "");
    this.bands = makeElement("div", "");
    this.marks = makeElement("div", "");
    this.pointer = makeElement("div", "");
    this.layer = makeElement("div", "bv-marks", this.veil, this.bands, this.marks, this.pointer);
    this.layer.setAttribute("aria-hidden", "true");
    this.handlers = {
      plotly_click: (/** @type {PlotlyEvent} */ event) => this.click(event),
      plotly_hover: (/** @type {PlotlyEvent} */ event) => this.hover(event),
      plotly_unhover: () => listener.lights.light(null, this),
      plotly_afterplot: () => this.read(),
    };
    this.stopped = new AbortController();
    drawn.addEventListener("blur", () => this.hideCursor(), this.stopped);
    drawn.addEventListener("pointermove", (event) => this.move(/** @type {PointerEvent} */ (event)), this.stopped);
  }

  // Plotly forgets who listens when it draws a chart anew from the start.
  listen() {
    if (hears(this.drawn, "plotly_click", this.handlers.plotly_click) !== false) return;
    for (const [name, handler] of Object.entries(this.handlers)) this.drawn.on?.(name, handler);
    if (isDrawn(this.drawn)) this.read();
  }

  leave() {
    for (const [name, handler] of Object.entries(this.handlers)) this.drawn.removeListener?.(name, handler);
    this.stopped.abort();
    this.layer.remove();
    this.introduce(false);
  }

  // At the pointer too a number is written in full.
  writeInFull() {
    writeInFull(this.drawn, WORTH, (value) => (typeof value === "number" ? writeNumber(value) : String(value)));
  }

  read() {
    if (giveWay(this.drawn)) return; // and is read once it has been drawn
    this.writeInFull();
    writeInCells(this.drawn);
    this.offers = listOffers(this.drawn);
    this.introduce(this.offers.length > 0);
    this.draw();
    this.listener.plan();
  }

  // What offers cells is one stop of the Tab key.
  /** @param {boolean} offering */
  introduce(offering) {
    const { drawn } = this;
    drawn.classList.toggle("bv-chart", offering);
    const about = drawn.closest('[role="figure"]')?.getAttribute("aria-label") ?? "Chart";
    const parts = this.offers.length > 1 ? ", Page Up and Page Down change the part" : "";
    const label = `${about}. Arrow keys move, Enter ${this.act}s${parts}.`;
    for (const [name, value] of Object.entries({ tabindex: "0", role: "application", "aria-label": label })) {
      if (offering) drawn.setAttribute(name, value);
      else drawn.removeAttribute(name);
    }
  }

  // What becomes of a cell: where a lesson asks for one, it is chosen.
  get act() {
    return this.drawn.closest("[data-picks]") ? "choose" : "explain";
  }

  // Clicks and pointing.

  /** @param {PlotlyPoint} point */
  locate(point) {
    const offer = this.offers.find(({ trace }) => trace.index === point?.curveNumber);
    return offer && { offer, place: offer.at(point.pointNumber) };
  }

  /** @param {PlotlyEvent} given */
  click({ points: [point], event }) {
    const found = this.locate(point);
    if (!found || event?.type.startsWith("touch")) return; // a touch comes again, as a click of where it really is
    const again = this.isAtCursor(found);
    this.put(found);
    if (!this.listener.touched || again || !this.isSmall(found)) return this.explain();
    this.drawn.focus({ preventScroll: true });
    this.showCursor(` · tap again to ${this.act}`);
  }

  /** @param {PlotlyEvent} given */
  hover({ points: [point] }) {
    const found = this.locate(point);
    this.listener.lights.light(found ? readTokens(found.offer.address(found.place)) : null, this);
  }

  // A token's name beside a row or column is the token: pointed at it is lit, clicked it is chosen, as the key where
  // it names one.
  /** @param {PointerEvent} event */
  move(event) {
    this.writeInFull();
    const name = this.readName(event);
    if (name) this.listener.lights.light({ row: name.token, key: name.token }, this);
    else if (this.named) this.listener.lights.light(null, this);
    this.named = name !== null;
    this.drawn.classList.toggle("bv-naming", this.named);
  }

  /** @param {PointerEvent} event */
  readName(event) {
    return this.readRowName(event) ?? this.readColumnName(event);
  }

  /** @param {PointerEvent} event */
  readColumnName({ clientX, clientY }) {
    const [right, down] = this.findPointer(clientX, clientY);
    for (const offer of this.offers) {
      const axis = offer.columnsAxis;
      if (!axis || (axis !== "key" && !ROW_TOKENS.includes(axis))) continue;
      const texts = findTicks(this.drawn, offer.xaxis);
      if (!texts.some((text) => isInside(text.getBoundingClientRect(), clientX, clientY))) continue;
      const token = offer.columnNamed(right, down);
      if (token !== null) return { token, asKey: axis === "key" };
    }
    return null;
  }

  /** @param {PointerEvent} event */
  readRowName({ clientX, clientY }) {
    const [right, down] = this.findPointer(clientX, clientY);
    for (const offer of this.offers) {
      if (right >= Math.min(...this.offers.map(({ xaxis }) => measureAxis(xaxis).start))) return null;
      const tokens = offer.listRows([...ROW_TOKENS, "key"]);
      const row = tokens.findIndex((token, i) => token >= 0 && isBetween(down, offer.rowBox(i)));
      if (row >= 0) return { token: tokens[row], asKey: false };
    }
    return null;
  }

  // In the chart's own pixels, from its corner: before a room it is enlarged.
  /** @param {number} clientX @param {number} clientY */
  findPointer(clientX, clientY) {
    const { left, top, width } = this.drawn.getBoundingClientRect();
    const large = width / this.drawn.clientWidth || 1;
    return [(clientX - left) / large, (clientY - top) / large];
  }

  /** @param {Found} given */
  isSmall({ offer, place }) {
    const box = offer.box(place);
    return box && Math.min(box.width, box.height) < LOUPE;
  }

  explain() {
    const { offer, place } = this.current();
    const address = offer.address(place);
    if (address) this.listener.explain(address, this.drawn);
  }

  // The cursor of the keyboard: a place in one of the offers.

  /** @param {Found} given */
  put({ offer, place }) {
    this.cursor = { trace: offer.trace.index, ...place };
  }

  /** @param {Found} given */
  isAtCursor({ offer, place: { row, column } }) {
    const { cursor } = this;
    return cursor?.trace === offer.trace.index && cursor.row === row && cursor.column === column;
  }

  // Where the cursor is; to begin with at the cell that is explained, or at the chosen token's row.
  current() {
    const { cursor } = this;
    const offer = cursor && this.offers.find(({ trace }) => trace.index === cursor.trace);
    if (offer) return { offer, place: offer.within(cursor) };
    const [shown] = this.list(this.listener.data.cell);
    if (shown) return shown;
    const [first] = this.offers;
    const row = first.listRows(ROW_TOKENS).indexOf(this.listener.data.token);
    return { offer: first, place: { row: Math.max(row, 0), column: 0 } };
  }

  enter() {
    this.introduce(this.offers.length > 0);
    if (this.offers.length && this.drawn.matches(":focus-visible")) this.showCursor();
  }

  // Whether the key meant something here.
  /** @param {KeyboardEvent} event */
  key({ key, ctrlKey, metaKey, altKey }) {
    if (!this.offers.length || metaKey || altKey) return false;
    const { offer, place } = this.current();
    if (key === "Enter" || key === " ") this.explain();
    else if (MOVES.includes(key)) this.put({ offer, place: offer.move(place, key, ctrlKey) });
    else if (key === "PageUp" || key === "PageDown") this.put(this.change(offer, place, key === "PageDown" ? 1 : -1));
    else return false;
    if (key !== "Enter" && key !== " ") this.showCursor();
    return true;
  }

  /** @param {Offer} offer @param {Spot} place @param {number} by */
  change(offer, place, by) {
    const other = this.offers[clampIndex(this.offers.indexOf(offer) + by, this.offers.length)];
    return { offer: other, place: other.within(place) };
  }

  // Marks.

  // Where a cell is drawn, once in every part of the chart.
  /** @param {string | null} address */
  list(address) {
    if (!address) return [];
    const found = new Map();
    for (const offer of this.offers) {
      const place = found.has(offer.subplot) ? null : offer.find(address) ?? offer.find(findTwin(offer.template(0), address));
      if (place) found.set(offer.subplot, { offer, place });
    }
    return [...found.values()];
  }

  draw() {
    const { cell, operands = [] } = this.listener.data;
    const under = findPointerLayer(this.drawn);
    if (under && this.layer.nextSibling !== under) under.before(this.layer);
    /** @type {(name: string) => (found: Found) => Element[]} */
    const outline = (name) => ({ offer, place }) => makeMark(name, offer.box(place));
    const boxes = operands.flatMap((address) => this.list(address).map(({ offer, place }) => offer.box(place)));
    this.marks.style.setProperty("--kind", readKind(this.drawn));
    this.marks.replaceChildren(
      ...join(boxes.filter(isLarge)).flatMap(({ count, ...box }) => makeMark(count > 1 ? "bv-operand bv-joined" : "bv-operand", box)),
      ...this.list(cell).flatMap(outline("bv-ring")),
    );
    this.drawVeil();
    this.drawBands();
    this.drawCursor();
  }

  // Over all rows but the chosen token's, with their names, once in every part of the chart.
  drawVeil() {
    const { spotlight } = this.listener;
    const parts = new Map(this.offers.map((offer) => [offer.subplot, offer]));
    const boxes = spotlight === null ? [] : [...parts.values()].flatMap((offer) => offer.listOthers(spotlight));
    const veiled = JSON.stringify(boxes);
    if (veiled === this.veiled) return; // what is drawn is heard of, and drawn again
    this.veiled = veiled;
    this.veil.replaceChildren(...boxes.flatMap((box) => makeMark("bv-veil", box)));
  }

  drawBands() {
    const { lit } = this.listener.lights;
    const boxes = lit ? this.offers.flatMap((offer) => offer.listBands(lit)) : [];
    this.bands.replaceChildren(...boxes.flatMap((box) => makeMark("bv-band", box)));
  }

  // more: words that stand behind what is read out.
  /** @param {string} [more] */
  showCursor(more = "") {
    const { offer, place } = this.current();
    this.shown = { more };
    this.drawCursor();
    this.listener.lights.light(readTokens(offer.address(place)), this);
    this.listener.say(offer.describe(place) + more);
  }

  hideCursor() {
    this.shown = null;
    this.drawCursor();
    this.listener.lights.light(null, this);
  }

  drawCursor() {
    this.pointer.replaceChildren();
    if (!this.shown || !this.offers.length) return;
    const { offer, place } = this.current();
    const box = offer.box(place);
    const readout = makeElement("div", "bv-readout", offer.describe(place) + this.shown.more);
    this.pointer.append(...makeMark("bv-cursor", box), readout);
    if (box) standBeside(readout, box, this.layer);
  }
}

/** @param {DOMRect} given @param {number} x @param {number} y */
function isInside({ left, right, top, bottom }, x, y) {
  return left <= x && x <= right && top <= y && y <= bottom;
}

/** @param {number} down @param {Mark | null} box */
function isBetween(down, box) {
  return box !== null && !box.round && down >= box.top && down <= box.top + box.height;
}

// Whether what a box is around is large enough for a frame of its own.
/** @param {Mark | null} box */
function isLarge(box) {
  return box !== null && Math.min(box.width, box.height) - (box.round ? 2 * RIM : 0) >= FRAMED;
}

// A mark over a box; none where the box cannot be seen.
/** @param {string} name @param {Mark | null} box */
function makeMark(name, box) {
  if (!box) return [];
  const mark = makeElement("div", box.round ? `${name} bv-round` : name);
  for (const side of SIDES) mark.style[side] = `${box[side]}px`;
  return [mark];
}

// Above a box, or below it where there is no room above.
/** @param {HTMLElement} readout @param {Mark} given1 @param {HTMLElement} layer */
function standBeside(readout, { left, top, width, height }, layer) {
  const room = layer.clientWidth - readout.offsetWidth;
  const above = top - readout.offsetHeight - 6;
  readout.style.left = `${clamp(left + width / 2 - readout.offsetWidth / 2, 0, room)}px`;
  readout.style.top = `${above < 0 ? top + height + 6 : above}px`;
}
