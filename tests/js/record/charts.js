// Charts as Plotly leaves them on the page, as far as the listener looks into them.

// An axis of so many pixels, from `offset` on, with the values from 0 to `count`.
function makeAxis(id, [offset, length], count, more = {}) {
  return { _id: id, _offset: offset, _length: length, c2p: (value) => (value * length) / count, c2d: (value) => value, title: { text: "" }, ...more };
}

function name(texts) {
  return { tickmode: "array", tickvals: texts.map((_, i) => i), ticktext: texts };
}

const WIDE = [40, 320], HIGH = [30, 90];
const TOKENS = ["<b>the</b>", "cat", "&#91;SEP]"];

const MAP = {
  trace: { type: "heatmap", meta: "p[head=1,query={y},key={x}]" },
  points: [{ x: [0, 1, 2, 3, 4], y: [0, 1, 2, 3], z: [[0.1, 0.2, 0.3, 0.4], [0.25, 0.5, 0.125, 0.125], [1, 0, 0, 0]], xCenter: [0, 1, 2, 3], yCenter: [0, 1, 2] }],
  xaxis: makeAxis("x", WIDE, 4, { ...name(["the", "cat", "sat", "."]), tickangle: 0, side: "top" }), yaxis: makeAxis("y", HIGH, 3, name(TOKENS)),
};
// Keys below, at a slant.
const SLANTED = { ...MAP, xaxis: makeAxis("x", WIDE, 4, { ...name(["the", "cat", "sat", "."]), tickangle: 45, side: "bottom" }) };
const NUMBERS = {
  trace: { type: "heatmap", meta: ["a[token=0,hidden={x}]", "", "a[token=2,hidden={x}]"] },
  points: [{ x: [0, 1, 2], y: [0, 1, 2, 3], z: [[1, -2], [3, null], [0.00001, 12345.678]], xCenter: [0, 1], yCenter: [0, 1, 2] }],
  xaxis: makeAxis("x", WIDE, 2), yaxis: makeAxis("y", HIGH, 3, { c2p: (value) => 90 - 30 * value }),
};
const SMALL = {
  trace: { type: "heatmap", meta: "p[head={y},query={q},key={k}]", customdata: [[[0, 1], [1, 1]], [[2, 0], [2, 2]]] },
  points: [{ x: [0, 1, 2], y: [0, 1, 2], z: [[0.5, 0.25], [0.125, 1]], xCenter: [0, 1], yCenter: [0, 1] }],
  xaxis: makeAxis("x", [0, 6], 2), yaxis: makeAxis("y", [0, 6], 2),
};
const bar = (p, s) => ({ p0: p - 0.4, p1: p + 0.4, s0: 0, s1: s });
const LYING = {
  trace: { type: "bar", orientation: "h", meta: "b[token={y}]" },
  points: [[2, 0], [0.5, 1], [-1, 2]].map(([x, y]) => ({ x, y, ...bar(y + 0.5, x) })),
  xaxis: makeAxis("x", WIDE, 4, { title: { text: "share" } }), yaxis: makeAxis("y", HIGH, 3, name(TOKENS)),
};
const STANDING = {
  trace: { type: "bar", meta: "c[token={x}]", customdata: ["<i>one</i>", "two"] },
  points: [[0, 1], [1, 3]].map(([x, y]) => ({ x, y, ...bar(x + 0.5, y) })),
  xaxis: makeAxis("x", WIDE, 2), yaxis: makeAxis("y", HIGH, 4, { c2p: (value) => 90 - 22.5 * value }),
};
const POINTS = {
  trace: { type: "scatter", meta: ["d[token=0]", "d[token={n}]", "d[token={n}]"], text: ["first", "", "third"] },
  points: [[3, 1], [1, 2.5], [1, 0.5]].map(([x, y], i) => ({ x, y, mrc: i ? undefined : 7 })),
  xaxis: makeAxis("x", WIDE, 4, { title: { text: "first component" } }), yaxis: makeAxis("y", HIGH, 3, { title: { text: "second component" } }),
};
const BY_NAME = {
  trace: { type: "scatter", meta: "e[layer={x}]" },
  points: [[0, 0.25], [1, 0.75]].map(([x, y]) => ({ x, y, mrc: 3 })),
  xaxis: makeAxis("x", WIDE, 2, name(["layer 0", "layer 1"])), yaxis: makeAxis("y", HIGH, 1, { title: { text: "share" } }),
};
const LEVELS = {
  trace: { type: "scatter", meta: "f[token={n}]" },
  points: [[0.25, "high"], [0.75, "low"]].map(([x, y]) => ({ x, y, mrc: 3 })),
  xaxis: makeAxis("x", WIDE, 1, { title: { text: "share" } }), yaxis: makeAxis("y", HIGH, 2, { type: "category", c2p: (value) => (value === "high" ? 10 : 60) }),
};

/** @type {Record<string, object[]>} what each chart draws */
export const CHARTS = {
  map: [MAP], slanted: [SLANTED], numbers: [NUMBERS], small: [SMALL], lying: [LYING], standing: [STANDING], points: [POINTS], "by name": [BY_NAME], levels: [LEVELS],
  "two parts": [MAP, { ...LYING, xaxis: { ...LYING.xaxis, _id: "x2", _offset: 400 }, yaxis: { ...LYING.yaxis, _id: "y2" } }],
};

// The names along an axis, over it or under it, where each stands.
function drawNames({ _id, _offset, _length, tickvals = [], side, c2p }, { left, top }) {
  return tickvals.map((value) => {
    const name = document.createElement("text");
    name.box = { left: left + _offset + c2p(value), top: top + (side === "top" ? 5 : 125), width: _length / tickvals.length, height: 20 };
    const tick = document.createElement("g");
    tick.className = `${_id}tick`;
    tick.append(name);
    return tick;
  });
}

// Lets an element be such a chart; gives how its events are heard.
export function drawChart(element, traces) {
  const heard = {};
  const corner = { left: 100, top: 200 };
  element.append(...traces.flatMap(({ xaxis }) => drawNames(xaxis, corner)));
  const pointer = element.appendChild(document.createElement("g")); // under what is said at the pointer our marks lie
  /** @type {Record<string, any>} */
  const layout = { _hoverpaper: { node: () => pointer } };
  const axis = ({ _id }) => `${_id[0]}axis${_id.slice(1)}`;
  for (const { xaxis, yaxis } of traces) Object.assign(layout, { [axis(xaxis)]: xaxis, [axis(yaxis)]: yaxis });
  Object.assign(element, {
    box: { ...corner, width: 800, height: 150 }, on: (event, act) => { heard[event] = act; }, removeListener: (event) => { delete heard[event]; },
    _ev: { listeners: (event) => [heard[event]] }, _fullLayout: layout,
    calcdata: traces.map(({ trace, points, xaxis, yaxis }, index) => {
      const full = { index, visible: true, xaxis: xaxis._id, yaxis: yaxis._id, ...trace };
      return points.map((point) => ({ ...point, trace: full }));
    }),
  });
  return heard;
}

// Every point of a chart, as Plotly numbers it.
export function listPoints(traces) {
  return traces.flatMap(({ trace, points }, curveNumber) => {
    if (trace.type !== "heatmap") return points.map((_, pointNumber) => ({ curveNumber, pointNumber }));
    return points[0].z.flatMap((row, i) => row.map((_, k) => ({ curveNumber, pointNumber: [i, k] })));
  });
}
