// A picture for a paper: as wide as a column, with letters of a size that is asked for, whatever the screen is like. Its
// charts lay themselves out for that width, as they do on a narrow screen, so that no letter is stretched.

/** @import { Chart } from "../shared/types.js" */

import { isDrawn } from "../shared/plotly_inside.js";

const LETTER = 12; // pixels of the letters of a chart, which become as large as is asked for
const INCH = 25.4, POINTS = 72; // millimetres, and points
const PATIENCE = 2500; // milliseconds
const STILL = 3; // looks in a row that find the charts as they were

// As wide as it is printed, in millimetres, and in pixels of a page whose letters are then printed in these points.
/** @typedef {{ wide: number, room: number, letter: number }} Print */

// How a picture is to be printed; null where it leaves the app as it stands.
/** @param {Element} asked @returns {Print | null} */
export function readPrint(asked) {
  const wide = Number(asked.dataset.width);
  if (!wide) return null;
  const menu = asked.parentElement?.querySelector("[data-letters]");
  const points = Number(/** @type {HTMLSelectElement | null | undefined} */ (menu)?.value || asked.dataset.letters);
  return { wide, room: points ? ((wide / INCH) * POINTS * LETTER) / points : 0, letter: LETTER };
}

// What is drawn with a panel's charts as wide as they are to be; unseen meanwhile, with the page around it as it was.
/** @template T @param {Element} panel @param {Chart[]} charts @param {number} wide @param {() => T} draw */
export async function layOut(panel, charts, wide, draw) {
  const place = /** @type {Element} */ (panel.parentElement);
  const were = [panel, place].map(({ style }) => style.cssText);
  const { width, height } = panel.getBoundingClientRect();
  const around = width - measure(charts).width;
  place.style.minHeight = `${height}px`;
  panel.style.cssText += `;position:absolute;visibility:hidden;max-width:none;width:${wide + around}px !important`;
  try {
    await settle(charts);
    return draw();
  } finally {
    [panel, place].forEach((each, i) => { each.style.cssText = were[i]; });
  }
}

// Until all charts are as wide as what they stand in, and stay so.
/** @param {Chart[]} charts */
async function settle(charts) {
  const until = performance.now() + PATIENCE;
  for (let still = 0, before = ""; still < STILL && performance.now() < until;) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    const fits = charts.every((chart) => isDrawn(chart) && Math.abs(chart.getBoundingClientRect().width - roomOf(chart)) < 1);
    const now = JSON.stringify(charts.map((chart) => chart.getBoundingClientRect()));
    still = fits && now === before ? still + 1 : 0;
    before = now;
  }
}

// What a chart has to fill.
/** @param {Chart} chart */
function roomOf(chart) {
  return chart.parentElement?.getBoundingClientRect().width ?? 0;
}

// The box around all of them.
/** @param {Element[]} charts */
function measure(charts) {
  const boxes = charts.map((chart) => chart.getBoundingClientRect());
  const [left, top] = [Math.min(...boxes.map((box) => box.left)), Math.min(...boxes.map((box) => box.top))];
  const [right, bottom] = [Math.max(...boxes.map((box) => box.right)), Math.max(...boxes.map((box) => box.bottom))];
  return { left, top, width: right - left, height: bottom - top };
}
