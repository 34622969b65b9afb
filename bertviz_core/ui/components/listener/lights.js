// Pointing: a token is lit wherever it stands.

/** @import { Lit } from "./types.js" */

import { findRoots } from "../shared/places.js";

export class Lights {
  /** @type {Lit | null} */ lit = null; // the token whose row is lit, and the one whose column as a key is
  /** @type {object | null} */ lighter = null; // who lit it

  /** @param {() => void} drawBands in charts, which have no element for a token */
  constructor(drawBands) {
    this.drawBands = drawBands;
  }

  // Only who lit a token puts it out: a chart says late that the pointer has left it.
  /** @param {Lit | null} lit @param {object | null} by */
  light(lit, by) {
    if (!lit && by !== this.lighter) return;
    this.lighter = by;
    if (lit?.row === this.lit?.row && lit?.key === this.lit?.key) return;
    this.lit = lit;
    for (const root of findRoots()) {
      for (const each of root.querySelectorAll("[data-token]")) {
        const token = Number(each.dataset.token);
        each.classList.toggle("bv-lit", token === lit?.row || token === lit?.key);
      }
    }
    this.drawBands();
  }
}
