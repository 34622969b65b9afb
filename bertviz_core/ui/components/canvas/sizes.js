// Sizes that more than one part of the picture goes by, in its own pixels.

/** @import { Canvas } from "./canvas.js" */

export const PHONE = 640; // pixels of width up to which one stage is shown at a time
export const NARROW = 1100; // up to which there is less beside the layers: the drawer is open
export const EDGE = 8;
export const FOLDED = { least: 4, most: 18, blank: 8 }; // pixels of a cell of a strip that is seen whole, and between its rows
export const TITLE = 20; // pixels over each small matrix
export const CARD = { wide: 146, narrow: 118, gap: 8 }; // pixels: with bars and without, and left of it
export const WORD = { least: 60, numbered: 104, most: 134 }; // of the column of words; from `numbered` on with their shares
export const WORD_LINE = 24; // pixels of a line among the chosen row's words
const HEADING = { y: 20, under: 37, third: 54, line: 16 };
const PHONE_HEADING = { y: 18, under: 34, third: 46, line: 16 };

/** @param {Canvas} canvas */
export function heading({ frame }) {
  return frame.phone ? PHONE_HEADING : HEADING;
}
