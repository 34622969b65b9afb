// How much room there is for the picture: it ends where the window ends, and in a large window all of it is larger.

/** @import { Canvas } from "./canvas.js" */

import { clamp } from "../shared/clamp.js";
import { PARTS } from "../shared/streamlit.js";
import { findDrawn } from "./lights.js";
import { PHONE } from "./sizes.js";

const DRAWER = 420; // pixels of the drawer's width
const FRAME = 124; // pixels that the app's frame covers on a phone
const LOWEST = { wide: 480, phone: 580 }; // pixels that the picture is high at least: on a phone a dozen tokens with the keys
const USUAL = { width: 1440, height: 810 }; // pixels of a window in which nothing is enlarged,
const LARGEST = 1.35; // and how much at most in a larger one, such as a projector's

/** @param {Canvas} canvas */
function findScroller({ root }) {
  return root.closest(PARTS.main) ?? document.scrollingElement ?? document.documentElement;
}

/** @param {Canvas} canvas */
export function fillWindow(canvas) {
  const { root } = canvas;
  canvas.scale = clamp(Math.min(innerWidth / USUAL.width, innerHeight / USUAL.height), 1, LARGEST);
  const top = root.getBoundingClientRect().top + findScroller(canvas).scrollTop;
  const least = innerWidth > PHONE ? LOWEST.wide : LOWEST.phone;
  const height = `${Math.max(least, Math.floor((innerHeight - top - 4 - findCovered()) / canvas.scale))}px`;
  if (root.style.height !== height) root.style.height = height;
  if (root.style.zoom !== String(canvas.scale)) root.style.zoom = String(canvas.scale);
}

// On a phone the map of the pass lies at the window's lower edge.
function findCovered() {
  return innerWidth > PHONE ? 0 : document.querySelector(".st-key-map")?.getBoundingClientRect().height ?? 0;
}

// Where in the picture, in its own pixels, an event happened.
/** @param {Canvas} target @param {PointerEvent} event */
export function locate({ stage, scale }, { clientX, clientY }) {
  const { left, top } = stage.getBoundingClientRect();
  return { x: (clientX - left) / scale, y: (clientY - top) / scale };
}

// How many pixels of the picture a sheet from below leaves free; 0 where there is none.
/** @param {Canvas} canvas */
export function countUncovered({ explained, stage }) {
  const sheet = document.querySelector(".st-key-drawer:has(#bv-drawer-title)")?.getBoundingClientRect();
  if (!explained.cell || !sheet || innerWidth > PHONE) return 0;
  return Math.max(90, sheet.top - stage.getBoundingClientRect().top);
}

// On a phone the drawer comes from below: the picture goes up under the frame, where it is still seen.
/** @param {Canvas} canvas */
export function showRows(canvas) {
  if (!canvas.explained.cell || innerWidth > PHONE) return;
  findScroller(canvas).scrollBy({ top: canvas.stage.getBoundingClientRect().top - FRAME, behavior: "instant" });
}

// In a wide window the drawer lies over the picture: at the other side, where the explained cell would lie under it.
/** @param {Canvas} canvas */
export function uncover(canvas) {
  const { explained, frame, scale, stage } = canvas;
  const [found] = explained.cell && innerWidth > PHONE ? findDrawn(canvas, explained.cell) : [];
  if (!found) return;
  const { x, w } = frame.parts[found.part];
  const middle = stage.getBoundingClientRect().left + (x + w / 2) * scale;
  if (Math.min(middle, innerWidth - middle) > DRAWER) return;
  document.documentElement.classList.toggle("bv-left", middle > innerWidth / 2);
}
