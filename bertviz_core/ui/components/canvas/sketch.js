// Shapes and words over the cells. Each is put under a key, frame after frame; only what differs from the frame before
// is touched, and what is not put again goes.

/** @import { Box, Paint, Shape, TextStyle } from "./types.js" */

import { makeSvg } from "../shared/element.js";
import { MONO, SANS } from "./letters.js";

const HALO = { stroke: "var(--bvc-paper)", "stroke-width": 5, "stroke-linejoin": "round", "paint-order": "stroke" };

export class Sketch {
  /** @type {Map<string, Shape>} */ shown = new Map(); // by key
  /** @type {Map<string, Shape>} */ before = new Map();
  /** @type {ChildNode | null} */ next = null;

  /** @param {SVGElement} svg */
  constructor(svg) {
    this.group = makeSvg("g");
    svg.append(this.group);
  }

  begin() {
    this.next = this.group.firstChild;
    this.before = this.shown;
    this.shown = new Map();
  }

  end() {
    for (const { element } of this.before.values()) element.remove();
    this.before = new Map();
  }

  /** @param {string} key @param {string} tag @param {Paint} attributes @param {string} [text] */
  put(key, tag, attributes, text) {
    const known = this.before.get(key);
    const same = known?.element.tagName === tag;
    const made = same ? known : { element: makeSvg(tag), attributes: {} };
    if (same) this.before.delete(key);
    this.shown.set(key, made);
    for (const [name, value] of Object.entries(attributes)) {
      if (made.attributes[name] !== value) write(made.element, name, value);
    }
    for (const name in made.attributes) if (!(name in attributes)) made.element.removeAttribute(name);
    made.attributes = attributes;
    if (made.text !== text) made.element.textContent = text ?? null;
    made.text = text;
    if (made.element === this.next) this.next = this.next.nextSibling;
    else this.group.insertBefore(made.element, this.next);
    return made.element;
  }

  /** @param {string} key @param {Box} box @param {Paint} [more] */
  box(key, { x, y, w, h }, more) {
    if (w > 0 && h > 0) this.put(key, "rect", { x: cut(x), y: cut(y), width: cut(w), height: cut(h), ...more });
  }

  /**
   * @param {string} key
   * @param {number} x1
   * @param {number} y1
   * @param {number} x2
   * @param {number} y2
   * @param {Paint} [more]
   */
  line(key, x1, y1, x2, y2, more) {
    this.put(key, "line", { x1: cut(x1), y1: cut(y1), x2: cut(x2), y2: cut(y2), ...more });
  }

  /** @param {string} key @param {string} d @param {Paint} [more] */
  path(key, d, more) {
    this.put(key, "path", { d, fill: "none", ...more });
  }

  // size in pixels; at: start, middle or end; turn: degrees; halo: read over a line that runs through it.
  /**
   * @param {string} key
   * @param {number} x
   * @param {number} y
   * @param {string | number} text
   * @param {TextStyle} [given4]
   */
  text(key, x, y, text, { size = 13, at, bold, mono, fill, opacity = 1, turn, halo } = {}) {
    if (opacity < 0.02 || text === "") return;
    /** @type {Paint} */
    const place = { x: cut(x), y: cut(y), "font-size": size, "font-family": mono ? MONO : SANS };
    if (at) place["text-anchor"] = at;
    if (bold) place["font-weight"] = bold === true ? 650 : bold;
    if (turn) place.transform = `rotate(${turn} ${cut(x)} ${cut(y)})`;
    if (halo) Object.assign(place, HALO);
    if (opacity < 1) place.opacity = cut(opacity, 3);
    this.put(key, "text", { ...place, fill: fill ?? "var(--bvc-text)" }, String(text));
  }
}

/** @param {Element} element @param {string} name @param {string | number | null | undefined} value */
export function write(element, name, value) {
  if (value === undefined || value === null) element.removeAttribute(name);
  else element.setAttribute(name, value);
}

/** @param {number} value @param {number} [digits] */
export function cut(value, digits = 1) {
  return Number(value.toFixed(digits));
}

// A ribbon from a height at the left to a height at the right: straight for `lead` pixels, then in a bend.
/**
 * @param {number} x0
 * @param {number} x1
 * @param {number} lead
 * @param {{ y: number, h: number }} from
 * @param {{ y: number, h: number }} to
 */
export function ribbon(x0, x1, lead, from, to) {
  const start = x0 + lead;
  const [a, b] = [start + (x1 - start) * 0.42, start + (x1 - start) * 0.5];
  const at = (/** @type {number} */ x, /** @type {number} */ y) => `${cut(x)} ${cut(y)}`;
  const [up, down] = [from.y - from.h / 2, from.y + from.h / 2];
  const [high, low] = [to.y - to.h / 2, to.y + to.h / 2];
  return `M${at(x0, up)}H${cut(start)}C${at(a, up)} ${at(b, high)} ${at(x1, high)}L${at(x1, low)}C${at(b, low)} ` +
    `${at(a, down)} ${at(start, down)}H${cut(x0)}Z`;
}
