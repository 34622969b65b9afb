// The canvas with a visitor: what they do, what is sent, and what is seen then.

import { readFileSync } from "node:fs";

import { Canvas } from "../../../bertviz_core/ui/components/canvas/canvas.js";
import { cellBox } from "../../../bertviz_core/ui/components/canvas/cells.js";
import { clock } from "../page.js";
import { openDocument } from "./document.js";
import { listDrawn, listElements, listShapes } from "./lines.js";

const COMPONENTS = new URL("../../../bertviz_core/ui/components/", import.meta.url);
const SIZES = { wide: [1400, 720, 900], narrow: [1000, 640, 800], phone: [390, 500, 800], low: [1400, 180, 500], projector: [2200, 1000, 1300] };
const passes = new Map();

export function readComponent(path) {
  return readFileSync(new URL(path, COMPONENTS), "utf-8");
}

// What the server sends, with some of it changed. name: of a pass.
export function makeData(name, place = {}, more = {}) {
  if (!passes.has(name)) passes.set(name, readFileSync(new URL(`../passes/${name}.json`, import.meta.url), "utf-8"));
  const data = JSON.parse(passes.get(name));
  return { ...data, ...(typeof more === "function" ? more(data) : more), place: { ...data.place, ...place } };
}

// A length of a style in pixels.
const pixels = (text) => Number.parseFloat(text ?? 0);

export class Visit {
  sent = [];

  /** @param {import("./scenes.js").Scene} scene */
  constructor({ pass = "small", place = {}, more = {}, size = "wide", page = {}, around = "", does = () => {}, rests = true, pictured = true }) {
    const [width, height, innerHeight] = SIZES[size];
    Object.assign(this, { pass, pictured });
    this.page = openDocument({ innerWidth: width, innerHeight, ...page });
    const { document } = this.page;
    document.body.innerHTML = `<div class="stApp" data-test-script-state="notRunning"><main></main>${around}</div>`;
    this.app = document.body.firstElementChild;
    this.parent = document.querySelector("main");
    this.parent.innerHTML = readComponent("canvas/index.html");
    this.canvas = this.openCanvas(width, height);
    for (const link of document.querySelectorAll("a")) link.addEventListener("click", () => this.sent.push(["gone to", link.textContent]));
    document.addEventListener("bv-pointed", ({ detail }) => this.sent.push(["lit", detail]));
    this.find(".bvc-ask").addEventListener("click", () => this.sent.push(["asked", this.find(".bvc-ask").dataset.cell]));
    this.show(place, more);
    this.page.resized(); // as the browser says once all stands somewhere
    does(this);
    if (rests) this.skip(500); // what moves has come to rest
  }

  openCanvas(width, height) {
    const [stage, rail] = [".bvc-stage", ".bvc-rail"].map((selector) => this.find(selector));
    stage.box = { left: 0, top: 0, width, height };
    const place = ({ style }, from = 0) => ({ left: width - 12, top: from + pixels(style.top), width: 12, height: pixels(style.height) });
    Object.defineProperty(rail, "box", { get: () => place(rail) });
    Object.defineProperty(rail.firstElementChild, "box", { get: () => place(rail.firstElementChild, rail.box.top) });
    Object.assign(rail, { setPointerCapture: () => {}, hasPointerCapture: () => true });
    return new Canvas(this.parent);
  }

  find(selector) {
    return this.parent.querySelector(selector);
  }

  // What the visitor and the server do.

  show(place, more = {}, pass = this.pass) {
    this.canvas.show(makeData(pass, place, more), (name, value) => this.sent.push([name, value]));
  }

  wait(milliseconds) {
    clock.pass(milliseconds);
  }

  // Much time at once, as in a page that was out of sight.
  skip(milliseconds) {
    clock.now += Math.max(0, milliseconds - 20);
    clock.pass(20);
  }

  type(...keys) {
    for (const key of keys) {
      const [, shift, control, plain] = /^(Shift )?(Ctrl )?(.+)$/.exec(key);
      document.activeElement.send("keydown", { key: plain, shiftKey: Boolean(shift), ctrlKey: Boolean(control) });
    }
  }

  enter(selector = ".bvc-stage") {
    this.find(selector).focus();
  }

  press(does) {
    this.find(`[data-does="${does}"]`).click();
  }

  explain(cell, operands = []) {
    document.send("bv-explained", { detail: { cell, operands } });
  }

  // Where the middle of a cell stands, or a point, as an event says it.
  at(place, more = {}) {
    const { scale } = this.canvas;
    const [x, y] = Array.isArray(place) ? place : middle(cellBox(this.canvas, place.part, place.where));
    return { clientX: x * scale, clientY: y * scale, pointerType: "mouse", ...more };
  }

  point(place, more) {
    this.canvas.stage.send("pointermove", this.at(place, more));
  }

  click(place, more) {
    this.canvas.stage.send("click", this.at(place, more));
  }

  touch(from, to = from, milliseconds = 0) {
    const finger = { pointerType: "touch" };
    this.canvas.stage.send("pointerdown", this.at(from, finger));
    this.canvas.stage.send("pointermove", this.at(to, finger));
    this.wait(milliseconds);
    this.canvas.stage.send("pointerup", this.at(to, finger));
  }

  // What is seen.

  listPicture() {
    const { painter, sketches } = this.canvas;
    return [...listDrawn(painter.pen), ...Object.entries(sketches).flatMap(([layer, sketch]) => listShapes(layer, sketch))];
  }

  listAround() {
    const around = listElements(this.find(".bvc"), ".bvc-drawn *, .bvc-cells, .bvc-loupe");
    const { place, group, first, scale } = this.canvas;
    return [...around, `place: ${JSON.stringify({ ...place, group, first, scale })}`, `focus: ${nameElement(document.activeElement)}`];
  }

  listSent() {
    const lines = this.sent.map((each) => `sent ${JSON.stringify(each)}`);
    return lines.filter((line, i) => line !== lines[i - 1]);
  }

  list() {
    return [...(this.pictured ? this.listPicture() : []), ...this.listAround(), ...this.listSent()];
  }
}

function middle({ x, y, w, h }) {
  return [x + w / 2, y + h / 2];
}

// Which element that is, in few words; of a button without a name of its own, those on it.
export function nameElement({ tagName, className, attributes, textContent }) {
  const said = Object.entries(attributes).filter(([name]) => /^data-|^id/.test(name)).map(([name, value]) => `${name}=${value}`);
  const label = attributes["aria-label"];
  const names = label ? [`“${label}”`] : [className, ...said].filter(Boolean);
  return [tagName, ...(names.length || tagName !== "button" ? names : [`“${textContent.trim()}”`])].join(" ");
}
