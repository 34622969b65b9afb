// Pointing and clicking. What is pointed at is {part, where?, stage?, layer?, word?}, `where` as in
// data.js.

/** @import { Canvas } from "./canvas.js" */
/** @import { Stage, Target, Where } from "./types.js" */

import { findInside } from "../shared/element.js";
import { cellBox } from "./cells.js";
import { findAt, findSpine, isSameTarget } from "./find.js";
import { lightRow, pointAtRow } from "./light.js";
import { tellStory } from "./links.js";
import { isOfStream } from "./parts.js";
import { moveWindow } from "./rail.js";

const FINGER = 40; // pixels

/** @param {Canvas} canvas @param {AbortSignal} signal */
export function listenToPointer(canvas, signal) {
  const { stage, root } = canvas;
  /**
   * @template {keyof HTMLElementEventMap} Name
   * @param {Name} name
   * @param {(event: HTMLElementEventMap[Name]) => unknown} act
   * @param {AddEventListenerOptions} [more]
   */
  const on = (name, act, more) => stage.addEventListener(name, act, { signal, ...more });
  on("pointermove", (event) => event.pointerType !== "touch" && point(canvas, event));
  on("pointerenter", () => canvas.player.hold(true));
  on("pointerleave", () => canvas.player.hold(false));
  on("pointerleave", ({ pointerType }) => pointerType !== "touch" && unpoint(canvas));
  on("click", (event) => press(canvas, event));
  on("wheel", (event) => roll(canvas, event), { passive: false });
  document.addEventListener("pointerover", ({ target }) => {
    const pointed = /** @type {Element} */ (target);
    const token = pointed.closest?.("[data-token]")?.dataset.token;
    if (!root.contains(pointed)) {
      pointAtRow(
        canvas, token === undefined ? null : Number(token) - canvas.data.window.start
      );
    }
  }, { signal });
}

/** @param {Canvas} canvas @param {PointerEvent} event */
function point(canvas, event) {
  const found = findAt(canvas, event);
  if (isSameTarget(found, canvas.hover)) return;
  canvas.hover = found;
  canvas.stage.style.cursor = found && found.part !== "row" ? "pointer" : "default";
  lightRow(canvas, found?.where?.row ?? null, found?.where?.key);
  canvas.chrome.read(found);
  if (!canvas.moving) canvas.draw();
}

/** @param {Canvas} canvas */
function unpoint(canvas) {
  canvas.hover = null;
  lightRow(canvas, null);
  canvas.chrome.read(null);
  canvas.draw();
}

// A touch on a cell that is smaller than a finger first chooses it, a second one explains it.
/** @param {Canvas} canvas @param {PointerEvent} event */
function press(canvas, event) {
  if (/** @type {Element} */ (event.target).closest("[data-does]")) return;
  const found = findAt(canvas, event);
  const box = found?.stage && found.where && found.part !== "weights" ? cellBox(canvas, found.part, found.where) : null;
  if (canvas.looked) return void (canvas.looked = false); // the finger looked through the loupe
  const small = found && box && Math.min(box.w, box.h) < FINGER && !findSpine(canvas, found.part);
  if (event.pointerType !== "touch" || !small || isSameTarget(found, canvas.hover)) return act(canvas, found);
  canvas.hover = found;
  lightRow(canvas, found.where?.row ?? null);
  canvas.chrome.read(found, "tap again: how it was made");
  return canvas.draw();
}

// What a click does: a layer opens, a head opens, a cell is explained, a word's story is told, a token is chosen.
/** @param {Canvas} canvas @param {Target | null} found */
export function act(canvas, found) {
  if (!found) return;
  const { place, data } = canvas;
  const { part, where, stage, strip, word } = found;
  const layer = found.layer ?? findSpine(canvas, part);
  if (strip && place.level === "pass") canvas.go({ level: "layer", layer: 0, strip });
  else if (strip) canvas.go({ strip: place.strip ? null : strip });
  else if (layer !== null && layer !== undefined) canvas.go({
    level: place.level === "pass" ? "layer" : place.level, layer,
  });
  else if (!where) return;
  else if (part === "row" || part === "tokens") canvas.go({ token: where.row + data.window.start });
  else if (part === "words") tellStory(canvas, { where, word });
  else if (part === "weights") canvas.go({ level: "head", head: where.head });
  else if (stage) explainCell(canvas, stage, where);
}

// The page's listener opens the drawer, and brings the focus back here when it is closed.
// It says which cell, and with it a component of the residual stream: that needs no message of its own.
/** @param {Canvas} canvas @param {Stage} stage @param {Where} where */
function explainCell(canvas, stage, where) {
  canvas.player.pause();
  const ask = findInside(canvas.root, ".bvc-ask");
  ask.dataset.cell = canvas.stages.write(stage, where);
  ask.click();
  const { column } = where;
  if (column !== undefined && isOfStream(canvas, stage)) canvas.go({ component: stage.columns[column] }, false);
}

// A wheel over the rows moves the window where not all of them are seen.
/** @param {Canvas} canvas @param {WheelEvent} event */
function roll(canvas, event) {
  const { frame, data, first = 0 } = canvas;
  const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
  if (!frame || data.window.total <= frame.count || event.ctrlKey || sideways) return;
  event.preventDefault();
  canvas.turned = (canvas.turned ?? 0) + event.deltaY / frame.row;
  const by = Math.trunc(canvas.turned);
  canvas.turned -= by;
  if (by) moveWindow(canvas, (canvas.wanted ?? data.window.start + first) + by);
}
