// The canvas as an SVG: what its pen draws, as rectangles.

import assert from "node:assert/strict";
import { test } from "node:test";

import { drawVector } from "../../bertviz_core/ui/components/canvas/vector.js";
import { makeElement } from "./page.js";
import { openCanvas } from "./scene.js";

test("of a row that is rolled halfway out of sight only what is seen is drawn, from its edge on", () => {
  const { canvas } = openCanvas({}, { height: 161 });
  const { frame } = canvas;
  assert.ok(frame.count < canvas.data.tokens.length);
  const made = [];
  canvas.root.querySelector(".bvc-drawn").cloneNode = () => Object.assign(makeElement("g"), { prepend: (...all) => made.push(...all) });
  const draw = (first) => {
    made.length = 0;
    canvas.frame = { ...frame, first };
    drawVector(canvas);
    return made.map(({ attributes: { y, height } }) => [Number(y), Number(height)]);
  };
  const [whole, rolled] = [draw(0), draw(0.5)];
  const highest = (all) => Math.max(...all.map(([, height]) => height));
  const bottom = frame.top + frame.row * frame.count + 2;
  for (const [y, height] of [...whole, ...rolled]) assert.ok(y >= frame.ceiling && height > 0 && y + height <= bottom + 1e-6, `${y} + ${height}`);
  assert.ok(rolled.some(([y, height]) => y === frame.ceiling && height < highest(whole)), "cut at the upper edge");
  assert.ok(rolled.some(([y, height]) => Math.abs(y + height - bottom) < 1e-6 && height < highest(whole)), "and at the lower one");
});
