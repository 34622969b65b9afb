// Colours of cells: the kind's own above zero, grey below, deeper as the number is larger, in proportion.

/** @import { Kind, Palette } from "./types.js" */

import { clamp } from "../shared/clamp.js";

const SHADES = 64; // to each side of zero
const BELOW = 0.82; // how deep the grey of the lowest number is

export class Colors {
  /** @type {Map<Kind, string[]>} */ shades = new Map();

  /** @param {Palette} colors */
  constructor(colors) {
    this.kinds = colors.kinds;
    this.accent = colors.accent;
    this.text = colors.text;
    this.surface = colors.surface;
    this.negative = colors.negative;
    /** @type {Exclude<keyof Palette, "kinds">[]} */
    const names = ["zero", "negative", "paper", "text", "surface"];
    this.rgb = Object.fromEntries(names.map((name) => [name, readColor(colors[name])]));
  }

  /** @param {string} kind */
  ink(kind) {
    return this.kinds[kind]?.[0] ?? this.text;
  }

  /** @param {string} kind */
  cell(kind) {
    return this.kinds[kind]?.[1] ?? this.text;
  }

  // The colour of a number on a scale that ends at `limit`.
  /** @param {string} kind @param {number} value @param {number} limit */
  shade(kind, value, limit) {
    let shades = this.shades.get(kind);
    if (!shades) this.shades.set(kind, (shades = this.mix(kind)));
    const deep = clamp(value / limit || 0, -1, 1);
    return shades[Math.round(SHADES * (1 + deep))];
  }

  /** @param {string} kind */
  mix(kind) {
    const above = readColor(this.cell(kind));
    return Array.from({ length: 2 * SHADES + 1 }, (_, i) => {
      const deep = i / SHADES - 1;
      const [end, part] = deep < 0 ? [this.rgb.negative, -deep * BELOW] : [above, deep];
      return `rgb(${blend(this.rgb.zero, end, part).map(Math.round).join()})`;
    });
  }

  // What can be read on a kind's colour of this opacity over another.
  /** @param {Kind} kind @param {number} opacity @param {string} under */
  readable(kind, opacity, under) {
    const ground = brightness(blend(this.rgb[under], readColor(this.cell(kind)), opacity));
    const contrast = (/** @type {number[]} */ rgb) => {
      const own = brightness(rgb);
      return (Math.max(own, ground) + 0.05) / (Math.min(own, ground) + 0.05);
    };
    return contrast(this.rgb.text) >= contrast(this.rgb.surface) ? this.text : this.surface;
  }
}

/** @param {string} text */
function readColor(text) {
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
}

/** @param {number[]} from @param {number[]} to @param {number} part */
function blend(from, to, part) {
  return from.map((start, i) => start + (to[i] - start) * part);
}

/** @param {number[]} rgb */
function brightness(rgb) {
  const [red, green, blue] = rgb.map((each) => {
    const part = each / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
