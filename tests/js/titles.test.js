// What stands over the parts of the canvas.

import assert from "node:assert/strict";
import { test } from "node:test";

import { matrixCell } from "../../bertviz_core/ui/components/canvas/cells.js";
import { nameStage } from "../../bertviz_core/ui/components/canvas/titles.js";
import { openCanvas, settle } from "./scene.js";

test("of changed attention weights no title says that a row adds up to 1", () => {
  const title = (changed) => {
    const { canvas } = openCanvas({ level: "head" }, { more: { changed } });
    return nameStage(canvas.stages.get("head.weights"), canvas)[0];
  };
  assert.deepEqual([title(false), title(true)], ["Attention weights: each row adds up to 1", "Attention weights"]);
});

test("each key's name stands over its column, also where the first ones are out of sight", () => {
  const { canvas } = openCanvas({ level: "head", token: 3 }, { width: 390, height: 180 });
  canvas.chrome.choose(1); // of a phone's groups the one with the weights
  settle();
  const { frame, sketches } = canvas;
  assert.deepEqual([frame.first, frame.count], [2, 2]);
  const keys = Array.from({ length: frame.count }, (_, i) => frame.first + i);
  for (const key of keys) {
    const { x, w } = matrixCell(frame, frame.parts.matrix, { row: 3, key });
    const { attributes } = sketches.titles.shown.get(`key ${key}`).element;
    assert.ok(Math.abs(Number(attributes.x) - (x + w / 2)) < 4, `key ${key} at ${attributes.x}, its column at ${x + w / 2}`);
  }
});
