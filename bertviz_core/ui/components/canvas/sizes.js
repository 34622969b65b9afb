// Sizes that more than one part of the picture goes by, in its own pixels.

/** @import { Canvas } from "./canvas.js" */

export const PHONE = 640; // pixels of width up to which one stage is shown at a time
export const NARROW = 1100; // up to which there is less beside the layers: the drawer is open
export const EDGE = 8;
export const FOLDED = { least: 4, most: 18, blank: 8 }; // pixels of a cell of a strip that is seen whole, and between its rows
export const TITLE = 20; // pixels over each small matrix
export const CARD = { wide: 190, layer: 146, narrow: 118 }; // pixels of the column of words: of the pass, of a layer, and without bars
export const NUMBERED = 104; // pixels of the column from which on words stand there with their shares
export const WORD_LINE = 24; // pixels of a line among the chosen row's words
export const WORD_LINE_LOW = 20; // the same where rows are lower than that
const HEADING = { y: 20, under: 37, third: 54, line: 16 };
const PHONE_HEADING = { y: 18, under: 34, third: 46, line: 16 };

/** @param {Canvas} canvas */
export function heading({ frame }) {
  return frame.phone ? PHONE_HEADING : HEADING;
}
