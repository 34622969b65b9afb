// What is scrolled into view by itself: what is chosen in the frame, and the cell that a link or a walk led to.

import { isSameCell, readAddress } from "../shared/address.js";
import { findScroller } from "../shared/places.js";
import { listWritten } from "./here.js";
import { DRAWER, findEnd, findMiddle } from "./page.js";

const BAR = 124; // pixels at the top of the window that the app's frame covers
const SETTLING = 1500; // milliseconds in which charts that are drawn later may push a ring out of sight again
const CHOSEN = {
  '.bv-chips [aria-checked="true"]': ".bv-chips",
  '[class*="st-key-map-here"]': ".st-key-map",
  ".bv-cut-flow [data-here]": ".bv-cut-tokens",
  ".bv-matched .bv-main": ".bv-matched",
  ".bv-ladder th.bv-at": ".bv-ladder",
  ".bv-patched .bv-marked": ".bv-patched",
};

/** @type {Record<string, { what: string, place: number, around: Element }>} */
const brought = {}; // by what it was searched with

// Of the sentence's tokens in the bar, and on the page where they are many, the chosen one comes into view, of the map's
// stages the page's own, of a wide table the column that is looked at; once, so that one may look at others, and again
// where what came beside it has moved it, or all of it was drawn anew.
export function bringChosen() {
  for (const [selector, row] of Object.entries(CHOSEN)) {
    const chosen = document.querySelector(selector);
    const [around, before] = [chosen?.closest(row), brought[selector]];
    if (!chosen || !around) continue;
    const what = `${location.pathname} ${chosen.dataset.token} ${around.clientWidth}`; // of a narrower row it may be at the end
    const [own, all] = [chosen.getBoundingClientRect(), around.getBoundingClientRect()];
    const place = around.scrollLeft + own.left - all.left;
    if (before?.what === what && before.around === around && Math.abs(before.place - place) < 2) continue; // pixels are rounded as one scrolls
    brought[selector] = { what, place, around };
    around.scrollLeft += findMiddle(chosen) - findMiddle(around);
    around.scrollTop += own.top + own.height / 2 - all.top - all.height / 2;
  }
}

// The cell that is brought into what frame and drawer leave of the window; once.
export class Wanted {
  /** @type {{ cell: string, opened: boolean, until: number } | null} */ wanted = null;

  // opened: a page has just been opened with it.
  /** @param {string | null} cell */
  want(cell, opened = false) {
    this.wanted = cell ? { cell, opened, until: Infinity } : null;
  }

  // Whoever goes on by hand is not scrolled.
  release() {
    this.wanted = null;
  }

  // opener: what was clicked, and for which cell. Where that is still seen, nothing moves under the pointer.
  /** @param {Element} app @param {{ element: Element, cell: string } | null} opener */
  reveal(app, opener) {
    if (!this.wanted || performance.now() > this.wanted.until) return;
    if (opener?.element.isConnected && isSameCell(opener.cell, this.wanted.cell) && isSeen(opener.element)) return;
    const onPage = (/** @type {Element} */ ring) => ring.checkVisibility() && !ring.closest(DRAWER);
    const rings = [...app.querySelectorAll(".bv-ring")].filter(onPage);
    // A chart may still be drawn. Until then, and where there is none, a link's page begins at its number in a table, else
    // at the card of its tensor.
    const instead = () => [...listWritten(app, this.wanted?.cell ?? ""), ...(this.wanted?.opened ? findCards(app, this.wanted.cell) : [])];
    const shown = rings.length || opener ? rings : instead().filter(onPage);
    if (!shown.length) return;
    if (rings.length && this.wanted.until === Infinity) this.wanted.until = performance.now() + SETTLING;
    if (shown.some(isSeen)) return;
    const clicked = shown.find((ring) => opener?.element.contains(ring)) ?? shown[0];
    const { top, bottom } = clicked.getBoundingClientRect();
    findScroller(clicked).scrollBy({ top: (top + bottom) / 2 - (BAR + findEnd()) / 2, behavior: "instant" });
  }
}

// The titles of cards that show a cell's tensor, or what is made from it: a head itself may have no box.
/** @param {Element} app @param {string} cell */
function findCards(app, cell) {
  const name = (/** @type {string} */ of) => readAddress(of.replace(/^from /, "").split(" ")[0]).path;
  const heads = /** @type {HTMLElement[]} */ ([...app.querySelectorAll("[data-of]")]);
  const found = heads.filter(({ dataset }) => name(dataset.of ?? "") === readAddress(cell).path);
  return found.map((head) => head.querySelector(".bv-said") ?? head);
}

/** @param {Element} element */
function isSeen(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= BAR && bottom <= findEnd();
}
