// The residual stream around the stages of a layer, and where it is added again.

/** @import { Canvas } from "./canvas.js" */
/** @import { Sketch } from "./sketch.js" */
/** @import { PartBox } from "./types.js" */

import { isSeen, rowMiddle, seenRows } from "./cells.js";
import { measure } from "./letters.js";
import { joins } from "./parts.js";
import { STOP } from "./place.js";
import { cut } from "./sketch.js";

// The residual stream at the level of a layer: what passes around attention and around the neurons, and is then added.
/** @param {Canvas} canvas @param {Sketch} sketch */
export function drawLanes(canvas, sketch) {
  const { frame: { parts }, place: { layer, level, stop } } = canvas;
  const input = parts[layer ? `output.${layer - 1}` : "embedding"];
  const shown = parts.sum.a * (parts.weights.a || (stop === STOP.add ? 1 : 0));
  if (level === "layer" && !stop && shown > 0.05 && parts.query.w > 2 && !canvas.frame.phone) {
    if (joins(canvas, "sum")) {
      drawLane(canvas, sketch, "first", middle(input, parts.query), middle(parts.context, parts.sum), shown);
    }
    if (joins(canvas, "sum2")) drawLane(
      canvas, sketch, "second", middle(parts.norm, parts[`neurons.${layer}`]),
      middle(parts[`neurons.${layer}`], parts.sum2), shown
    );
  }
  if (level === "layer" && !stop && !canvas.frame.phone) drawWires(canvas, sketch, input, shown);
  const first = ["sum", parts.added.w ? "added" : "context"];
  const second = ["sum2", `neurons.${layer}`];
  for (const [to, from] of [first, second]) {
    if (parts[to].a > 0.05 && parts[to].w > 4 && !canvas.place.strip && joins(canvas, to)) {
      drawSums(
        canvas, sketch, to, middle(parts[from], parts[to]), parts[to].a
      );
    }
  }
}

// Along the chosen row, from stage to stage.
/** @param {Canvas} canvas @param {Sketch} sketch @param {PartBox} input @param {number} opacity */
function drawWires(canvas, sketch, input, opacity) {
  const { frame, at, place: { layer } } = canvas;
  if (!isSeen(frame, at) || opacity < 0.05) return;
  const { query, context, sum, norm, sum2, [`neurons.${layer}`]: neurons, [`output.${layer}`]: output } = frame.parts;
  /** @type {[from: PartBox, to: PartBox, kind: string][]} */
  const pairs = [
    [input, query, "norm"], [context, sum, "value"], [sum, norm, "residual"], [norm, neurons, "norm"],
    [neurons, sum2, "ffn"],
  ];
  if (joins(canvas, `output.${layer}`)) pairs.push([sum2, output, "residual"]);
  const y = rowMiddle(frame, at);
  for (const [from, to, kind] of pairs) {
    sketch.line(`wire ${cut(to.x)}`, from.x + from.w + 1, y, to.x - 1, y, {
      stroke: `var(--bvc-${kind})`, "stroke-width": 2, opacity: cut(opacity, 3),
    });
  }
}

/** @param {PartBox} left @param {PartBox} right */
function middle(left, right) {
  return (left.x + left.w + right.x) / 2;
}

/**
 * @param {Canvas} canvas
 * @param {Sketch} sketch
 * @param {string} key
 * @param {number} from
 * @param {number} to
 * @param {number} opacity
 */
function drawLane({ frame, colors }, sketch, key, from, to, opacity) {
  const over = frame.top - 5;
  const bottom = frame.top + frame.row * (frame.count - 0.5);
  const [x, end] = [cut(from), cut(to)];
  const way = `M${x} ${cut(bottom)}V${over + 6}q0 -6 6 -6H${end - 6}q6 0 6 6V${cut(bottom)}`;
  sketch.path(`lane ${key}`, way, {
    stroke: colors.cell("residual"), "stroke-opacity": 0.5, "stroke-width": 5, "stroke-linejoin": "round",
    opacity: cut(opacity, 3),
  });
  nameLane(sketch, key, x, end, over + 4, opacity);
}

// What passes around is called by its name on its own line.
/**
 * @param {Sketch} sketch
 * @param {string} key
 * @param {number} from
 * @param {number} to
 * @param {number} y
 * @param {number} opacity
 */
function nameLane(sketch, key, from, to, y, opacity) {
  const words = ["residual connection", "residual"].find((name) => measure(name, 12) < to - from - 14);
  if (!words) return;
  sketch.text(`lane name ${key}`, from + 12, y, words, { size: 12, fill: "var(--bvc-residual)", opacity, halo: true });
}

// A plus at every row, where what passed around is added.
/** @param {Canvas} canvas @param {Sketch} sketch @param {string} key @param {number} x @param {number} opacity */
function drawSums({ frame, at, data }, sketch, key, x, opacity) {
  const radius = Math.min(9, frame.row / 2 - 2);
  for (const row of seenRows(frame, data.tokens.length)) {
    if (!isSeen(frame, row)) continue;
    const y = rowMiddle(frame, row);
    const stroke = row === at ? "var(--bvc-text)" : "var(--bvc-residual)";
    sketch.put(`${key} ring ${row}`, "circle", {
      cx: cut(x), cy: cut(y), r: radius, fill: "var(--bvc-surface)", stroke, "stroke-width": row === at ? 2 : 1.3,
      opacity: cut(opacity, 3),
    });
    const arm = radius * 0.45;
    const plus = `M${cut(x - arm)} ${cut(y)}h${cut(2 * arm)}M${cut(x)} ${cut(y - arm)}v${cut(2 * arm)}`;
    sketch.path(`${key} plus ${row}`, plus,
      { stroke, "stroke-width": 1.4, opacity: cut(opacity, 3) });
  }
}
