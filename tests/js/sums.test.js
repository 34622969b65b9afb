// What the pictures of the stops are made of: steps of a calculation, sums of products, labels.

import assert from "node:assert/strict";
import { test } from "node:test";

import { atProduct, drawWaterfall, runSums, writeOutcome } from "../../bertviz_core/ui/components/canvas/stops/products.js";
import { spread } from "../../bertviz_core/ui/components/canvas/stops/softmax.js";
import { drawSteps, placeSteps, writeOperation, writeTurned } from "../../bertviz_core/ui/components/canvas/stops/steps.js";
import { makeSketch, openPage } from "./page.js";

const BOX = { x: 100, y: 4, w: 700, h: 400 };
const near = (one, other, least = 0.02) => assert.ok(Math.abs(one - other) < least, `${one} is not ${other}`);

test("a sum is written with its signs, and shorter where a sign can be turned", () => {
  assert.equal(writeOperation({ sign: "+", operand: -0.5 }, 2), "+ (−0.50)");
  assert.equal(writeOperation({ sign: "÷", operand: 2 }, 1), "÷ 2.0");
  assert.deepEqual([["+", -0.5], ["−", -0.5], ["−", 0.5], ["×", -2]].map(([sign, operand]) => writeTurned({ sign, operand }, 1)), [
    "− 0.5", "+ 0.5", "− 0.5", "× (−2.0)",
  ]);
  assert.deepEqual([writeOutcome(true, 1.5, { total: 1 }), writeOutcome(false, 1.5, { total: 1 })], ["= 1.5", "≠ 1.5"]);
});

test("steps have one zero, and each is as large as there is room", () => {
  const chart = placeSteps(BOX, [{ from: 0, to: 1 }, { from: 1, to: -1 }, { from: 0, to: 10 }]);
  assert.equal(chart.pitch, (700 - 16) / 3);
  assert.deepEqual([chart.y(10), chart.y(-1)], [88, 316]);
  near(chart.y(0), 88 + 228 * (10 / 11));
});

test("where steps are narrow, what is done stands over its number", () => {
  openPage();
  const sketch = makeSketch();
  const steps = Array.from({ length: 6 }, () => ({ name: "x", sign: "÷", operand: 0.70835, from: 1, to: 2, kind: "norm" }));
  drawSteps({ colors: { negative: "grey" } }, sketch, placeSteps({ ...BOX, w: 340 }, steps), { total: 4, terms: 4, factors: 5 }, 1);
  assert.deepEqual([sketch.drawn["sign 1"].text, sketch.drawn["operation 1"].text], ["÷", "0.70835"]);
});

test("steps come about one after the other, down in grey", () => {
  openPage();
  const chart = placeSteps(BOX, [{ name: "one", from: 0, to: 2, kind: "norm" }, { name: "two", sign: "+", operand: -3, from: 2, to: -1, kind: "ffn" }]);
  const at = (time) => {
    const sketch = makeSketch();
    drawSteps({ colors: { negative: "grey" } }, sketch, chart, { total: 1, terms: 1, factors: 2 }, time);
    return sketch.drawn;
  };
  assert.ok(!("step 0" in at(0)) && "step 0" in at(0.25) && !("step 1" in at(0.25)));
  const done = at(1);
  assert.deepEqual([done["step 0"].more.fill, done["step 1"].more.fill], ["var(--bvc-norm)", "grey"]);
  assert.deepEqual([done["number 0"].text, done["number 1"].text], ["2.0", "−1.0"]);
  assert.equal(done["step 1"].at.y, chart.y(2));
});

test("numbers are added each from where the one before ended", () => {
  openPage();
  assert.deepEqual(runSums([1, -3, 5]), [1, -2, 3]);
  assert.deepEqual([atProduct(1, [1, 2, 3]), atProduct(3, [1, 2, 3])], [0, 0]);
  const sketch = makeSketch();
  const parts = [{ value: 1 }, { value: -3 }, { value: 5, wide: 50 }];
  const { starts } = drawWaterfall({ colors: { negative: "grey" } }, sketch, BOX, { parts, landed: 2, digits: 1, kind: "norm" });
  const { "landing 0": first, "landing 1": second, "sum number": sum } = sketch.drawn;
  assert.ok(Math.abs(second.at.h / first.at.h - 3) < 1e-9);
  assert.deepEqual([first.more.fill, second.more.fill, sum.text], ["var(--bvc-norm)", "grey", "−2.0"]);
  assert.deepEqual([starts[0], starts[3] - starts[2]], [114, 50]);
  assert.equal(sketch.drawn["landing 2"].at.h, 3); // has not come yet
});

test("labels are at least a line apart, in order and within bounds", () => {
  assert.deepEqual(spread([10, 12, 100], 5, 200), [10, 25, 100]);
  assert.deepEqual(spread([95, 98], 5, 100), [85, 100]);
  assert.deepEqual(spread([1, 2], 5, 100), [5, 20]);
});
