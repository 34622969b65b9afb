// Fingers: a swipe to the side changes the stage, a finger that rests sees through a loupe and may then move about; up
// and down the page is scrolled, as anywhere.

/** @import { Canvas } from "./canvas.js" */

import { clamp } from "../shared/clamp.js";
import { findInside, openPen } from "../shared/element.js";
import { findAt } from "./find.js";
import { locate } from "./room.js";

const SWIPE = 50; // pixels to the side at least, and up or down at most
const REST = { after: 350, within: 8 }; // milliseconds, pixels
const LOUPE = { size: 132, zoom: 3, lift: 96 };

/** @param {Canvas} canvas @param {AbortSignal} signal */
export function listenToTouch(canvas, signal) {
  const { stage } = canvas;
  /**
   * @template {keyof HTMLElementEventMap} Name
   * @param {Name} name
   * @param {(event: HTMLElementEventMap[Name]) => unknown} act
   * @param {AddEventListenerOptions} [more]
   */
  const on = (name, act, more) => stage.addEventListener(name, act, { signal, ...more });
  /** @param {(canvas: Canvas, event: PointerEvent) => void} act @returns {(event: PointerEvent) => void} */
  const touched = (act) => (event) => event.pointerType === "touch" && act(canvas, event);
  on("pointerdown", touched(putDown));
  on("pointermove", touched(moveFinger));
  on("pointerup", touched(letGo));
  on("pointercancel", touched(giveUp));
  on("touchmove", (event) => canvas.touch?.looks && event.preventDefault(), { passive: false });
  on("contextmenu", (event) => canvas.touch && event.preventDefault());
}

/** @param {Canvas} canvas @param {PointerEvent} event */
function putDown(canvas, event) {
  giveUp(canvas);
  canvas.looked = false;
  const resting = setTimeout(() => startLooking(canvas), REST.after);
  canvas.touch = { x: event.clientX, y: event.clientY, last: event, looks: false, resting };
}

/** @param {Canvas} canvas */
function startLooking(canvas) {
  const { touch } = canvas;
  if (!touch) return;
  touch.looks = true;
  lookCloser(canvas, touch.last);
}

/** @param {Canvas} canvas @param {PointerEvent} event @returns {void} */
function moveFinger(canvas, event) {
  const { touch } = canvas;
  if (!touch) return;
  touch.last = event;
  if (touch.looks) return void lookCloser(canvas, event);
  if (Math.hypot(event.clientX - touch.x, event.clientY - touch.y) > REST.within) clearTimeout(touch.resting);
}

/** @param {Canvas} canvas @param {PointerEvent} event */
function letGo(canvas, event) {
  const { touch, frame } = canvas;
  giveUp(canvas);
  if (!touch) return;
  canvas.looked = touch.looks;
  if (touch.looks || !frame?.phone) return;
  const far = event.clientX - touch.x;
  if (Math.abs(far) > SWIPE && Math.abs(event.clientY - touch.y) < SWIPE) canvas.chrome.turn(far < 0 ? 1 : -1);
}

// The finger is up, or its way belongs to the page.
/** @param {Canvas} canvas */
function giveUp(canvas) {
  clearTimeout(canvas.touch?.resting);
  canvas.touch = null;
  findLoupe(canvas).hidden = true;
}

/** @param {Canvas} canvas @param {PointerEvent} event */
function lookCloser(canvas, event) {
  const found = findAt(canvas, event);
  if (found?.stage) {
    canvas.hover = found;
    canvas.chrome.read(found, "tap it: how it was made");
    canvas.draw();
  }
  drawLoupe(canvas, event);
}

/** @param {Canvas} canvas @param {PointerEvent} event */
function drawLoupe(canvas, event) {
  const { stage, painter, colors } = canvas;
  const loupe = findLoupe(canvas);
  const { x, y } = locate(canvas, event);
  const sharp = painter.sharp;
  const seen = (LOUPE.size / LOUPE.zoom) * sharp;
  const pen = openPen(loupe);
  pen.imageSmoothingEnabled = false;
  pen.clearRect(0, 0, loupe.width, loupe.height);
  pen.drawImage(
    painter.element, x * sharp - seen / 2, y * sharp - seen / 2, seen, seen, 0, 0, loupe.width, loupe.height
  );
  pen.strokeStyle = colors.text;
  pen.strokeRect(loupe.width / 2 - 4, loupe.height / 2 - 4, 8, 8);
  loupe.hidden = false;
  loupe.style.left = `${clamp(x - LOUPE.size / 2, 4, stage.clientWidth - LOUPE.size - 4)}px`;
  loupe.style.top = `${Math.max(0, y - LOUPE.lift - LOUPE.size / 2)}px`;
}

/** @param {Canvas} canvas @returns {HTMLCanvasElement} */
function findLoupe({ root }) {
  return findInside(root, ".bvc-loupe");
}
