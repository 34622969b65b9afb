// Pictures taken away: the charts of a panel, or the canvas, as one SVG, PDF or PNG, with what is needed to find the numbers again printed below.

/** @import { Chart } from "../shared/types.js" */
/** @import { ListenerData } from "./types.js" */
/** @import { Print } from "./printed.js" */

import { findAround, makeSvg, openPen } from "../shared/element.js";
import { CHART, copyLayers, listScenes } from "../shared/plotly_inside.js";
import { drawCells } from "./cells.js";
import { embedFonts, readData } from "./fonts.js";
import { layOut, readPrint } from "./printed.js";
import { download, keepXml, writeLink } from "./taken.js";

const EDGE = 16, LETTER = 13, LINE = 1.4, SHARP = 2; // pixels around a picture, and of the caption's letters; of these, from line to line; PNG pixels a pixel
const NARROW = 7; // pixels around a picture for a paper
const LEAST_WIDTH = 480; // in which a caption can be read
const INCH = 25.4, POINTS = 96; // millimetres, and pixels of the page

/** @param {Element} asked @param {string} kind @param {ListenerData} data */
export async function savePicture(asked, kind, data) {
  const { address = "", drawn = "", width: wide = "" } = asked.dataset;
  const print = readPrint(asked);
  const canvas = asked.dataset.of === "canvas" ? document.querySelector(".bvc") : null;
  const panel = canvas ?? findAround(asked, '[class*="st-key-panel-"]');
  const title = asked.dataset.title ?? panel.querySelector(".bv-panel-title b, h1, h2, h3, h4")?.textContent ?? "";
  const { checkpoint = "", sentence = "" } = data.caption ?? {};
  const lines = [title, address, drawn, checkpoint, sentence, writeLink(data)].filter(Boolean);
  const draw = () => drawPicture(canvas ? [copyCanvas(canvas)] : listCharts(panel), lines, data.colors, print);
  const picture = print?.room && !canvas ? await layOut(panel, findCharts(panel), print.room - 2 * NARROW, draw) : draw();
  picture.prepend(await embedFonts(picture));
  if (print) setWidth(picture, print.wide);
  const svg = new Blob([keepXml(new XMLSerializer().serializeToString(picture))], { type: "image/svg+xml" });
  const name = (address || title).replace(/[^\w.=-]+/g, "-").replace(/^-+|-+$/g, "") || "picture";
  if (kind === "pdf") return printPicture(await svg.text(), picture, name);
  download(kind === "png" ? await paint(svg, picture) : svg, `${name}${wide && `-${wide}mm`}.${kind}`);
}

// As wide as a column of a paper, whatever the screen is like.
/** @param {Element} picture @param {number} wide in millimetres */
function setWidth(picture, wide) {
  const [width, height] = ["width", "height"].map((side) => Number(picture.getAttribute(side)));
  picture.setAttribute("width", `${wide}mm`);
  picture.setAttribute("height", `${((wide * height) / width).toFixed(2)}mm`);
}

// On a sheet of its own size, which the browser's printer saves as a PDF: with its vectors, and the fonts that it has.
/** @param {string} svg @param {Element} picture @param {string} name */
function printPicture(svg, picture, name) {
  const [width, height] = ["width", "height"].map((side) => {
    const length = picture.getAttribute(side) ?? "";
    return length.endsWith("mm") ? length : `${((Number(length) * INCH) / POINTS).toFixed(2)}mm`;
  });
  const frame = document.createElement("iframe");
  frame.className = "bv-print";
  frame.srcdoc = `<!doctype html><title>${name}</title><style>@page{size:${width} ${height};margin:0}html,body{margin:0}svg{display:block;` +
    `width:${width};height:auto;max-height:${height}}</style>${svg}`;
  frame.addEventListener("load", () => {
    frame.contentWindow?.addEventListener("afterprint", () => frame.remove());
    frame.contentWindow?.print();
  });
  document.querySelector(".bv-print")?.remove();
  document.body.append(frame);
}

/** @typedef {{ box: { left: number, top: number, right: number, bottom: number }, draw: (place: Place) => Element }} Drawn */
/** @typedef {{ x: number, y: number, width: number, height: number }} Place */

/** @param {Element} panel @returns {Chart[]} */
function findCharts(panel) {
  return [...panel.querySelectorAll(CHART)].filter((chart) => chart.checkVisibility());
}

/** @param {Element} panel @returns {Drawn[]} */
function listCharts(panel) {
  return findCharts(panel).map((chart) => ({ box: chart.getBoundingClientRect(), draw: (place) => copyChart(chart, place) }));
}

// The canvas draws itself, as it stands there now.
/** @param {Element & { drawVector?: () => Element }} canvas @returns {Drawn} */
function copyCanvas(canvas) {
  const drawn = /** @type {Element} */ (canvas.drawVector?.());
  const [right, bottom] = ["width", "height"].map((side) => Number(drawn.getAttribute(side)));
  return {
    box: { left: 0, top: 0, right, bottom },
    draw: ({ x, y }) => {
      drawn.setAttribute("x", String(x));
      drawn.setAttribute("y", String(y));
      return drawn;
    },
  };
}

// All that is drawn, as it stands to each other, over the lines of the caption.
/** @param {Drawn[]} parts @param {string[]} lines @param {Record<string, string>} colors @param {Print | null} print */
function drawPicture(parts, lines, colors, print) {
  const sized = Boolean(print?.room);
  const [edge, letter, least] = print && sized ? [NARROW, print.letter, print.room - 2 * NARROW] : [EDGE, LETTER, LEAST_WIDTH];
  const step = Math.round(letter * LINE), font = `${letter}px sans-serif`;
  const boxes = parts.map(({ box }) => box);
  const [left, top] = [Math.min(...boxes.map((box) => box.left)), Math.min(...boxes.map((box) => box.top))];
  const [right, bottom] = [Math.max(...boxes.map((box) => box.right)), Math.max(...boxes.map((box) => box.bottom))];
  const room = Math.max(right - left, least);
  const width = (sized ? room : Math.ceil(room)) + 2 * edge;
  const printed = lines.flatMap((line) => breakLine(line, width - 2 * edge, font));
  const under = Math.ceil(bottom - top) + 2 * edge;
  const height = under + printed.length * step + edge;
  const picture = makeSvg("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` });
  picture.append(makeSvg("rect", { width: "100%", height: "100%", fill: colors.surface }));
  for (const { box, draw } of parts) {
    const size = { width: box.right - box.left, height: box.bottom - box.top };
    picture.append(draw({ x: box.left - left + edge, y: box.top - top + edge, ...size }));
  }
  printed.forEach((line, i) => {
    const text = makeSvg("text", { x: edge, y: under + (i + 0.7) * step, fill: i ? colors.faint : colors.text });
    text.style.font = font;
    text.append(line);
    picture.append(text);
  });
  return picture;
}

// The layers of a chart, one over the other, what it draws in space over the first.
/** @param {Chart} chart @param {Place} place */
function copyChart(chart, place) {
  const copy = makeSvg("svg", place);
  copy.append(...copyLayers(chart, drawCells));
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
/** @param {string} line @param {number} width @param {string} font */
function breakLine(line, width, font) {
  const pen = openPen(document.createElement("canvas"));
  pen.font = font;
  const lines = [""];
  const words = line.split(/(?<=\s)/).flatMap((word) => (pen.measureText(word).width > width ? [...word] : word));
  for (const word of words) {
    if (pen.measureText(lines[lines.length - 1] + word.trimEnd()).width > width) lines.push("");
    lines[lines.length - 1] += word;
  }
  return lines;
}
