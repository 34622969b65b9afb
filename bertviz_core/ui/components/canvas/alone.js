// The picture in a page of its own, without a server: a file holds what it shows, and this answers in the server's place.

/** @import { CanvasData, Kept, Place, Spot } from "./types.js" */

import { findInside } from "../shared/element.js";
import { writeNumber } from "../shared/numbers.js";
import { Canvas } from "./canvas.js";

/** @param {Document} page */
export default function (page) {
  return open(page);
}

/** @param {Document} page */
async function open(page) {
  const kept = JSON.parse(await unpack(findInside(page, "#bvc-kept").textContent ?? ""));
  const alone = new Alone(page, kept, isDark(kept.theme) ? "dark" : "light");
  alone.show();
}

// What the file holds is packed: of the numbers little, of the words most are said again and again.
/** @param {string} text */
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

// In a notebook as that is behind this frame, else as the reader likes it.
/** @param {string} theme */
function isDark(theme) {
  if (theme !== "auto") return theme === "dark";
  for (let around = findFrame(); around; around = around.parentElement) {
    const [red, green, blue, cover = 1] = (getComputedStyle(around).backgroundColor.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
    if (cover > 0.5) return 299 * red + 587 * green + 114 * blue < 128_000;
  }
  return !findFrame() && matchMedia("(prefers-color-scheme: dark)").matches;
}

/** @returns {Element | null} */
function findFrame() {
  try {
    return window.frameElement;
  } catch {
    return null; // the notebook is another site's
  }
}

class Alone {
  /** @param {Document} page @param {Kept} kept @param {"light" | "dark"} theme */
  constructor(page, kept, theme) {
    this.page = page;
    this.kept = kept;
    this.colors = kept.colors[theme];
    this.place = kept.place;
    this.canvas = new Canvas(page.body);
    for (const [name, color] of [["paper", this.colors.paper], ["text", this.colors.text], ["faint", this.colors.faint]]) {
      page.body.style.setProperty(`--bvc-${name}`, color);
    }
    page.documentElement.style.colorScheme = theme;
    page.addEventListener("click", ({ target }) => {
      const cell = /** @type {HTMLElement} */ (target).closest?.("[data-cell]")?.dataset.cell;
      if (cell) this.explain(cell);
    });
  }

  show() {
    this.canvas.show(this.write(), (name, wish) => name === "go" && this.go(/** @type {Partial<Place>} */ (wish)));
  }

  // Where the file has nothing it stays as near as it can: another token is kept at the first layer and head, another
  // layer and head at the first token.
  /** @param {Partial<Place>} wish */
  go(wish) {
    const { place: first, spots } = this.kept;
    const asked = { ...this.place, ...wish, component: null, strip: null };
    const { layer, head, token } = asked;
    const near = "token" in wish && token !== this.place.token
      ? [{ layer, head, token }, { layer: first.layer, head: first.head, token }]
      : [{ layer, head, token }, { layer, head, token: first.token }, { layer, head: first.head, token: first.token }];
    const found = near.find((each) => name(each) in spots);
    this.place = { ...asked, ...found };
    if (found) this.show();
  }

  /** @returns {CanvasData} */
  write() {
    const { spots, common, stages } = this.kept;
    const { stages: drawn, ...spot } = /** @type {Spot} */ (spots[name(this.place)]);
    return {
      ...common, ...spot, colors: this.colors, place: this.place, key: name(this.place),
      stages: drawn.map(([i, limit]) => ({ ...stages[i], limit })),
    };
  }

  // The number of a cell, and how it is worked out from Python: the formulas of all would not fit into a file.
  /** @param {string} cell */
  explain(cell) {
    const value = this.canvas.read(cell);
    findInside(this.page, ".alone-value").textContent = value === undefined ? "" : writeNumber(value);
    findInside(this.page, ".alone-code").textContent = `trace.explain("${cell}")`;
    document.dispatchEvent(new CustomEvent("bv-explained", { detail: { cell, operands: [] } }));
  }
}

/** @param {Pick<Place, "layer" | "head" | "token">} place */
function name({ layer, head, token }) {
  return `${layer},${head},${token}`;
}
