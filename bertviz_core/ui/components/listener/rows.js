// In a low window a table of the drawer shows as many rows as there is room for; the others come when they are asked for.

import { DRAWER } from "./page.js";

const BELOW = 8; // pixels that stay free below the last line

// Once for each table, height of the window and number of the drawer's parts, which come one after another: what is
// measured, the browser has to lay out. Again when the fonts have come, in which the rows are of another height.
export function fitRows() {
  const table = document.querySelector(`${DRAWER} .bv-operands:has(.bv-more)`);
  if (!table) return;
  const measured = `${innerHeight} ${document.querySelectorAll(`${DRAWER} *`).length}`;
  if (table.dataset.fitted === measured) return;
  table.dataset.fitted = measured;
  fit(table);
  if (document.fonts.status !== "loading") return;
  document.fonts.ready.then(() => {
    delete table.dataset.fitted;
    fitRows();
  });
}

/** @param {Element} table */
function fit(table) {
  const late = [...table.querySelectorAll(".bv-late")];
  const more = table.querySelector(".bv-more");
  for (const row of late) row.classList.remove("bv-fits");
  more?.removeAttribute("hidden");
  if (!more?.checkVisibility()) return; // the window is high, or all were asked for
  const count = countFitting(late.length, more);
  for (const row of late.slice(0, count)) row.classList.add("bv-fits");
  more.toggleAttribute("hidden", count === late.length);
  const button = more.querySelector("button");
  if (button) button.textContent = `${late.length - count} more rows`;
}

// How many of the rows that are kept back fit; where only one would be left, it takes the place of the offer.
/** @param {number} kept @param {Element} more */
function countFitting(kept, more) {
  const body = document.querySelector(`${DRAWER}-body`);
  const around = body?.parentElement;
  if (!body || !around) return 0;
  const free = around.getBoundingClientRect().bottom - BELOW - body.getBoundingClientRect().bottom;
  const fitting = Math.floor(free / more.getBoundingClientRect().height);
  return fitting >= kept - 1 ? kept : Math.max(0, fitting);
}
