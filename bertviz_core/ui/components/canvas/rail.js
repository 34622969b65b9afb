// Which of the tokens are seen, where not all of them fit: a rail at the right that moves the window.

/** @import { Canvas } from "./canvas.js" */

import { clamp } from "../shared/clamp.js";
import { findInside } from "../shared/element.js";

export class Rail {
  hold = 0; // pixels from the top of the thumb to where it is held

  /** @param {Canvas} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.element = findInside(canvas.root, ".bvc-rail");
    this.thumb = /** @type {HTMLElement} */ (this.element.firstElementChild);
    this.element.addEventListener("pointerdown", (event) => this.grasp(event));
    this.element.addEventListener(
      "pointermove", (event) => this.element.hasPointerCapture(event.pointerId) && this.drag(event)
    );
    this.element.addEventListener("click", (event) => event.stopPropagation());
  }

  draw() {
    const { frame, data, first = 0 } = this.canvas;
    this.element.hidden = data.window.total <= frame.count;
    if (this.element.hidden) return;
    const { total, start } = data.window;
    const high = frame.row * frame.count;
    Object.assign(this.element.style, { top: `${frame.top}px`, height: `${high}px` });
    this.thumb.style.height = `${Math.max(24, (high * frame.count) / total)}px`;
    this.thumb.style.top = `${((start + first) / total) * high}px`;
    this.element.title = `Tokens ${start + first} to ${start + first + Math.round(frame.count) - 1} of ${total}`;
  }

  /** @param {PointerEvent} event */
  grasp(event) {
    event.preventDefault();
    this.element.setPointerCapture(event.pointerId);
    const thumb = this.thumb.getBoundingClientRect();
    const inside = event.clientY >= thumb.top && event.clientY <= thumb.bottom;
    this.hold = inside ? event.clientY - thumb.top : thumb.height / 2;
    this.drag(event);
  }

  /** @param {PointerEvent} event */
  drag(event) {
    const { top, height } = this.element.getBoundingClientRect();
    moveWindow(this.canvas, Math.round(((event.clientY - this.hold - top) / height) * this.canvas.data.window.total));
  }
}

// Let the rows begin with this token; those that were not sent are asked for, some before and behind them too.
/** @param {Canvas} canvas @param {number} token @returns {void} */
export function moveWindow(canvas, token) {
  const { data, frame } = canvas;
  const { start, total } = data.window;
  const count = Math.round(frame.count);
  const first = clamp(token, 0, total - count);
  canvas.rolled = true;
  if (canvas.holds(first)) {
    canvas.wanted = undefined;
    if (first - start === canvas.first) return;
    canvas.first = first - start;
    return void canvas.refresh(false);
  }
  canvas.wanted = first;
  canvas.first = clamp(first - start, 0, data.tokens.length - count);
  canvas.refresh(false);
  canvas.tell({
    window: clamp(first - Math.floor((data.tokens.length - count) / 2), 0, total - data.tokens.length),
  });
}
