// On a page that has parts of several stages, the map lights those that are in view.

import { PARTS } from "../shared/streamlit.js";

const PART = '[class*="st-key-stage-"]', MAP = ".st-key-map a", LIT = "bv-in-view";
const UPPER = 0.2, LOWER = 0.7; // of the window's height: what lies between is read, and what is below it, whole

export function lightMap() {
  const seen = new Set();
  for (const part of document.querySelectorAll(PART)) {
    const { top, bottom } = part.getBoundingClientRect();
    const link = /** @type {HTMLAnchorElement | null} */ (part.querySelector(`${PARTS["page-link"]} a`));
    const begins = top < LOWER * innerHeight || bottom <= innerHeight; // no scrolling brings the last one higher
    if (link && begins && bottom > UPPER * innerHeight) seen.add(link.pathname);
  }
  for (const each of document.querySelectorAll(MAP)) {
    each.classList.toggle(LIT, seen.has(/** @type {HTMLAnchorElement} */ (each).pathname));
  }
}
