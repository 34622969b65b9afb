// The canvas as a visitor has it before them, of a small pass: 2 layers of 2 heads, [CLS] the cat [SEP].

import { readFileSync } from "node:fs";

import { Canvas } from "../../bertviz_core/ui/components/canvas/canvas.js";
import { clock, makeElement, openPage } from "./page.js";

const PASS = readFileSync(new URL("passes/small.json", import.meta.url), "utf-8");

// What the server sends, with some of it changed.
export function makeData(place = {}, more = {}) {
  const data = { ...JSON.parse(PASS), ...more };
  return { ...data, place: { ...data.place, ...place } };
}

// place: as the server says it; width and height: of the picture; page: of the browser; more: of what is sent. Gives the
// canvas, which has drawn that at rest, and what it has sent.
export function openCanvas(place = {}, { width = 1400, height = 720, page = {}, more = {} } = {}) {
  const { document, window } = openPage({ innerWidth: width, ...page });
  const parent = makeElement();
  const root = parent.querySelector(".bvc");
  const stage = root.querySelector(".bvc-stage");
  Object.assign(stage, { clientWidth: width, clientHeight: height, box: { left: 0, top: 0, width, height } });
  root.append(stage);
  root.found["#bvc-rows rect"] = makeElement("rect");
  const sent = [];
  const canvas = new Canvas(parent);
  canvas.show(makeData(place, more), (name, value) => sent.push([name, value]));
  return { canvas, sent, document, window };
}

// Until what moves has come to rest, and what was chosen is sent.
export function settle() {
  clock.pass(2000);
}

// Where the middle of a cell stands, as an event says it.
export function findMiddle({ x, y, w, h }, more = {}) {
  return { clientX: x + w / 2, clientY: y + h / 2, pointerType: "mouse", ...more };
}

export function drawnTexts(canvas, layer) {
  return Object.fromEntries([...canvas.sketches[layer].shown].filter(([, { element }]) => element.tagName === "text").map(
    ([key, { element }]) => [key, element.textContent]
  ));
}
