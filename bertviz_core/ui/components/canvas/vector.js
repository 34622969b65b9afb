// The picture as one SVG, to be taken away: its cells as rectangles under what is drawn over them anyway.

/** @import { Canvas } from "./canvas.js" */

import { findInside, makeSvg } from "../shared/element.js";
import { Painter } from "./paint.js";

// What the painter asks of a pen, kept as rectangles. A clip is one of whole rows: what lies outside is not drawn.
class Recorder {
  fillStyle = "";
  globalAlpha = 1;
  /** @type {Element[]} */ made = [];
  /** @type {number[]} */ path = [];
  top = -Infinity;
  bottom = Infinity;

  save() {}
  restore() {}
  clearRect() {}

  beginPath() {
    this.path = [];
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  rect(x, y, width, height) {
    this.path = [x, y, width, height];
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height @param {number} round */
  roundRect(x, y, width, height, round) {
    this.path = [x, y, width, height, round];
  }

  clip() {
    [this.top, this.bottom] = [this.path[1], this.path[1] + this.path[3]];
  }

  fill() {
    const [x, y, width, height, rx] = this.path;
    this.put(x, y, width, height, { rx });
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  fillRect(x, y, width, height) {
    this.put(x, y, width, height, {});
  }

  /** @param {number} x @param {number} top @param {number} width @param {number} height @param {Record<string, number>} more */
  put(x, top, width, height, more) {
    const y = Math.max(top, this.top);
    const high = Math.min(top + height, this.bottom) - y;
    if (width <= 0 || high <= 0) return;
    const look = { fill: this.fillStyle, "fill-opacity": this.globalAlpha, ...more };
    this.made.push(makeSvg("rect", { x, y, width, height: high, ...look }));
  }
}

/** @param {Canvas} canvas */
export function drawVector(canvas) {
  const { width, height } = canvas.size;
  const pen = new Recorder();
  const painter = Object.assign(Object.create(Painter.prototype), { pen, width, height, color: null });
  painter.draw(canvas);
  const drawn = /** @type {SVGElement} */ (findInside(canvas.root, ".bvc-drawn").cloneNode(true));
  drawn.removeAttribute("class");
  drawn.prepend(...pen.made);
  setColors(canvas, drawn);
  const picture = makeSvg("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  drawn.setAttribute("width", String(width));
  drawn.setAttribute("height", String(height));
  picture.append(drawn);
  return picture;
}

// The page's own names of colours mean nothing elsewhere.
/** @param {Canvas} canvas @param {Element} drawn */
function setColors({ root }, drawn) {
  const known = getComputedStyle(root);
  const say = (/** @type {string} */ text) => text.replace(/var\((--bvc-[\w-]+)\)/g, (_, name) => known.getPropertyValue(name).trim());
  for (const each of drawn.querySelectorAll("*")) {
    for (const { name, value } of [...each.attributes]) if (value.includes("var(")) each.setAttribute(name, say(value));
    const [kind] = /bvc-kind-\w+/.exec(each.getAttribute("class") ?? "") ?? [];
    if (kind) each.setAttribute("color", known.getPropertyValue(kind.replace("bvc-kind", "--bvc")).trim());
  }
}
