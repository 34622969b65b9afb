// Which cells a chart offers: by place, by address, by key, and in words.

import assert from "node:assert/strict";
import { test } from "node:test";

import { listOffers } from "../../bertviz_core/ui/components/listener/offers.js";

// An axis as Plotly draws it: values from 0 to `count` over so many pixels.
function makeAxis(id, length, offset, count, more = {}) {
  const p = (value) => (value * length) / count;
  return { _id: id, _length: length, _offset: offset, c2p: p, c2d: (value) => value, title: { text: "" }, ...more };
}

function makeChart(type, points, trace, axes = {}) {
  const x = makeAxis("x", 100, 10, 4, axes.x);
  const y = makeAxis("y", 60, 20, 3, { c2p: (value) => 60 - value * 20, ...axes.y });
  const full = { index: 0, type, visible: true, xaxis: "x", yaxis: "y", ...trace };
  const calcdata = [points.map((point, i) => (i ? point : { trace: full, ...point }))];
  return { calcdata, _fullLayout: { xaxis: x, yaxis: y } };
}

const MATRIX = "p[head=1,query={y},key={x}]";
const Z = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12.5]];
function makeMap(trace = {}, axes = {}) {
  const point = { x: [0, 1, 2, 3, 4], y: [0, 1, 2, 3], z: Z, xCenter: [0, 1, 2, 3], yCenter: [0, 1, 2] };
  return listOffers(makeChart("heatmap", [point], { meta: MATRIX, ...trace }, axes))[0];
}

test("a heat map's cells stand at their row and column", () => {
  const offer = makeMap();
  assert.equal(offer.address({ row: 2, column: 3 }), "p[head=1,query=2,key=3]");
  assert.deepEqual(offer.find("p[head=1,query=2,key=3]"), { row: 2, column: 3 });
  for (const none of ["p[head=0,query=2,key=3]", "p[head=1,query=9,key=3]", "s[head=1,query=2,key=3]"]) assert.equal(offer.find(none), null);
  assert.deepEqual(offer.box({ row: 0, column: 1 }), { left: 35, top: 60, width: 25, height: 20 });
  assert.deepEqual(offer.at([1, 2]), { row: 1, column: 2 });
});

test("what is too small to be seen has a mark all the same, what is out of sight has none", () => {
  const offer = makeMap();
  offer.xaxis.c2p = (value) => value * 2;
  assert.deepEqual(offer.box({ row: 0, column: 1 }), { left: 9, top: 60, width: 8, height: 20 });
  offer.xaxis.c2p = (value) => value * 25 - 200;
  assert.equal(offer.box({ row: 0, column: 1 }), null);
});

test("a row of meta is a row's own template, and a cell that many places say is none of them", () => {
  const rows = makeMap({ meta: ["a[token={x}]", "", "b[token={x}]"] });
  assert.deepEqual([rows.address({ row: 2, column: 1 }), rows.address({ row: 1, column: 1 })], ["b[token=1]", ""]);
  assert.deepEqual(rows.find("b[token=3]"), { row: 2, column: 3 });
  assert.equal(makeMap({ meta: ["a[token={x}]", "a[token={x}]", "c[token={x}]"] }).find("a[token=1]"), null);
});

test("a map whose cells are named one by one says query and key of each", () => {
  const customdata = Z.map((row, i) => row.map((_, k) => [i * 10, k * 10]));
  const offer = makeMap({ meta: "p[head={y},query={q},key={k}]", customdata });
  assert.equal(offer.address({ row: 1, column: 2 }), "p[head=1,query=10,key=20]");
  assert.deepEqual(offer.find("p[head=2,query=20,key=30]"), { row: 2, column: 3 });
});

test("a cell in words: what its axes print, or what they count, and its number in full", () => {
  assert.equal(makeMap().describe({ row: 2, column: 3 }), "query 2, key 3: 12.5000");
  const named = makeMap({}, { y: { tickmode: "array", tickvals: [0, 1, 2], ticktext: ["<b>the</b>", "cat", "&#91;SEP]"] } });
  assert.equal(named.describe({ row: 0, column: 0 }), "the, key 0: 1.0000");
  assert.equal(named.describe({ row: 2, column: 0 }), "[SEP], key 0: 9.0000");
  const titled = makeMap({ meta: "p[query={y}]" }, { x: { title: { text: "share" }, c2d: (value) => value / 4 } });
  assert.equal(titled.describe({ row: 0, column: 1 }), "query 0, share 0.2500: 2.0000");
});

test("arrows move on the map as it is drawn, and no further", () => {
  const offer = makeMap();
  const move = (place, key, far) => Object.values(offer.move(place, key, far));
  const at = { row: 1, column: 1 };
  assert.deepEqual(["ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"].map((key) => move(at, key)), [[1, 2], [1, 0], [2, 1], [0, 1]]);
  assert.deepEqual([move({ row: 0, column: 3 }, "ArrowRight"), move({ row: 0, column: 0 }, "ArrowDown")], [[0, 3], [0, 0]]);
  assert.deepEqual([move(at, "Home"), move(at, "End")], [[1, 0], [1, 3]]);
  assert.deepEqual([move(at, "Home", true), move(at, "End", true)], [[2, 0], [0, 3]]); // the first cell stands above
});

test("a token's bands are its row, and as a key its column", () => {
  const offer = makeMap();
  assert.deepEqual(offer.listRows(["token", "query"]), [0, 1, 2]);
  assert.equal(offer.columnsAxis, "key");
  assert.deepEqual(offer.listBands({ row: 1, key: 3 }), [
    { left: 10, top: 40, width: 100, height: 20 }, { left: 85, top: 20, width: 25, height: 60 },
  ]);
  assert.deepEqual(offer.within({ row: 9, column: -1 }), { row: 2, column: 0 });
});

test("below its columns a name leads to the nearest one, also at a slant", () => {
  const axis = { tickmode: "array", tickvals: [0, 1, 2, 3], tickangle: 0, side: "bottom" };
  assert.equal(makeMap({}, { x: axis }).columnNamed(10 + 52, 85), 2);
  assert.equal(makeMap({}, { x: { ...axis, tickangle: 45 } }).columnNamed(10 + 52 + 25, 80 + 25), 2);
  assert.equal(makeMap().columnNamed(62, 85), null);
});

function makeBars(trace = {}) {
  const points = [[0, 2], [1, 0.5], [2, 1]].map(([y, x]) => ({ x, y, p0: y, p1: y + 0.8, s0: 0, s1: x }));
  return listOffers(makeChart("bar", points, { meta: "a[token={y}]", orientation: "h", ...trace }))[0];
}

test("lying bars: one cell each, from top to bottom", () => {
  const offer = makeBars();
  assert.deepEqual([offer.rows, offer.columns, offer.address({ row: 1, column: 0 })], [3, 1, "a[token=1]"]);
  assert.deepEqual(offer.find("a[token=2]"), { row: 2, column: 0 });
  assert.equal(offer.describe({ row: 1 }), "token 1: 0.5000");
  const { left, width, height } = offer.box({ row: 0 });
  assert.deepEqual([left, width, Math.round(height * 10) / 10], [10, 50, 16]);
  assert.deepEqual([offer.move({ row: 0 }, "ArrowUp"), offer.move({ row: 0 }, "ArrowDown").row], [{ row: 1, column: 0 }, 0]);
  assert.deepEqual([offer.move({ row: 0 }, "Home").row, offer.move({ row: 0 }, "End").row], [2, 0]);
  assert.equal(makeBars({ customdata: ["one", "two", "three"] }).describe({ row: 1 }), "two: 0.5000");
});

test("a bar's row is as long as the chart, whichever way it lies", () => {
  const { left, top, width, height } = makeBars().rowBox(1);
  assert.deepEqual([left, width, top, Math.round(height)], [10, 100, 20 + 60 - 1.8 * 20, 16]);
  const standing = [[0, 2], [1, 0.5]].map(([x, y]) => ({ x, y, p0: x, p1: x + 0.8, s0: 0, s1: y }));
  const row = listOffers(makeChart("bar", standing, { meta: "a[token={x}]" }))[0].rowBox(1);
  assert.deepEqual([row.left, row.width, row.top, row.height].map(Math.round), [35, 20, 20, 60]);
});

test("points: round marks as large as they are drawn, from left to right", () => {
  const points = [[3, 1], [1, 2]].map(([x, y]) => ({ x, y, mrc: 4 }));
  const offer = listOffers(makeChart("scatter", points, { meta: ["a[token={n}]", "a[token={n}]"], text: ["<i>the</i>", ""] }))[0];
  assert.equal(offer.address({ row: 1 }), "a[token=1]");
  assert.deepEqual(offer.box({ row: 0 }), { left: 10 + 75 - 6, top: 20 + 40 - 6, width: 12, height: 12, round: true });
  assert.deepEqual([offer.move({ row: 1 }, "ArrowRight").row, offer.move({ row: 0 }, "ArrowRight").row], [0, 0]);
  assert.match(offer.describe({ row: 0 }), /^the: .*3, .*1$/);
  assert.match(offer.describe({ row: 1 }), /^token 1: /);
});

test("a point over a name says that name and its number, whichever axis has the names", () => {
  const names = { tickmode: "array", tickvals: [0, 1, 2, 3], ticktext: ["embedding", "layer 0", "layer 1", "layer 2"] };
  const tell = (axes) => listOffers(makeChart("scatter", [{ x: 2, y: 1 }], { meta: "a[token={n}]" }, axes))[0].describe({ row: 0 });
  assert.equal(tell({ x: names }), "layer 1: 1.0000");
  assert.equal(tell({ y: names }), "layer 0: 2.0000");
});

test("points that stand above one another are gone through from the top down", () => {
  const points = [[1, 1], [1, 2], [0, 1.5]].map(([x, y]) => ({ x, y }));
  const offer = listOffers(makeChart("scatter", points, { meta: "a[token={n}]" }))[0];
  const walk = (row) => offer.move({ row }, "ArrowDown").row;
  assert.deepEqual([walk(2), walk(1), walk(0)], [1, 0, 0]);
});

test("what is hidden, of another kind or without addresses offers nothing", () => {
  const chart = (type, trace) => listOffers(makeChart(type, [{ x: 1, y: 1 }], trace));
  assert.deepEqual(chart("scatter", { meta: undefined }), []);
  assert.deepEqual(chart("scatter", { meta: "a", visible: "legendonly" }), []);
  assert.deepEqual(chart("pie", { meta: "a" }), []);
  assert.deepEqual(listOffers({ _fullLayout: {} }), []);
  assert.equal(chart("scatter", { meta: "a" }).length, 1);
});

test("a lying bar that is hardly there is boxed where it would go on, not over the number before it", () => {
  const bars = (ends) => listOffers(makeChart("bar", ends.map((s1, i) => ({ s0: 1, s1, p0: i, p1: i + 1 })),
    { meta: ["a", "b", "c"], orientation: "h" }))[0];
  const boxes = [0, 1, 2].map((row) => bars([1, 0.96, 3]).box({ row }));
  assert.deepEqual(boxes.map(({ left, width }) => [left, width]), [[35, 8], [27, 8], [35, 50]]);
});
