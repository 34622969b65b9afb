// The cells of a heat map in a picture that is taken away: rectangles, as far as these can be handled one by one.

/** @import { HeatMap } from "../shared/types.js" */

import { clamp } from "../shared/clamp.js";
import { makeSvg, openPen } from "../shared/element.js";

const MOST = 64; // rows, and columns, of rectangles
const SHARP = 300 / 96; // pixels of an image a pixel of the page: 300 an inch, where the picture is not enlarged

// In place of the one image that Plotly draws.
/** @param {Element} copy @param {HeatMap} map */
export function drawCells(copy, map) {
  const boxes = placeCells(map);
  const small = map.z.length <= MOST && Math.max(...map.z.map((row) => row.length)) <= MOST;
  copy.replaceChildren(...(small ? boxes.map((box) => makeSvg("rect", box)) : [drawImage(boxes)]));
}

// Where each cell stands in the plot, without the gap around it, and its colour; what is no number has no cell.
/** @param {HeatMap} map */
function placeCells({ trace, x, y, z, xaxis, yaxis }) {
  const [across, down] = [x.map((edge) => xaxis.c2p(edge)), y.map((edge) => yaxis.c2p(edge))];
  const shade = readScale(trace.colorscale);
  const { zmin, zmax, xgap = 0, ygap = 0 } = trace;
  return z.flatMap((row, i) => [...row].flatMap((value, j) => {
    if (!Number.isFinite(value)) return [];
    const [left, right] = [across[j], across[j + 1]].sort((a, b) => a - b);
    const [top, bottom] = [down[i], down[i + 1]].sort((a, b) => a - b);
    const fill = shade((Number(value) - zmin) / (zmax - zmin || 1));
    return [{ x: left + xgap / 2, y: top + ygap / 2, width: right - left - xgap, height: bottom - top - ygap, fill }];
  }));
}

/** @param {{ x: number, y: number, width: number, height: number, fill: string }[]} boxes */
function drawImage(boxes) {
  const far = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  const { left, top, right, bottom } = boxes.reduce((all, { x, y, width, height }) => ({
    left: Math.min(all.left, x), top: Math.min(all.top, y), right: Math.max(all.right, x + width), bottom: Math.max(all.bottom, y + height),
  }), far);
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil((right - left) * SHARP);
  canvas.height = Math.ceil((bottom - top) * SHARP);
  const pen = openPen(canvas);
  for (const { x, y, width, height, fill } of boxes) {
    const [from, until] = [x - left, x - left + width].map((edge) => Math.round(edge * SHARP));
    const [first, last] = [y - top, y - top + height].map((edge) => Math.round(edge * SHARP));
    pen.fillStyle = fill;
    pen.fillRect(from, first, until - from, last - first);
  }
  const place = { x: left, y: top, width: right - left, height: bottom - top };
  return makeSvg("image", { ...place, preserveAspectRatio: "none", href: canvas.toDataURL("image/png") });
}

// The colour at each part of a scale, which is given by a few.
/** @param {[number, string][]} scale @returns {(part: number) => string} */
function readScale(scale) {
  const stops = scale.map(([at, color]) => ({ at, color: readColor(color) }));
  return (part) => {
    const place = clamp(part, 0, 1);
    const next = Math.max(1, stops.findIndex(({ at }) => at >= place));
    const [one, other] = [stops[next - 1], stops[next]];
    const way = (place - one.at) / (other.at - one.at || 1);
    return `rgb(${one.color.map((from, i) => Math.round(from + way * (other.color[i] - from))).join()})`;
  };
}

/** @param {string} color */
function readColor(color) {
  if (color[0] !== "#") return (color.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
}
