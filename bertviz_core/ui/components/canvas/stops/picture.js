// The pictures of the stops: each comes about in `time`, 0 to 1, from the numbers that the server worked out.

/** @import { Canvas } from "../canvas.js" */
/** @import { Sketch } from "../sketch.js" */

import { drawAdd, drawLookUp } from "./add.js";
import { drawAnswer, drawDivide } from "./answer.js";
import { drawCollect } from "./collect.js";
import { drawCut } from "./cut.js";
import { drawCompare, drawOffer } from "./head.js";
import { drawJoin } from "./join.js";
import { drawNeurons } from "./neurons.js";

/** @param {Canvas} canvas @param {Sketch} sketch */
export function drawStopPicture(canvas, sketch) {
  const { place, data, frame, player } = canvas;
  const stop = data.stops[place.stop - 1];
  const { x, w, a } = frame.parts.panel;
  const draw = [
    drawCut, drawLookUp, drawOffer, drawCompare, drawDivide, drawCollect, drawJoin, drawAdd, drawNeurons, drawAnswer,
  ][place.stop - 1];
  if (stop && a > 0.6 && w > 120) {
    draw(
      canvas, sketch, { x, w, y: 4, h: frame.top + frame.row * frame.count - 4 }, stop.worked, player.time
    );
  }
}
