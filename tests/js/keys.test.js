// The keyboard on the canvas: where the cursor goes, what Enter and the other keys do, what is said.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openCanvas, settle } from "./scene.js";

function press(canvas, key, more = {}) {
  return canvas.stage.send("keydown", { key, ...more });
}

const cursor = ({ cursor: { part, where } }) => [part, where];
const said = ({ chrome }) => chrome.live.textContent;

test("at the pass the cursor begins at the chosen layer's attention, and goes from part to part", () => {
  const { canvas } = openCanvas();
  assert.ok(press(canvas, "ArrowRight").defaultPrevented);
  assert.deepEqual([cursor(canvas), said(canvas)], [["ribbons.1", { row: 1 }], "Layer 1, Enter opens it"]);
  press(canvas, "ArrowRight");
  assert.deepEqual(cursor(canvas), ["neurons.1", { row: 1, column: 0 }]);
  assert.match(said(canvas), /^Neurons, the, component 13: 2\.9049$/);
  press(canvas, "ArrowDown");
  press(canvas, "ArrowDown");
  press(canvas, "ArrowDown");
  assert.deepEqual(cursor(canvas), ["neurons.1", { row: 3, column: 0 }]);
  press(canvas, "ArrowLeft");
  press(canvas, "ArrowLeft");
  assert.deepEqual(cursor(canvas), ["output.0", { row: 3, column: 7 }]);
  press(canvas, "ArrowRight", { ctrlKey: true });
  assert.deepEqual(cursor(canvas), ["ribbons.1", { row: 3 }]);
  press(canvas, "ArrowLeft", { ctrlKey: true });
  assert.deepEqual(cursor(canvas), ["output.0", { row: 3, column: 0 }], "with Ctrl a stage begins at its first cell");
  press(canvas, "ArrowRight", { ctrlKey: true });
  press(canvas, "ArrowUp");
  assert.deepEqual(cursor(canvas)[1], { row: 2 });
});

test("in a head the cursor begins at the strongest key, and each weight is said", () => {
  const { canvas } = openCanvas({ level: "head" });
  press(canvas, "ArrowLeft");
  assert.deepEqual(cursor(canvas), ["matrix", { row: 1, key: 3 }]);
  assert.equal(said(canvas), "Attention weights, the, key [SEP]: 0.3218");
  press(canvas, "Home");
  assert.deepEqual(cursor(canvas)[1], { row: 1, key: 0 });
  press(canvas, "End");
  assert.deepEqual(cursor(canvas)[1], { row: 1, key: 3 });
});

test("Enter leads a level down, and explains the cell at the cursor", () => {
  const { canvas, sent } = openCanvas();
  press(canvas, "Enter");
  assert.equal(canvas.place.level, "layer");
  press(canvas, "Enter");
  assert.equal(canvas.place.level, "head");
  settle();
  assert.deepEqual(sent, [["go", { level: "head" }]]);
  press(canvas, "Enter");
  assert.deepEqual(cursor(canvas), ["matrix", { row: 1, key: 3 }]);
  press(canvas, "Enter");
  assert.equal(canvas.root.querySelector(".bvc-ask").dataset.cell, "encoder.layer.1.attention.self.probs[head=0,query=1,key=3]");
});

test("Enter on a head opens it", () => {
  const { canvas } = openCanvas({ level: "layer" });
  press(canvas, "ArrowRight");
  assert.deepEqual([canvas.cursor.part, said(canvas)], ["weights", "Head 0 of layer 1, Enter opens it"]);
  press(canvas, "ArrowRight");
  assert.equal(said(canvas), "Head 1 of layer 1, Enter opens it");
  press(canvas, "Enter");
  assert.deepEqual([canvas.place.level, canvas.place.head], ["head", 1]);
});

test("over the first row stands the title of a strip, which opens all of it", () => {
  const { canvas } = openCanvas({ level: "layer", token: 0 });
  press(canvas, "ArrowRight");
  press(canvas, "ArrowRight", { ctrlKey: true }); // the concatenated heads
  assert.equal(canvas.cursor.part, "context");
  press(canvas, "ArrowUp");
  assert.equal(said(canvas), "Concatenated heads. Enter: all its 8 numbers of each token.");
  press(canvas, "Enter");
  assert.equal(canvas.place.strip, "context");
});

test("brackets change the layer, braces the head, round and round", () => {
  const { canvas } = openCanvas();
  press(canvas, "]");
  assert.deepEqual([canvas.place.layer, said(canvas)], [1, "Layer 1"]); // there is no further one
  press(canvas, "[");
  assert.deepEqual([canvas.place.layer, said(canvas)], [0, "Layer 0"]);
  press(canvas, "{");
  assert.deepEqual([canvas.place.head, said(canvas)], [1, "Head 1 of layer 0"]);
  press(canvas, "}");
  assert.equal(canvas.place.head, 0);
});

test("brackets change the layer of a strip that is seen whole, before its numbers have come", () => {
  const { canvas } = openCanvas({ level: "layer", strip: "norm" });
  press(canvas, "[");
  assert.deepEqual([canvas.place.layer, canvas.place.strip], [0, "norm"]);
  assert.match(canvas.chrome.crumbs.innerHTML, /Layer 0.*LayerNorm/);
});

test("keys that mean something elsewhere are left alone", () => {
  const { canvas } = openCanvas();
  for (const more of [{ metaKey: true }, { altKey: true }]) assert.ok(!press(canvas, "ArrowRight", more).defaultPrevented);
  assert.ok(!press(canvas, "]", { ctrlKey: true }).defaultPrevented);
  assert.ok(!press(canvas, "x").defaultPrevented);
  assert.equal(canvas.place.layer, 1);
});

test("Escape leads a level up, out of a strip first, at the top out of a component; help is closed before", () => {
  const { canvas, document } = openCanvas({ level: "layer", strip: "sum", component: 3 });
  const goBack = () => document.send("keydown", { key: "Escape" });
  goBack();
  assert.deepEqual([canvas.place.level, canvas.place.strip], ["layer", null]);
  press(canvas, "?");
  assert.match(canvas.chrome.help.innerHTML, /<dt>Enter<\/dt><dd>open, explain<\/dd>/);
  goBack();
  assert.deepEqual([canvas.chrome.help.open, canvas.place.level], [false, "layer"]);
  goBack();
  assert.deepEqual([canvas.place.level, canvas.place.component], ["pass", 3]);
  goBack();
  assert.equal(canvas.place.component, null);
});

test("of a long sentence Page Up and Page Down show other tokens", () => {
  const { canvas, sent } = openCanvas({ token: 0 }, { more: { window: { start: 0, stop: 4, total: 40 } }, height: 150 });
  assert.equal(canvas.frame.count, 1);
  press(canvas, "PageDown");
  assert.equal(canvas.first, 1);
  canvas.first = 3;
  canvas.refresh(false);
  press(canvas, "PageDown");
  settle();
  assert.deepEqual(sent, [["go", { window: 3 }]]); // rows from 3 on, of which one is wanted: one before, two behind
});

test("the cursor is seen wherever it goes: the rows follow it down, and up again", () => {
  const { canvas } = openCanvas({ token: 0 }, { more: { window: { start: 0, stop: 4, total: 40 } }, height: 180 });
  const { count } = canvas.frame;
  assert.ok(count > 1 && count < 4);
  const seen = () => canvas.first <= canvas.cursor.where.row && canvas.cursor.where.row < canvas.first + count;
  press(canvas, "ArrowDown");
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowUp"]) {
    press(canvas, key);
    settle();
    assert.ok(seen(), `${key}: row ${canvas.cursor.where.row}, from ${canvas.first} on`);
  }
});
