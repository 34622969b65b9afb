// Ways to other pages: links that the server makes, and the picture follows. Each step waits for the answer to the one
// before: a page that is left half-way would not know what was chosen in it.

/** @import { Canvas } from "./canvas.js" */
/** @import { Where } from "./types.js" */

import { isRunning, PARTS } from "../shared/streamlit.js";
import { wordOf } from "./words.js";

const PATIENCE = 10000; // milliseconds that the way to another page may take

// The page of the shortest story takes the place of this one.
/** @param {Canvas} canvas @param {{ where: Where, word?: number }} found */
export function tellStory(canvas, found) {
  const asked = { token: found.where.row + canvas.data.window.start, id: wordOf(canvas, found)?.id };
  leave(canvas, () => {
    canvas.send("story", asked);
    follow(canvas, "canvas-story");
  });
}

/** @param {Canvas} canvas */
export function openLesson(canvas) {
  leave(canvas, () => follow(canvas, "canvas-lesson"));
}

/** @param {Canvas} canvas @param {() => void} go */
function leave(canvas, go) {
  canvas.player.pause();
  canvas.flush();
  waitFor(canvas, () => !canvas.waitingFor, go);
}

/** @param {Canvas} canvas @param {string} key */
function follow(canvas, key) {
  const app = canvas.root.closest(PARTS.app);
  waitFor(canvas, () => !isRunning(app) && app?.querySelector(`.st-key-${key} a`), (link) => link.click());
}

// Act once something is found, unless the picture has gone by then or it takes too long.
/** @param {Canvas} canvas @param {() => unknown} find @param {(found: any) => void} act @param {number} [until] @returns {void} */
function waitFor(canvas, find, act, until = performance.now() + PATIENCE) {
  const found = canvas.stopped && find();
  if (found) return void act(found);
  if (canvas.stopped && performance.now() < until) requestAnimationFrame(() => waitFor(canvas, find, act, until));
}
