// Frames around the operands of a number: one around neighbours in a row, in the colour of the card's kind.

/** @import { Mark } from "./types.js" */

const APART = 3; // pixels between neighbours, at most

// Boxes of which those beside each other in a row are one; `count`: of how many.
/** @param {(Mark | null)[]} boxes @returns {(Mark & { count: number })[]} */
export function join(boxes) {
  /** @type {(Mark & { count: number })[]} */
  const joined = [];
  for (const box of boxes.flatMap((each) => each ?? []).sort((one, next) => one.top - next.top || one.left - next.left)) {
    const last = joined.at(-1);
    if (last && isBeside(last, box)) {
      last.width = box.left + box.width - last.left;
      last.count++;
    } else joined.push({ ...box, count: 1 });
  }
  return joined;
}

/** @param {Mark} one @param {Mark} next */
function isBeside(one, next) {
  return !one.round && !next.round && one.top === next.top && one.height === next.height && Math.abs(next.left - one.left - one.width) <= APART;
}

// The colour of the kind of vector that a chart's card shows; "" outside of cards.
/** @param {Element} drawn */
export function readKind(drawn) {
  /** @type {HTMLElement | null | undefined} */
  const title = drawn.closest('[class*="st-key-panel-"]')?.querySelector(".bv-panel-title");
  return title?.style.getPropertyValue("--kind") ?? "";
}
