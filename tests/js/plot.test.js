// The marks over a chart: the cursor of the keyboard, what is read out beside it, and which token it lights.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Plot } from "../../bertviz_core/ui/components/listener/plot.js";
import { makeElement, openPage } from "./page.js";

const HIGH = 24; // pixels of what is read out

function makeAxis(id, length, count) {
  return { _id: id, _offset: 0, _length: length, c2p: (value) => (value * length) / count, c2d: (value) => value, title: { text: "" } };
}

// A map of 3 rows and 4 columns, 400 by 180 pixels if not narrower, which the keyboard is in.
function openPlot(wide = 400) {
  const { document } = openPage();
  const make = document.createElement;
  document.createElement = (tag) => Object.assign(make(tag), { offsetHeight: HIGH, offsetWidth: 80 });
  const z = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]];
  const trace = { index: 0, type: "heatmap", visible: true, xaxis: "x", yaxis: "y", meta: "p[head=1,query={y},key={x}]" };
  const point = { trace, x: [0, 1, 2, 3, 4], y: [0, 1, 2, 3], z, xCenter: [0, 1, 2, 3], yCenter: [0, 1, 2] };
  const drawn = Object.assign(makeElement(), {
    calcdata: [[point]], _fullLayout: { xaxis: makeAxis("x", wide, 4), yaxis: makeAxis("y", 180, 3) }, on: () => {},
    _ev: { listeners: () => [] },
  });
  drawn.found["is :focus-visible"] = true;
  const [lit, explained, said] = [[], [], []];
  const listener = {
    data: { cell: null, token: 1 }, lights: { lit: null, light: (token) => lit.push(token) }, say: (text) => said.push(text),
    explain: (cell) => explained.push(cell), plan: () => {}, spotlight: null,
  };
  const plot = new Plot(drawn, listener);
  plot.layer.clientWidth = 400;
  plot.listen();
  plot.enter();
  const press = (key) => plot.key({ key });
  return { plot, drawn, listener, press, lit, explained, said };
}

test("the keyboard begins at the chosen token's row; what it is at is said, lit and explained, each as that cell", () => {
  const { plot, press, lit, explained, said } = openPlot();
  assert.deepEqual([plot.current().place, lit.at(-1)], [{ row: 1, column: 0 }, { row: 1, key: 0 }]);
  press("ArrowRight");
  press("ArrowDown");
  press("Enter");
  assert.deepEqual([lit.at(-1), explained], [{ row: 2, key: 1 }, ["p[head=1,query=2,key=1]"]]);
  assert.match(said.at(-1), /: 10\.0000$/);
});

test("when the keyboard leaves a chart nothing of its cursor is left, and no token is lit", () => {
  const { plot, drawn, press, lit } = openPlot();
  press("ArrowRight");
  assert.equal(plot.pointer.children.length, 2);
  drawn.send("blur");
  assert.deepEqual([plot.pointer.children.length, lit.at(-1)], [0, null]);
});

test("what the explained number is made of is framed, neighbours together, but for cells that a frame would hide", () => {
  const mark = (wide, ...cells) => {
    const { plot, listener } = openPlot(wide);
    listener.data.operands = cells.map(([query, key]) => `p[head=1,query=${query},key=${key}]`);
    plot.draw();
    return plot.marks.children.map(({ style, className }) => [style.left, style.top, style.width, className].join(" "));
  };
  assert.deepEqual(mark(400, [0, 0], [0, 3], [0, 1]), ["0px 0px 200px bv-operand bv-joined", "300px 0px 100px bv-operand"]);
  assert.deepEqual(mark(400, [0, 2], [1, 2]), ["200px 0px 100px bv-operand", "200px 60px 100px bv-operand"]);
  assert.deepEqual(mark(48, [0, 0], [0, 1]), ["0px 0px 24px bv-operand bv-joined"]);
  assert.deepEqual(mark(44, [0, 0], [0, 1]), []);
});

test("the frame of neighbours has the colour of its card's kind", () => {
  const { plot, drawn } = openPlot();
  const [card, title] = [makeElement(), makeElement()];
  drawn.found['[class*="st-key-panel-"]'] = card;
  card.found[".bv-panel-title"] = title;
  title.style.setProperty("--kind", "#123456");
  plot.draw();
  assert.equal(plot.marks.style.getPropertyValue("--kind"), "#123456");
});

test("in the spotlight all rows but one are veiled, with their names; none where the token has no row", () => {
  const { plot, listener } = openPlot();
  const veiledBy = (token) => {
    listener.spotlight = token;
    plot.drawVeil();
    return plot.veil.children.map(({ style }) => [style.top, style.left, style.width, style.height].map(parseFloat));
  };
  assert.deepEqual(veiledBy(1), [[0, 0, 400, 60], [120, 0, 400, 60]]);
  assert.deepEqual([veiledBy(7), veiledBy(null)], [[], []]);
});

test("what is read out stands beside its cell, over none of it, and within the chart's width", () => {
  const { plot, press } = openPlot();
  press("Home");
  press("ArrowUp");
  for (let i = 0; i < 12; i++) {
    const { place: { row, column } } = plot.current();
    const [mark, readout] = plot.pointer.children;
    const [top, high, left] = [mark.style.top, mark.style.height, readout.style.left].map(parseFloat);
    assert.deepEqual([top, high, parseFloat(mark.style.left)], [60 * row, 60, 100 * column]);
    const at = parseFloat(readout.style.top);
    assert.ok(at >= 0 && (at + HIGH <= top || at >= top + high), `row ${row}: from ${at} over ${top} to ${top + high}`);
    assert.ok(left >= 0 && left + 80 <= 400);
    if (column < 3) press("ArrowRight");
    else ["Home", "ArrowDown"].forEach(press);
  }
});

test("a row's name is that token's, also where the chart is enlarged before a room", () => {
  const { plot, drawn } = openPlot();
  drawn.clientWidth = 400;
  for (const large of [1, 2]) {
    drawn.box = { left: 100, top: 50, width: 400 * large, height: 180 * large };
    const name = (down) => plot.readName({ clientX: 90, clientY: 50 + down * large });
    assert.deepEqual([name(10), name(100), name(170)].map(({ token }) => token), [0, 1, 2], `${large} times`);
  }
});

test("a finger's first touch of a small cell chooses it, whatever was touched before; the next one explains it", () => {
  const { plot, listener, explained, said } = openPlot(12);
  listener.touched = true;
  const tap = (row, column) => {
    plot.click({ points: [{ curveNumber: 0, pointNumber: [row, column] }], event: { type: "click" } });
    return explained.length;
  };
  assert.deepEqual([tap(1, 2), tap(1, 3), tap(2, 3)], [0, 0, 0]);
  assert.match(said.at(-1), /tap again to explain$/);
  assert.deepEqual([tap(2, 3), explained], [1, ["p[head=1,query=2,key=3]"]]);
});

test("a map of weights rings the weight of the pair whose score is explained, and of no other head's", () => {
  const { plot, listener } = openPlot();
  const rings = (cell) => {
    listener.data = { cell, token: 1 };
    plot.draw();
    return plot.marks.children.filter(({ classes }) => classes.has("bv-ring")).map(({ style }) => [style.left, style.top]);
  };
  const own = rings("p[head=1,query=2,key=1]");
  assert.equal(own.length, 1);
  assert.deepEqual(rings("r[head=1,query=2,key=1]"), own);
  assert.deepEqual([rings("r[head=0,query=2,key=1]"), rings("q[head=1,query=2,head_dim=1]")], [[], []]);
});

test("numbers are seen in the cells of a map where all of them have room, if need be smaller, and in none where one has not", () => {
  const { plot, drawn } = openPlot(120); // cells of 30 pixels
  const texts = [21, 7].map((width) => Object.assign(makeElement(), { box: { left: 0, top: 0, width, height: 15 } }));
  const said = Object.assign(makeElement(), { box: { left: 0, top: 0, width: 200, height: 15 } });
  texts.forEach((text, i) => (drawn.found[`.annotation[data-index="${i}"] text`] = text));
  drawn.found['.annotation[data-index="2"] text'] = said;
  const written = [0, 1].map((_index) => ({ _index, name: "in-cell", xref: "x", font: { size: 12 } }));
  drawn._fullLayout.annotations = [...written, { _index: 2, xref: "x" }];
  const look = () => {
    plot.read();
    return [...texts, said].map(({ style }) => style.visibility ?? "");
  };
  const sizes = () => texts.map(({ style }) => style.fontSize ?? "");
  assert.deepEqual([look(), sizes()], [["", "", ""], ["12px", "12px"]]);
  texts[0].box.width = 32; // wider than its cell: all are smaller
  assert.deepEqual([look(), sizes()], [["", "", ""], ["10px", "10px"]]);
  texts[0].box.width = 40; // too wide for letters that can be read
  assert.deepEqual(look(), ["hidden", "hidden", ""]);
  texts[0].box.width = 21; // after a rotation of the phone
  assert.deepEqual([look(), sizes()], [["", "", ""], ["12px", "12px"]]);
});

test("a chart with little room is drawn otherwise once, where it says how; what it was given stays as it was", () => {
  const given = { xaxis: { range: [0, 9] }, meta: { narrow: { below: 480, hidden: [1], layout: { "xaxis.range": [2, 3] } } } };
  const told = [];
  globalThis.Plotly = { update: (_chart, ...what) => told.push(what) };
  const { plot, drawn } = openPlot();
  const draw = (width, meta) => {
    Object.assign(drawn, { layout: given, data: [{}, {}] });
    Object.assign(drawn._fullLayout, { width, meta });
    plot.offers = [];
    plot.read();
    return [told.splice(0), plot.offers.length];
  };
  const changed = [[{ visible: false }, { "xaxis.range": [2, 3], meta: null }, [1]]];
  assert.deepEqual(draw(340, given.meta), [changed, 0]);
  assert.ok(drawn.layout !== given && drawn.layout.xaxis !== given.xaxis);
  assert.deepEqual(draw(340, null), [[], 1]);
  assert.deepEqual(draw(480, given.meta), [[], 1]);
  delete globalThis.Plotly;
  assert.deepEqual(draw(340, given.meta), [[], 1]);
});
