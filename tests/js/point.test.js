// Pointing and clicking on the canvas, and what of it is sent.

import assert from "node:assert/strict";
import { test } from "node:test";

import { cellBox, headBoxes, isSeen, rowMiddle } from "../../bertviz_core/ui/components/canvas/cells.js";
import { findTarget } from "../../bertviz_core/ui/components/canvas/find.js";
import { drawnColumns, stageOf } from "../../bertviz_core/ui/components/canvas/parts.js";
import { act } from "../../bertviz_core/ui/components/canvas/point.js";
import { tellPart } from "../../bertviz_core/ui/components/canvas/told.js";
import { clock } from "./page.js";
import { findMiddle, makeData, openCanvas, settle } from "./scene.js";

const middle = ({ x, w }) => x + w / 2;

test("what stands at a point", () => {
  const { canvas } = openCanvas();
  const { parts } = canvas.frame;
  const at = (part, row) => findTarget(canvas, middle(parts[part]), rowMiddle(canvas.frame, row));
  assert.deepEqual(at("tokens", 2), { part: "tokens", where: { row: 2 } });
  assert.deepEqual(at("ribbons.0", 3), { part: "ribbons.0", layer: 0, where: { row: 3 } });
  assert.deepEqual([at("embedding", 1).stage.id, at("embedding", 1).where], ["embedding", { row: 1, column: 4 }]);
  assert.deepEqual(findTarget(canvas, parts.words.x + 5, rowMiddle(canvas.frame, 0)), { part: "words", where: { row: 0 } });
  assert.equal(at("words", 9), null);
  assert.deepEqual(findTarget(canvas, middle(parts["ribbons.1"]), 20), { part: "layer.1", layer: 1 });
  assert.equal(findTarget(canvas, middle(parts.words), 20), null);
});

test("the title of the embedding opens what the first layer reads, with all of its numbers", () => {
  const { canvas } = openCanvas({ layer: 1 });
  const found = findTarget(canvas, middle(canvas.frame.parts.embedding), 20);
  assert.deepEqual(found, { part: "embedding", strip: "input" });
  assert.ok(canvas.sketches.titles.shown.has("underline embedding 0"));
  assert.match(tellPart(canvas, found), /^Embedding. Click: all its 8 numbers of each token.$/);
  act(canvas, found);
  const { level, layer, strip } = canvas.place;
  assert.deepEqual({ level, layer, strip }, { level: "layer", layer: 0, strip: "input" });
});

test("of the chosen row's words each has its line, from its upper edge to its lower one", () => {
  const { canvas } = openCanvas({}, { height: 720 });
  const x = canvas.frame.parts.words.x + 20;
  const lines = canvas.data.words.best.map((_, i) => Number(canvas.sketches.words.shown.get(`best ${i}`).element.attributes.y));
  assert.ok(lines.length > 2);
  lines.forEach((baseline, word) => {
    for (const y of [baseline - 16, baseline, baseline + 6]) assert.deepEqual(findTarget(canvas, x, y), { part: "words", word, where: { row: canvas.at } });
  });
});

test("in a layer a head, its row and its key; over the rows the title of a strip", () => {
  const { canvas } = openCanvas({ level: "layer" });
  const { x, y, size } = headBoxes(canvas)[1];
  assert.deepEqual(findTarget(canvas, x + size * 0.6, y + size * 0.3).where, { head: 1, row: 1, key: 2 });
  assert.equal(findTarget(canvas, headBoxes(canvas)[0].x + size + 6, y), null); // between two of them
  assert.deepEqual(findTarget(canvas, middle(canvas.frame.parts.sum), 20), { part: "sum", strip: "sum" });
  assert.equal(findTarget(canvas, middle(canvas.frame.parts.query), 20), null); // not one of those that open
});

// Every cell that is drawn: its part, and where it stands.
function listCells(canvas) {
  const { frame, data } = canvas;
  const rows = data.tokens.map((_, i) => i).filter((i) => isSeen(frame, i));
  return Object.entries(frame.parts).filter(([part, { a, w }]) => !part.startsWith("ribbons") && a && w > 1 && stageOf(canvas, part)).flatMap(
    ([part, { w }]) => {
      const heads = part === "weights" ? [0, 1] : [undefined];
      const along = part === "weights" || part === "matrix" ? rows.flatMap((key) => heads.map((head) => ({ key, ...(head === undefined ? {} : { head }) })))
        : drawnColumns(canvas, stageOf(canvas, part), w).map((column) => ({ column }));
      return rows.flatMap((row) => along.map((at) => ({ part, where: { row, ...at } })));
    }
  );
}

test("in the middle of each cell that is drawn stands that cell, whichever rows are seen", () => {
  for (const [place, size] of [[{ level: "pass" }, { height: 161 }], [{ level: "layer" }, { height: 161 }], [{ level: "head" }, { height: 161 }],
    [{ level: "layer", strip: "sum" }, { height: 161 }], [{ level: "head" }, { width: 390, height: 200 }]]) {
    const { canvas } = openCanvas({ token: 21, ...place }, { ...size, more: { window: { start: 20, stop: 24, total: 40 } } });
    canvas.rolled = true;
    for (const first of [0, 1, 2]) {
      canvas.first = first;
      canvas.refresh(false);
      assert.equal(canvas.frame.first, Math.min(first, 4 - canvas.frame.count));
      const cells = listCells(canvas);
      assert.ok(cells.length > 3);
      for (const { part, where } of cells) {
        const box = cellBox(canvas, part, where);
        const found = findTarget(canvas, middle(box), box.y + box.h / 2);
        assert.deepEqual([found.part, found.where], [part, where], `${JSON.stringify(place)}, from row ${first}`);
      }
    }
  }
});

test("a cell that is pointed at is read out, and lights its row on the whole page", () => {
  const { canvas } = openCanvas({ level: "head" });
  const lit = [];
  canvas.root.addEventListener("bv-pointed", ({ detail }) => lit.push(detail));
  const box = cellBox(canvas, "matrix", { row: 1, key: 3 });
  canvas.stage.send("pointermove", findMiddle(box));
  assert.deepEqual([canvas.hover.where, lit], [{ row: 1, key: 3 }, [{ row: 1, key: 3 }]]);
  assert.equal(canvas.stage.style.cursor, "pointer");
  const html = canvas.chrome.readout.innerHTML;
  assert.match(html, />0\.3218<\/b>/);
  assert.match(html, /<span class="bvc-name">Attention weights: layer 1, “the” on “\[SEP\]”<\/span>/);
  assert.match(html, /<code class="bvc-address">encoder\.layer\.1\.attention\.self\.probs\[head=0,query=1,key=3\]<\/code>/);
  assert.match(html, /made from 4 numbers · used by 4 numbers/);
  canvas.stage.send("pointermove", findMiddle(box));
  assert.equal(lit.length, 1); // nothing new
  canvas.stage.send("pointerleave", { pointerType: "mouse" });
  assert.deepEqual([canvas.hover, lit.at(-1)], [null, null]);
  assert.match(canvas.chrome.readout.innerHTML, /Point at a cell/);
});

test("a click explains a cell, and chooses its component", () => {
  const { canvas, sent } = openCanvas();
  const asked = [];
  const ask = canvas.root.querySelector(".bvc-ask");
  ask.addEventListener("click", () => asked.push(ask.dataset.cell));
  canvas.stage.send("click", findMiddle(cellBox(canvas, "embedding", { row: 2, column: 5 })));
  assert.deepEqual(asked, ["embeddings.LayerNorm[token=2,hidden=5]"]);
  assert.equal(canvas.place.component, 5);
  canvas.stage.send("click", findMiddle(cellBox(canvas, "neurons.1", { row: 0, column: 1 })));
  assert.equal(asked[1], "encoder.layer.1.intermediate.activation[token=0,intermediate=7]");
  assert.equal(canvas.place.component, 5); // a neuron is none
  settle();
  assert.deepEqual(sent, []); // the drawer's address says it all
});

test("a click on a token, a layer and a head goes there, and says so in one message", () => {
  const { canvas, sent } = openCanvas();
  const { frame } = canvas;
  canvas.stage.send("click", { clientX: 30, clientY: rowMiddle(frame, 2) });
  canvas.stage.send("click", { clientX: middle(frame.parts["ribbons.1"]), clientY: rowMiddle(frame, 0) });
  assert.deepEqual([canvas.place.token, canvas.place.level, canvas.place.layer], [2, "layer", 1]);
  assert.deepEqual(sent, []);
  settle();
  assert.deepEqual(sent, [["go", { token: 2, level: "layer", layer: 1 }]]);
  const { x, y, size } = headBoxes(canvas)[1];
  canvas.stage.send("click", { clientX: x + size / 2, clientY: y + size / 2 });
  clock.pass(2000);
  assert.deepEqual([canvas.place.level, sent[1][1].head], ["head", 1]);
});

test("of a long sentence a click chooses the token that stands there, whichever rows were sent", () => {
  const { canvas } = openCanvas({ token: 20 }, { more: { window: { start: 20, stop: 24, total: 40 } } });
  canvas.stage.send("click", { clientX: 30, clientY: rowMiddle(canvas.frame, 2) });
  assert.equal(canvas.place.token, 22);
});

test("only one message is on its way; what is not answered is said again", () => {
  const { canvas, sent } = openCanvas();
  clock.pass(1600);
  canvas.go({ layer: 0 });
  clock.pass(50);
  assert.deepEqual(sent, []);
  clock.pass(20);
  assert.deepEqual(sent, [["go", { layer: 0 }]]);
  canvas.go({ token: 3 });
  clock.pass(1400);
  assert.equal(sent.length, 1);
  clock.pass(200);
  assert.deepEqual(sent[1], ["go", { layer: 0, token: 3 }]);
});

test("what was to be said of one sentence is not said of the next", () => {
  const { canvas, sent } = openCanvas();
  canvas.go({ layer: 0 });
  canvas.show({ ...canvas.data, sentence: "another one" }, canvas.send);
  clock.pass(3000);
  assert.deepEqual(sent, []);
  canvas.go({ token: 2 });
  clock.pass(3000);
  assert.deepEqual(sent, [["go", { token: 2 }]]);
});

test("an answer to an older question does not move the picture back, the one to this question does not move it", () => {
  const { canvas } = openCanvas();
  clock.pass(1600);
  canvas.go({ layer: 0 });
  clock.pass(100);
  canvas.show(canvas.data, () => {}); // of layer 1
  assert.equal(canvas.place.layer, 0);
  canvas.show({ ...canvas.data, place: { ...canvas.data.place, layer: 0, token: 2 } }, () => {});
  assert.deepEqual([canvas.place.layer, canvas.place.token, canvas.asked], [0, 2, null]);
  canvas.go({ layer: 1 });
  clock.pass(100);
  clock.pass(8000);
  canvas.show({ ...canvas.data, place: { ...canvas.data.place, layer: 0 } }, () => {});
  assert.equal(canvas.place.layer, 0); // nobody waits for ever
});

test("the wheel moves the rows of a sentence of which not all are seen, and no others", () => {
  const short = openCanvas().canvas;
  assert.ok(!short.stage.send("wheel", { deltaX: 0, deltaY: 100 }).defaultPrevented);
  const { canvas } = openCanvas({ token: 0 }, { more: { window: { start: 0, stop: 4, total: 4 } }, height: 161 });
  assert.equal(canvas.frame.count, 2);
  const turn = (deltaY, more) => canvas.stage.send("wheel", { deltaX: 0, deltaY, ...more });
  assert.ok(turn(canvas.frame.row).defaultPrevented);
  assert.equal(canvas.first, 1);
  turn(canvas.frame.row * 0.6);
  assert.equal(canvas.first, 1);
  turn(canvas.frame.row * 0.6);
  assert.equal(canvas.first, 2);
  turn(canvas.frame.row * 9);
  assert.equal(canvas.first, 2); // two rows are left
  assert.ok(!turn(10, { ctrlKey: true }).defaultPrevented);
});

test("the rail is as long as what is seen, and says which tokens these are", () => {
  const { canvas } = openCanvas({ token: 0 }, { height: 161 });
  const { element, thumb } = canvas.rail;
  const high = canvas.frame.row * 2;
  assert.equal(element.hidden, false);
  assert.equal(element.title, "Tokens 0 to 1 of 4");
  assert.deepEqual([element.style.height, thumb.style.top], [`${high}px`, "0px"]);
  assert.equal(thumb.style.height, `${Math.max(24, high / 2)}px`);
  assert.equal(openCanvas().canvas.rail.element.hidden, true);
});

test("a component is the one that its column shows, wherever that stands", () => {
  const stages = makeData().stages.map((stage) => (stage.id === "embedding" ? { ...stage, columns: [7, 6, 5, 4, 3, 2, 1, 0] } : stage));
  const { canvas } = openCanvas({}, { more: { stages } });
  canvas.stage.send("click", findMiddle(cellBox(canvas, "embedding", { row: 2, column: 5 })));
  assert.equal(canvas.place.component, 2);
});

test("the rail is dragged to the rows in its middle, and no further than the last ones", () => {
  const { canvas } = openCanvas({ token: 0 }, { height: 161 });
  const { element, thumb } = canvas.rail;
  element.setPointerCapture = () => {};
  element.hasPointerCapture = () => true;
  element.box = { left: 0, top: 0, width: 10, height: 100 };
  thumb.box = { left: 0, top: 0, width: 10, height: 50 };
  element.send("pointerdown", { clientY: 10 });
  assert.equal(canvas.first, 0);
  element.send("pointermove", { clientY: 35 });
  assert.equal(canvas.first, 1);
  element.send("pointermove", { clientY: 400 });
  assert.equal(canvas.first, 2);
});
