// Where everything stands: rows, columns and cells, at every level, and on a phone.

import assert from "node:assert/strict";
import { test } from "node:test";

import { cellBox, headBoxes, isSeen, layStrip, rowMiddle, rowTop, seenRows } from "../../bertviz_core/ui/components/canvas/cells.js";
import { arrange } from "../../bertviz_core/ui/components/canvas/layout.js";
import { listGroups } from "../../bertviz_core/ui/components/canvas/layout_stops.js";
import { ease, mix, mixFrames, stretchFrame, within } from "../../bertviz_core/ui/components/canvas/motion.js";
import { drawnColumns, namePart, spokenKey, stageOf, tellColumns } from "../../bertviz_core/ui/components/canvas/parts.js";
import { STOP } from "../../bertviz_core/ui/components/canvas/place.js";
import { openCanvas, settle } from "./scene.js";

const PLACE = { level: "pass", layer: 0, head: 0, token: 1, component: null, stop: 0, strip: null };

function makeScene(place = {}, more = {}) {
  return {
    width: 1400, height: 720, place: { ...PLACE, ...place }, at: 1, beside: 1, rows: 4, total: 4, size: { layers: 2, heads: 2 }, words: {},
    phone: false, narrow: false, covered: 0, numbers: 8, shown: 1, spoken: [], open: 0, group: 0, rolled: false, ...more,
  };
}

const shownParts = ({ parts }) => Object.keys(parts).filter((id) => parts[id].a);
const round = ({ x, w }) => [x, w].map((each) => Math.round(each * 100) / 100);

test("few rows are as high as they may be, many as low as they must be", () => {
  const few = arrange(makeScene());
  assert.deepEqual([few.top, few.row, few.count, few.first, few.stubs, few.ceiling], [64, 46, 4, 0, 0, 60]);
  const many = arrange(makeScene({}, { rows: 100, total: 100, at: 50, beside: 50 }));
  assert.deepEqual([many.top, many.row, many.count, many.first, many.stubs], [78, 15, 39, 31, 14]); // 590 pixels of rows
  const sent = arrange(makeScene({}, { rows: 4, total: 9 }));
  assert.deepEqual([sent.top, sent.stubs], [78, 14]); // others are out of sight
});

test("the chosen row is among those that are drawn, and the one beside it where both fit", () => {
  const first = (more) => arrange(makeScene({}, { rows: 100, total: 100, ...more })).first;
  assert.deepEqual([first({ at: 0, beside: 0 }), first({ at: 99, beside: 99 })], [0, 61]);
  assert.equal(first({ at: 50, beside: 70 }), 41); // in the middle of both
  assert.equal(first({ at: 50, beside: 90 }), 31); // 40 rows apart, of 39
  assert.equal(first({ at: 50, beside: 50, first: 20 }), 20);
  assert.equal(first({ at: 50, beside: 50, first: 5 }), 12); // moved on as little as can be
  assert.equal(first({ at: 50, beside: 50, first: 5, rolled: true }), 5);
  assert.equal(first({ at: 50, beside: 50, spoken: [80, 75] }), 42);
  assert.equal(first({ at: 50, beside: 50, spoken: [5, 99] }), 5); // the first of two that do not both fit
});

test("of a head no more rows are drawn than there is room for as columns", () => {
  const frame = arrange(makeScene({ level: "head" }, { width: 700, rows: 40, total: 40, at: 5, beside: 5, narrow: true }));
  assert.equal(frame.count, 8); // half of 400 pixels, 24 each
});

test("the pass: tokens, the embedding, and each layer's attention, neurons and output", () => {
  const frame = arrange(makeScene());
  assert.deepEqual(shownParts(frame), [
    "tokens", "embedding", "ribbons.0", "neurons.0", "output.0", "ribbons.1", "neurons.1", "output.1", "words",
  ]);
  assert.deepEqual(["tokens", "embedding", "words"].map((id) => round(frame.parts[id])), [[8, 112], [132, 72], [1202, 190]]);
  const { w } = frame.parts["ribbons.0"];
  assert.ok(Math.abs(frame.parts["neurons.0"].w / w - 2.45 / 4.6) < 1e-9);
  assert.equal(frame.parts["neurons.0"].x, frame.parts["ribbons.0"].x + w + 5);
  assert.ok(!shownParts(arrange(makeScene({}, { words: null }))).includes("words"));
});

test("where layers are crowded only one is drawn with all that it holds", () => {
  const frame = arrange(makeScene({}, { size: { layers: 12, heads: 12 }, width: 1000, narrow: true, open: 3 }));
  assert.deepEqual(shownParts(frame).filter((id) => id.startsWith("neurons")), ["neurons.3"]);
  assert.equal(shownParts(frame).filter((id) => id.startsWith("ribbons")).length, 12);
  assert.equal(round(frame.parts.words)[1], 118);
});

test("a layer, a head, and a strip alone", () => {
  const layer = arrange(makeScene({ level: "layer", layer: 1 }));
  assert.deepEqual(shownParts(layer), [
    "tokens", "embedding", "output.0", "query", "key", "value", "weights", "context", "sum", "norm", "neurons.1", "sum2",
    "output.1", "words",
  ]);
  const head = arrange(makeScene({ level: "head", layer: 0 }));
  assert.deepEqual(shownParts(head), [
    "tokens", "embedding", "query", "key", "matrix", "value", "collect", "context", "output.0", "output.1",
  ]);
  assert.equal(head.parts.matrix.w, 46 * 4 * 1.15);
  const strip = arrange(makeScene({ level: "layer", layer: 1, strip: "neurons" }, { numbers: 3072, rows: 2, total: 2 }));
  assert.deepEqual(shownParts(strip), ["tokens", "neurons.1"]);
  assert.deepEqual([strip.lines, strip.row], [27, 309]); // cells of 10.5 pixels, 118 in a line of 1240
});

test("every stop has its picture, beside what it is about", () => {
  const shown = Object.values(STOP).map((stop) => shownParts(arrange(makeScene({ stop, layer: 1, level: "layer" }))).join(" "));
  assert.deepEqual(shown, [
    "tokens panel", "tokens panel embedding", "tokens output.0 query key value panel", "tokens query key matrix panel",
    "tokens query key matrix panel", "tokens matrix value collect context panel", "tokens context added panel", "tokens output.0 added sum norm panel",
    "tokens norm neurons.1 sum2 output.1 panel", "tokens output.1 panel",
  ]);
});

test("on a phone one group is seen at a time", () => {
  const phone = { phone: true, width: 390, height: 500, narrow: true };
  assert.deepEqual(listGroups(makeScene({}, phone)).map(([title]) => title), ["Embedding", "Layer 0", "Layer 1", "Words"]);
  assert.deepEqual(listGroups(makeScene({ level: "layer", layer: 1 }, phone))[3], ["Neurons", "neurons.1", "sum2", "output.1"]);
  assert.deepEqual(listGroups(makeScene()), []);
  const frame = arrange(makeScene({ level: "layer", layer: 1 }, { ...phone, group: 1 }));
  assert.deepEqual([...shownParts(frame), frame.top, frame.row], ["tokens", "weights", 52, 44]);
  assert.deepEqual(shownParts(arrange(makeScene({ level: "layer", stop: 4 }, phone))), ["panel"]);
  assert.deepEqual(shownParts(arrange(makeScene({ level: "layer", stop: 5 }, phone))), ["tokens", "panel"]);
});

test("rows go up so that the explained one is seen above a sheet from below", () => {
  const scene = makeScene({}, { phone: true, width: 390, height: 500, covered: 120, shown: 3 });
  const frame = arrange(scene);
  assert.equal(frame.lifted, 52 + 4 * 44 - 120);
  assert.equal(frame.top, 52 - frame.lifted);
  assert.equal(arrange({ ...scene, covered: 400 }).lifted, 0);
});

test("rows stand one under the other, also those on their way in or out", () => {
  const frame = { top: 64, row: 20, first: 2.5, count: 3 };
  assert.deepEqual([rowTop(frame, 4), rowMiddle(frame, 4)], [94, 104]);
  assert.deepEqual(seenRows(frame, 10), [2, 3, 4, 5]);
  assert.deepEqual([2, 3, 5, 6].map((row) => isSeen(frame, row)), [false, true, true, false]);
  assert.deepEqual(seenRows({ first: 0, count: 4 }, 3), [0, 1, 2]);
});

test("a cell stands in its row and column, and is found there again", () => {
  const { canvas } = openCanvas();
  const box = canvas.frame.parts.embedding;
  const cell = cellBox(canvas, "embedding", { row: 2, column: 3 });
  assert.deepEqual([cell.x, cell.w, cell.y, cell.h], [132 + 3 * 9, 9, 64 + 2 * 46 + 3, 40]);
  const strip = layStrip(canvas, "embedding", canvas.stages.get("embedding"), box);
  assert.equal(strip.find(2, cell.x + 1, cell.y + 1), 3);
  assert.equal(strip.find(2, cell.x - 1, cell.y + 1), 2);
  assert.equal(cellBox(canvas, "embedding", { row: 4, column: 3 }), null);
  assert.equal(cellBox(canvas, "query", { row: 1, column: 1 }), null); // not drawn at this level
});

test("the cells of a head's matrix stand at its key", () => {
  const { canvas } = openCanvas({ level: "head" });
  const { x, w } = canvas.frame.parts.matrix;
  const cell = cellBox(canvas, "matrix", { row: 1, key: 3 });
  assert.deepEqual([cell.x, cell.y, cell.w, cell.h], [x + (3 * w) / 4, 110, w / 4 - 1.5, 44.5]);
});

test("the small matrices of a layer's heads share its room", () => {
  const { canvas } = openCanvas({ level: "layer" });
  const [first, second] = headBoxes(canvas);
  const { x, y, w, h } = canvas.frame.parts.weights;
  assert.deepEqual([first.x, first.y, first.size], [x, y + 20, Math.min((w - 12) / 2, h - 20)]);
  assert.deepEqual([Math.round(second.x - first.x), second.y], [Math.round(Math.min((w + 12) / 2, first.size + 40)), first.y]);
  const cell = cellBox(canvas, "weights", { head: 1, row: 2, key: 3 });
  assert.deepEqual([cell.x, cell.y, cell.w], [second.x + 0.75 * second.size, second.y + 0.5 * second.size, second.size / 4]);
});

test("a part draws the stage of the chosen layer and head, none while its numbers are on their way", () => {
  const { canvas } = openCanvas({ level: "head" });
  const drawn = (part) => stageOf(canvas, part)?.id;
  assert.deepEqual(["matrix", "query", "context", "sum", "output.0", "embedding"].map(drawn), [
    "head.weights", "head.query", "head.context", "sum", "output.0", "embedding",
  ]);
  canvas.place.stop = STOP.compare;
  assert.equal(drawn("matrix"), "head.scores");
  canvas.place.stop = STOP.join;
  assert.equal(drawn("context"), "context");
  canvas.go({ stop: 0, head: 1 });
  assert.deepEqual([drawn("matrix"), drawn("query"), drawn("context"), drawn("weights")], [undefined, undefined, undefined, "weights"]);
  canvas.go({ layer: 0 });
  assert.deepEqual([drawn("sum"), drawn("output.1")], [undefined, "output.1"]);
});

test("what the server calls a stage is a part of the picture", () => {
  const parts = (layer) => ["input", "scores", "neurons", "output", "ribbons", "head.query", "sum2"].map(
    (id) => namePart({ place: { layer } }, id).part
  );
  assert.deepEqual(parts(1), ["output.0", "matrix", "neurons.1", "output.1", "ribbons.1", "query", "sum2"]);
  assert.equal(parts(0)[0], "embedding");
});

test("a strip draws as many columns as there is room for, and what is spoken of among them", () => {
  const { canvas } = openCanvas();
  const stage = canvas.stages.get("embedding");
  assert.deepEqual(drawnColumns(canvas, stage, 72), [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(drawnColumns(canvas, stage, 16), [0, 1, 2, 3]); // 4 pixels each
  assert.equal(tellColumns(canvas, stage, 16), "0–3 of 8");
  canvas.go({ component: 6 });
  assert.deepEqual(drawnColumns(canvas, stage, 16), [0, 1, 2, 6]);
  assert.equal(tellColumns(canvas, stage, 16), "0–2, 6 of 8");
  assert.equal(tellColumns(canvas, stage, 72), "8 numbers");
  assert.equal(tellColumns(canvas, canvas.stages.get("neurons.1"), 16), "4 of 16");
  canvas.place.stop = 7; // which works at component 6
  canvas.place.component = null;
  assert.deepEqual(drawnColumns(canvas, stage, 16), [4, 5, 6, 7]);
});

test("stops inside of a head compare with the token that is looked at most", () => {
  const { canvas } = openCanvas({ level: "head" });
  const spoken = [2, 3, 4, 5].map((stop) => {
    canvas.place.stop = stop;
    return spokenKey(canvas);
  });
  assert.deepEqual(spoken, [null, 3, 3, null]);
});

test("motion is slow at both ends, and in the middle half-way", () => {
  assert.deepEqual([0, 0.25, 0.5, 0.75, 1].map(ease), [0, 0.0625, 0.5, 0.9375, 1]);
  assert.deepEqual([within(0.1, 0.25, 0.75), within(0.5, 0.25, 0.75), within(0.9, 0.25, 0.75)], [0, 0.5, 1]);
  assert.equal(mix(10, 20, 0.3), 13);
  const box = (x, w) => ({ x, w, y: 0, h: 10, a: 1 });
  const frames = [{ top: 0, row: 10, first: 0, count: 4, parts: { one: box(0, 10) } }, { top: 10, row: 20, first: 2, count: 4,
    parts: { one: box(100, 20), other: box(50, 5) }, width: 9 }];
  const between = mixFrames(...frames, 0.5);
  assert.deepEqual([between.top, between.row, between.first, between.width], [5, 15, 1, 9]);
  assert.deepEqual([round(between.parts.one), round(between.parts.other)], [[50, 15], [50, 5]]);
  assert.deepEqual(round(stretchFrame(frames[0], 1.5).parts.one), [0, 15]);
});

test("the picture moves to another level, and is there after half a second", () => {
  const { canvas } = openCanvas();
  const before = canvas.frame.parts.query.w;
  canvas.go({ level: "layer" });
  assert.equal(canvas.frame.parts.query.w, before);
  settle();
  assert.ok(canvas.frame.parts.query.w > 40 && canvas.moving === null);
  const { canvas: calm } = openCanvas({}, { page: { matchMedia: () => ({ matches: true }) } });
  calm.go({ level: "layer" });
  assert.ok(calm.frame.parts.query.w > 40); // at once for whoever wants no motion
});
