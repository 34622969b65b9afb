// The number that is explained, ringed wherever the page writes it; and in tables of several steps the row of the number
// that the walk has been at last, lit in place of the one that the page was opened with.

import { isSameCell, readAddress } from "../shared/address.js";

const NUMBER = "bv-number-here", ROW = "bv-row-here", MOVED = "bv-rows-left";
const FORMULA = ".bv-worked, .bv-button"; // opens a number that it does not write
const TABLES = ".bv-aligned table";

// way: the walk's numbers by address, the one that is explained last.
/** @param {Element} app @param {string[]} way */
export function markNumbers(app, way) {
  const here = way.at(-1);
  mark(app, NUMBER, here ? listWritten(app, here) : []);
  for (const table of app.querySelectorAll(TABLES)) {
    const rows = way.flatMap((cell) => listWritten(table, cell).flatMap((each) => each.closest("tr") ?? []));
    mark(table, ROW, rows.slice(-1));
    table.classList.toggle(MOVED, rows.length > 0);
  }
}

// The places in texts and tables where a cell's number is written.
/** @param {Element} inside @param {string} cell */
export function listWritten(inside, cell) {
  const alike = inside.querySelectorAll(`[data-cell^="${CSS.escape(`${readAddress(cell).path}[`)}"]`);
  return [...alike].filter((each) => isSameCell(each.dataset.cell, cell) && !each.matches(FORMULA));
}

/** @param {Element} inside @param {string} name @param {Element[]} marked */
function mark(inside, name, marked) {
  for (const each of inside.querySelectorAll(`.${name}`)) {
    if (marked.includes(each)) continue;
    each.classList.toggle(name, false);
    each.removeAttribute("aria-current");
  }
  for (const each of marked) {
    each.classList.toggle(name, true);
    if (name === NUMBER) each.setAttribute("aria-current", "true");
  }
}
