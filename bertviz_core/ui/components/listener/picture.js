// Charts taken away: as one SVG or PNG of a panel, with what is needed to find the numbers again printed below.

/** @import { Chart } from "../shared/types.js" */
/** @import { ListenerData } from "./types.js" */

import { findAround, makeSvg, openPen } from "../shared/element.js";
import { CHART, copyLayers, listScenes } from "../shared/plotly_inside.js";
import { embedFonts, readData } from "./fonts.js";
import { download, keepXml, writeLink } from "./taken.js";

const EDGE = 16, LINE = 18, SHARP = 2; // pixels around a picture and from line to line; PNG pixels a pixel
const LEAST_WIDTH = 480; // in which a caption can be read
const LETTERS = "13px sans-serif";

/** @param {Element} asked @param {string} kind @param {ListenerData} data */
export async function savePicture(asked, kind, data) {
  const panel = findAround(asked, '[class*="st-key-panel-"]');
  const { address = "" } = asked.dataset;
  const title = asked.dataset.title ?? panel.querySelector(".bv-panel-title b, h1, h2, h3, h4")?.textContent ?? "";
  const { checkpoint = "", sentence = "" } = data.caption ?? {};
  const lines = [title, address, checkpoint, sentence, writeLink(data)].filter(Boolean);
  const picture = drawPicture(panel, lines, data.colors);
  picture.prepend(await embedFonts(picture));
  const svg = new Blob([keepXml(new XMLSerializer().serializeToString(picture))], { type: "image/svg+xml" });
  const name = (address || title).replace(/[^\w.=-]+/g, "-").replace(/^-+|-+$/g, "") || "picture";
  download(kind === "png" ? await paint(svg, picture) : svg, `${name}.${kind}`);
}

// All charts of a panel that can be seen, as they stand to each other, over the lines of the caption.
/** @param {Element} panel @param {string[]} lines @param {Record<string, string>} colors */
function drawPicture(panel, lines, colors) {
  const charts = [...panel.querySelectorAll(CHART)].filter((chart) => chart.checkVisibility());
  const boxes = charts.map((chart) => chart.getBoundingClientRect());
  const [left, top] = [Math.min(...boxes.map((box) => box.left)), Math.min(...boxes.map((box) => box.top))];
  const [right, bottom] = [Math.max(...boxes.map((box) => box.right)), Math.max(...boxes.map((box) => box.bottom))];
  const width = Math.ceil(Math.max(right - left, LEAST_WIDTH)) + 2 * EDGE;
  const printed = lines.flatMap((line) => breakLine(line, width - 2 * EDGE));
  const under = Math.ceil(bottom - top) + 2 * EDGE;
  const height = under + printed.length * LINE + EDGE;
  const picture = makeSvg("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` });
  picture.append(makeSvg("rect", { width: "100%", height: "100%", fill: colors.surface }));
  charts.forEach((chart, i) => {
    const { width, height } = boxes[i];
    picture.append(copyChart(chart, { x: boxes[i].left - left + EDGE, y: boxes[i].top - top + EDGE, width, height }));
  });
  printed.forEach((line, i) => {
    const text = makeSvg("text", { x: EDGE, y: under + (i + 0.7) * LINE, fill: i ? colors.faint : colors.text });
    text.style.font = LETTERS;
    text.append(line);
    picture.append(text);
  });
  return picture;
}

// The layers of a chart, one over the other, what it draws in space over the first.
/** @param {Chart} chart @param {{ x: number, y: number, width: number, height: number }} place */
function copyChart(chart, place) {
  const copy = makeSvg("svg", place);
  copy.append(...copyLayers(chart));
  const scenes = listScenes(chart).map((scene) => makeSvg("image", { ...scene, preserveAspectRatio: "none" }));
  copy.firstChild?.after(...scenes);
  return copy;
}

/** @param {Blob} svg @param {Element} picture */
async function paint(svg, picture) {
  const image = new Image();
  image.src = await readData(svg);
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = SHARP * Number(picture.getAttribute("width"));
  canvas.height = SHARP * Number(picture.getAttribute("height"));
  openPen(canvas).drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

// A line in pieces that are no wider than this: between words where it can be.
/** @param {string} line @param {number} width */
function breakLine(line, width) {
  const pen = openPen(document.createElement("canvas"));
  pen.font = LETTERS;
  const lines = [""];
  const words = line.split(/(?<=\s)/).flatMap((word) => (pen.measureText(word).width > width ? [...word] : word));
  for (const word of words) {
    if (pen.measureText(lines[lines.length - 1] + word.trimEnd()).width > width) lines.push("");
    lines[lines.length - 1] += word;
  }
  return lines;
}
