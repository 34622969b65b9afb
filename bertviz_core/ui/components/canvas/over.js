// What is drawn over the cells, layer by layer: ribbons, lanes, the tokens, titles, words, marks, a stop's picture.

/** @import { Canvas } from "./canvas.js" */

import { findInside, makeSvg } from "../shared/element.js";
import { drawLanes } from "./lanes.js";
import { drawMarks } from "./marks.js";
import { drawRibbons } from "./ribbons.js";
import { drawLegend } from "./scales.js";
import { Sketch, write } from "./sketch.js";
import { drawStopPicture } from "./stops/picture.js";
import { drawTitles } from "./titles.js";
import { drawTokens } from "./tokens.js";
import { drawWords } from "./words.js";

const LAYERS = {
  ribbons: drawRibbons, lanes: drawLanes, tokens: drawTokens, titles: drawTitles, words: drawWords, legend: drawLegend,
  picture: drawStopPicture, marks: drawMarks,
};

/** @param {SVGElement} svg */
export function openLayers(svg) {
  const clip = svg.appendChild(makeSvg("clipPath"));
  clip.id = "bvc-rows";
  clip.append(makeSvg("rect"));
  return Object.fromEntries(Object.keys(LAYERS).map((name) => [name, new Sketch(svg)]));
}

// Rows that have gone up under their titles are cut off.
/** @param {Canvas} canvas */
function clipRows({ frame, sketches, root }) {
  const rect = findInside(root, "#bvc-rows rect");
  Object.entries({ x: 0, y: frame.ceiling, width: frame.width, height: frame.height }).forEach(
    (each) => rect.setAttribute(...each)
  );
  for (const name of ["ribbons", "lanes", "tokens", "words", "marks"]) {
    write(sketches[name].group, "clip-path", frame.lifted ? "url(#bvc-rows)" : null);
  }
}

/** @param {Canvas} canvas */
export function drawOver(canvas) {
  clipRows(canvas);
  for (const [name, draw] of Object.entries(LAYERS)) {
    const sketch = canvas.sketches[name];
    sketch.begin();
    draw(canvas, sketch);
    sketch.end();
  }
}
