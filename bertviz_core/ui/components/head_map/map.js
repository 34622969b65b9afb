// All heads of all layers on one canvas, with a button over each. `data`: 4 bytes with the length of a JSON header, the
// header, then one byte a share: (layer, head, query, key), 255 for 1.

/** @import { MapData, Mark } from "./types.js" */

import { clampIndex } from "../shared/clamp.js";
import { findInside, makeElement, openPen } from "../shared/element.js";

/** @param {Uint8Array} bytes */
export function readPacked(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  return [header, bytes.subarray(4 + length)];
}

const SHORT = 6; // heads in a line of a narrow map: there is room for what each is worth

export class HeadMap {
  /** @type {MapData} */ header;
  /** @type {Uint8Array} */ pixels;
  /** @type {Uint32Array} */ tints;
  /** @type {HTMLElement[]} */ buttons;

  /** @param {ShadowRoot | Element} root */
  constructor(root) {
    this.frame = findInside(root, ".frame");
    this.about = findInside(root, ".about");
    this.scales = findInside(root, ".scales");
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("aria-hidden", "true");
    this.resized = new ResizeObserver(() => this.draw());
    this.frame.addEventListener("keydown", (event) => this.key(event));
    this.frame.addEventListener("pointerleave", () => this.describe(this.header.chosen));
  }

  close() {
    this.resized.disconnect();
  }

  /** @param {MapData} header @param {Uint8Array} pixels */
  show(header, pixels) {
    const [layers, heads] = header.shape;
    const rebuilt = this.header?.shape.join() !== header.shape.join();
    this.header = header;
    this.pixels = pixels;
    this.tints = makeTints(header.scale);
    const style = this.frame.parentElement?.style;
    for (const [name, color] of Object.entries(header.colors)) style?.setProperty(`--${name}`, color);
    style?.setProperty("--scale", `linear-gradient(90deg, ${header.scale.map(([at, c]) => `${c} ${at * 100}%`)})`);
    if (rebuilt) this.build(layers, heads);
    style?.setProperty("--negative", header.negative);
    style?.setProperty("--zero", header.zero);
    for (const [i, button] of this.buttons.entries()) {
      const [layer, head] = readPlace(button);
      const said = [this.title(layer, head), ...this.notes(layer, head)].filter(Boolean);
      button.setAttribute("aria-label", said.join(", "));
      writeMark(findInside(button, "b"), header.worth?.[i]);
    }
    this.showEnds(header.ends);
    this.select(...header.chosen);
    this.describe(header.chosen);
    this.resized.disconnect();
    this.resized.observe(this.frame); // draws at once, and whenever the size changes
  }

  /** @param {number} layers @param {number} heads */
  build(layers, heads) {
    const lines = Math.ceil(heads / SHORT);
    const sizes = { layers, heads, "short-heads": Math.min(heads, SHORT), "short-layers": layers * lines };
    for (const [name, count] of Object.entries(sizes)) this.frame.style.setProperty(`--${name}`, count);
    this.frame.setAttribute("aria-rowcount", layers);
    this.frame.setAttribute("aria-colcount", heads);
    const top = makeElement("div", "row", makeElement("span", "corner", "head\nlayer"));
    top.setAttribute("aria-hidden", "true");
    top.append(...Array.from({ length: heads }, (_, head) => place(makeElement("span", "name", head), 0, head, lines)));
    this.buttons = [];
    const rows = Array.from({ length: layers }, (_, layer) => {
      const name = place(makeElement("span", "name layer", layer), layer, 0, lines);
      name.setAttribute("aria-hidden", "true");
      const row = makeElement("div", "row", name, ...Array.from({ length: heads }, (_, head) => this.button(layer, head)));
      row.setAttribute("role", "row");
      return row;
    });
    this.frame.replaceChildren(top, this.canvas, ...rows);
  }

  /** @param {number} layer @param {number} head */
  button(layer, head) {
    const number = makeElement("b", "");
    number.dataset.of = String(head);
    const button = makeElement("button", "head", makeElement("i", ""), number);
    Object.assign(button.dataset, { layer, head });
    button.setAttribute("role", "gridcell");
    place(button, layer, head, Math.ceil(this.header.shape[1] / SHORT));
    button.addEventListener("click", () => this.choose(layer, head));
    button.addEventListener("pointerenter", () => this.describe([layer, head]));
    button.addEventListener("focus", () => this.rove(layer, head));
    this.buttons.push(button);
    return button;
  }

  // The map may stand in a part of the page that runs by itself: the page's listener runs all of it.
  /** @param {number} layer @param {number} head */
  choose(layer, head) {
    document.dispatchEvent(new CustomEvent("bv-head", { detail: `${layer},${head}` }));
  }

  // Both ends of the scale of the numbers, and their unit; none where there are no numbers.
  /** @param {string[]} ends */
  showEnds(ends) {
    const scale = findInside(this.scales, ".signed");
    scale.hidden = !ends.length;
    const places = scale.querySelectorAll("span, b");
    ends.forEach((text, i) => (places[i].textContent = text));
  }

  /** @param {number} layer @param {number} head */
  select(layer, head) {
    const chosen = this.at(layer, head);
    for (const button of this.buttons) button.setAttribute("aria-selected", button === chosen);
    if (!this.buttons.some((button) => button.matches(":focus"))) this.rove(layer, head);
  }

  /** @param {number} layer @param {number} head */
  rove(layer, head) {
    for (const button of this.buttons) button.tabIndex = -1;
    this.at(layer, head).tabIndex = 0;
    this.describe([layer, head]);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    /** @type {Record<string, [down: number, right: number]>} */
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const [layers, heads] = this.header.shape;
    const [layer, head] = readPlace(/** @type {Element} */ (event.target));
    /** @type {Record<string, [layer: number, head: number]>} */
    const ends = { Home: [layer, 0], End: [layer, heads - 1] };
    const move = moves[event.key];
    const [to, across] = ends[event.key] ?? (move ? [layer + move[0], head + move[1]] : []);
    if (to === undefined) return;
    event.preventDefault();
    this.at(clampIndex(to, layers), clampIndex(across, heads)).focus();
  }

  /** @param {number} layer @param {number} head */
  at(layer, head) {
    return this.buttons[layer * this.header.shape[1] + head];
  }

  /** @param {number} layer @param {number} head */
  title(layer, head) {
    return `layer ${layer}, head ${head}`;
  }

  /** @param {number} layer @param {number} head */
  notes(layer, head) {
    return this.header.notes[layer * this.header.shape[1] + head];
  }

  /** @param {[layer: number, head: number]} given */
  describe([layer, head]) {
    const [title, ...lines] = this.about.querySelectorAll(".title, .note");
    title.textContent = this.title(layer, head);
    lines.forEach((line, i) => (line.textContent = this.notes(layer, head)[i] ?? ""));
    /** @type {HTMLCanvasElement} */
    const preview = findInside(this.about, "canvas");
    preview.width = preview.height = this.header.shape[2];
    openPen(preview).putImageData(this.image(layer, head), 0, 0);
  }

  /** @param {number} layer @param {number} head */
  image(layer, head) {
    const [, heads, size] = this.header.shape;
    const image = new ImageData(size, size);
    const start = (layer * heads + head) * size * size;
    const colors = new Uint32Array(image.data.buffer);
    for (let i = 0; i < colors.length; i++) colors[i] = this.tints[this.pixels[start + i]];
    return image;
  }

  draw() {
    const frame = this.canvas.getBoundingClientRect();
    const sharp = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(frame.width * sharp);
    this.canvas.height = Math.round(frame.height * sharp);
    const context = openPen(this.canvas);
    context.imageSmoothingEnabled = false;
    const one = new OffscreenCanvas(this.header.shape[2], this.header.shape[2]);
    for (const button of this.buttons) {
      openPen(one).putImageData(this.image(...readPlace(button)), 0, 0);
      const box = findInside(button, "i").getBoundingClientRect();
      const [x, y] = [box.left - frame.left, box.top - frame.top].map((place) => Math.round(place * sharp));
      context.drawImage(one, x, y, Math.round(box.width * sharp), Math.round(box.height * sharp));
    }
  }
}

// What a head is worth, under its picture; the place stays where that is not known yet.
/** @param {HTMLElement} place @param {Mark} [mark] */
function writeMark(place, mark) {
  place.hidden = !mark;
  place.parentElement?.toggleAttribute("data-bare", !mark);
  if (!mark) return;
  place.textContent = mark.text;
  place.style.background = mark.back;
  place.style.color = mark.ink;
}

/** @param {[at: number, color: string][]} scale */
export function makeTints(scale) {
  const channels = scale.map(([at, color]) => [at * 255, ...[1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16))]);
  return Uint32Array.from({ length: 256 }, (_, value) => {
    const above = Math.max(1, channels.findIndex(([at]) => value <= at));
    const [low, high] = [channels[above - 1], channels[above]];
    const part = (value - low[0]) / (high[0] - low[0]);
    const [r, g, b] = [1, 2, 3].map((i) => Math.round(low[i] + part * (high[i] - low[i])));
    return new Uint32Array(new Uint8Array([r, g, b, 255]).buffer)[0];
  });
}

// Where it stands in the map, and in a narrow one, in which a layer has several lines.
/** @param {HTMLElement} one @param {number} layer @param {number} head @param {number} lines */
function place(one, layer, head, lines) {
  const begun = Number(layer > 0 && head < SHORT); // the first line of a layer below another one
  const at = { layer, head, line: layer * lines + Math.floor(head / SHORT), place: head % SHORT, begun };
  for (const [name, value] of Object.entries(at)) one.style.setProperty(`--${name}`, String(value));
  return one;
}

/** @param {EventTarget} button @returns {[layer: number, head: number]} */
function readPlace({ dataset }) {
  return [Number(dataset.layer), Number(dataset.head)];
}
