// One head, token to token: queries on the left, keys on the right, and a line for each share of attention. `data` gives
// queries and keys as [{index, text, special, piece, second}], shares as (query, key) bytes in single precision, base64,
// no number where one is left out, and so the part of each query's attention that is not drawn; `part`: whether any
// shares are left out; `full`: the share whose line is opaque; `top`: pixels above; `row`: of a
// token.

/** @import { LinesData, LinesToken, Side } from "./types.js" */

import { readPair } from "../shared/address.js";
import { clampIndex } from "../shared/clamp.js";
import { findInside, makeElement, makeSvg } from "../shared/element.js";
import { writeNumber } from "../shared/numbers.js";

/** @type {Side[]} */
const SIDES = ["query", "key"];
const FAINT = 0.2; // of an opaque one: what is fainter is hard to find
const FAINTEST = 0.005; // below half a percent of an opaque one a line cannot be seen

export class TokenLines {
  /** @type {Omit<LinesData, "shares" | "hidden"> & { shares: Float32Array, hidden: Float32Array }} */ data;
  /** @type {Record<Side, Element[]>} */ tokens;
  /** @type {{ line: Element, query: number, key: number }[]} */ strokes;
  /** @type {(index: number) => void} */ choose;
  /** @type {Element | undefined} */ hint; // a line in place of one that is too faint
  /** @type {DOMStringMap | null} */ active = null;
  /** @type {string[]} */ way = []; // the numbers that were walked through, the one that is explained last

  /** @param {ShadowRoot | Element} root */
  constructor(root) {
    this.frame = findInside(root, ".lines");
    this.said = findInside(root, ".said");
    /** @type {SVGElement} */ this.svg = findInside(root, "svg");
    this.sides = { query: findInside(root, ".query"), key: findInside(root, ".key") };
    this.frame.addEventListener("keydown", (event) => this.key(event));
    this.frame.addEventListener("pointerleave", () => this.leave());
    this.frame.addEventListener("focusout", () => this.point(null));
  }

  /** @param {LinesData} data */
  show(data) {
    const focused = this.frame.querySelector(".token:focus")?.dataset;
    const { active } = this;
    this.data = { ...data, shares: readShares(data.shares), hidden: readShares(data.hidden) };
    for (const [name, color] of Object.entries(data.colors)) this.frame.style.setProperty(`--${name}`, color);
    this.frame.style.setProperty("--top", `${data.top}px`);
    this.frame.style.setProperty("--high", `${data.row}px`);
    this.frame.classList.toggle("chosen", data.query.some(({ index }) => index === data.chosen));
    this.tokens = { query: [], key: [] };
    for (const side of SIDES) {
      this.tokens[side] = data[side].map((token, place) => this.token(side, token, place));
      const caption = makeElement("div", "caption", data.captions[side]);
      caption.setAttribute("aria-hidden", "true");
      this.sides[side].replaceChildren(caption, ...this.tokens[side]);
      const chosen = data[side].findIndex(({ index }) => index === data.chosen);
      if (this.tokens[side].length) this.tokens[side][Math.max(chosen, 0)].tabIndex = 0;
    }
    this.draw();
    this.point(null);
    this.same(focused)?.focus();
    const again = this.same(active);
    if (again) this.point(readSide(again), Number(again.dataset.place));
  }

  // The token that stands where another one, of what was shown before, stood in the sentence.
  /** @param {DOMStringMap | null | undefined} before */
  same(before) {
    return before && this.tokens[readSide({ dataset: before })].find(({ dataset }) => dataset.index === before.index);
  }

  // What the keyboard points at stays when the pointer goes.
  leave() {
    const focused = this.frame.querySelector(".token:focus-visible")?.dataset;
    this.point(/** @type {Side | undefined} */ (focused?.side) ?? null, Number(focused?.place));
  }

  /** @param {Side} side @param {LinesToken} given1 @param {number} place */
  token(side, { index, text, numbered, special, piece, second }, place) {
    const kinds = Object.entries({ special, piece, second }).flatMap(([kind, is]) => (is ? [kind] : []));
    const button = makeElement("button", "token");
    Object.assign(button.dataset, { side, place, index });
    button.append(makeElement("span", ["text", ...kinds].join(" "), ...(numbered ? [makeElement("small", "", index)] : []), text));
    button.append(makeElement("span", "number", ""));
    button.tabIndex = -1;
    button.setAttribute("role", "option");
    button.setAttribute("aria-selected", index === this.data.chosen);
    button.setAttribute("aria-label", `${side} ${index} ${text}`);
    button.addEventListener("pointerenter", () => this.point(side, place));
    button.addEventListener("focus", () => this.point(side, place));
    button.addEventListener("click", () => {
      this.point(side, place);
      this.choose(index);
    });
    return button;
  }

  draw() {
    const { query, key, shares, full } = this.data;
    const rows = Math.max(query.length, key.length);
    this.svg.setAttribute("viewBox", `0 0 100 ${rows || 1}`);
    this.svg.style.height = `calc(var(--row) * ${rows})`;
    this.strokes = [];
    for (let q = 0; q < query.length; q++) {
      for (let k = 0; k < key.length; k++) {
        const share = shares[q * key.length + k];
        if (!(share >= FAINTEST * full)) continue;
        const ends = { x1: 0, y1: q + 0.5, x2: 100, y2: k + 0.5, "stroke-opacity": Math.min(1, share / full) };
        const line = makeSvg("line", ends);
        if (query[q].index === this.data.chosen) line.classList.add("own");
        this.strokes.push({ line, query: q, key: k });
      }
    }
    this.svg.replaceChildren(...this.strokes.map(({ line }) => line));
    this.markPair();
  }

  /** @param {string[]} way */
  explain(way) {
    this.way = way;
    if (this.data) this.markPair();
  }

  // The pair of tokens whose number was explained last: its line is bold, dashed where its share is too small for one,
  // and the key has its mark as the chosen query has.
  markPair() {
    const { of, query, key } = this.data;
    const pair = of ? this.way.flatMap((cell) => readPair(of, cell) ?? []).at(-1) : undefined;
    const place = (/** @type {LinesToken[]} */ tokens, /** @type {number | undefined} */ i) => tokens.findIndex(({ index }) => index === i);
    const [q, k] = [place(query, pair?.query), place(key, pair?.key)];
    this.tokens.key.forEach((token, i) => token.classList.toggle("here", q >= 0 && i === k));
    for (const stroke of this.strokes) stroke.line.classList.toggle("here", stroke.query === q && stroke.key === k);
    this.hint?.remove();
    const share = this.data.shares[q * key.length + k] / this.data.full;
    if (q < 0 || k < 0 || share >= FAINT) return;
    this.hint = makeSvg("line", { x1: 0, y1: q + 0.5, x2: 100, y2: k + 0.5 });
    this.hint.classList.add("here", "hint");
    this.svg.append(this.hint);
  }

  /** @param {Side | null} side @param {number} [place] */
  point(side, place = 0) {
    this.active = side && { ...this.tokens[side][place].dataset };
    this.frame.classList.toggle("at-query", side === "query");
    this.frame.classList.toggle("at-key", side === "key");
    this.said.textContent = side ? this.sentence(side, place) : "";
    if (!side) return;
    const other = side === "query" ? "key" : "query";
    for (const stroke of this.strokes) stroke.line.classList.toggle("on", stroke[side] === place);
    this.tokens[side].forEach((token, i) => token.classList.toggle("on", i === place));
    this.tokens[other].forEach((token, i) => {
      const share = this.share(side, place, i);
      findInside(token, ".number").textContent = Number.isNaN(share) ? "" : writeNumber(share);
    });
    for (const token of this.tokens[side]) token.tabIndex = Number(token.dataset.place) === place ? 0 : -1;
  }

  /** @param {Side} side @param {number} place @param {number} i */
  share(side, place, i) {
    const [q, k] = side === "query" ? [place, i] : [i, place];
    return this.data.shares[q * this.data.key.length + k];
  }

  /** @param {Side} side @param {number} place */
  sentence(side, place) {
    const other = this.data[side === "query" ? "key" : "query"];
    const strongest = other
      .map((token, i) => ({ share: this.share(side, place, i), token }))
      .filter(({ share }) => !Number.isNaN(share))
      .sort((one, next) => next.share - one.share)
      .slice(0, 3);
    const { index, text } = this.data[side][place];
    if (!strongest.length) return `${index} ${text}: nothing is drawn.`;
    if (side === "query" && !this.data.hidden[place] && !other.some((_, i) => this.share(side, place, i))) {
      return `${index} ${text} attends to no token: all its weights are 0.`;
    }
    const hidden = side === "query" ? this.data.hidden[place] : 0;
    const rest = hidden ? ` Not shown: ${writeNumber(hidden)}.` : "";
    if (strongest[0].share <= 0) return `${index} ${text}: of what is drawn, no weight is above 0.${rest}`;
    const named = strongest.map(({ share, token }) => `${token.index} ${token.text} ${writeNumber(share)}`);
    const [attends, to] = side === "query" ? ["attends", "to"] : ["is attended to", "by"];
    const verb = this.data.part ? `${attends}, of what is drawn, most ${to}` : `${attends} most ${to}`;
    return `${index} ${text} ${verb} ${named.join(", ")}.${rest}`;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {Element} */ (event.target);
    /** @type {Record<string, number>} */
    const steps = { ArrowUp: -1, ArrowDown: 1, Home: -Infinity, End: Infinity };
    /** @type {Record<string, Side>} */
    const sides = { ArrowLeft: "query", ArrowRight: "key" };
    if (event.key === "Escape") return target.blur();
    if (!(event.key in steps || event.key in sides)) return;
    event.preventDefault();
    const tokens = this.tokens[sides[event.key] ?? readSide(target)];
    tokens[clampIndex(Number(target.dataset.place) + (steps[event.key] ?? 0), tokens.length)]?.focus();
  }
}

/** @param {Pick<Element, "dataset">} token @returns {Side} */
function readSide({ dataset }) {
  return dataset.side === "key" ? "key" : "query";
}

/** @param {string} text */
function readShares(text) {
  return new Float32Array(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
}
