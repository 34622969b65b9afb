// What Plotly.js keeps to itself and we cannot do without. Whoever takes a newer Plotly looks here first.

/** @import { Axis, Chart, HeatMap } from "./types.js" */

const IN_CELL = "in-cell", CELL_GAP = 1; // the name of what stands in a cell; pixels from one to the next
const LEAST = 9; // pixels of its letters, where cells are narrow

export const CHART = ".js-plotly-plot"; // the element that it draws into; no event says that one has come

// Whether a chart calls this when it happens: a chart that is drawn anew from the start forgets who listens, and says so
// to nobody. null before it can listen at all.
/** @param {Chart} chart @param {string} event @param {Function} handler */
export function hears(chart, event, handler) {
  return chart._ev ? chart._ev.listeners(event).includes(handler) : null;
}

// Whether it has been drawn: only then it knows where its points are.
/** @param {Chart} chart */
export function isDrawn(chart) {
  return Boolean(chart.calcdata);
}

// What is drawn, trace by trace, with its points and axes: where a cell is can be read of nothing else.
/** @param {Chart} given */
export function listTraces({ calcdata = [], _fullLayout: layout }) {
  return calcdata.flatMap((points) => {
    const trace = points[0]?.trace;
    return trace ? [{ trace, points, xaxis: layout[nameAxis(trace.xaxis)], yaxis: layout[nameAxis(trace.yaxis)] }] : [];
  });
}

/** @param {string | undefined} id */
function nameAxis(id) {
  return id ? `${id[0]}axis${id.slice(1)}` : "";
}

// Where an axis begins in its chart and how long it is, in pixels.
/** @param {Axis} given */
export function measureAxis({ _offset, _length }) {
  return { start: _offset, length: _length };
}

// The part of a chart that two axes belong to.
/** @param {Axis} xaxis @param {Axis} yaxis */
export function nameSubplot(xaxis, yaxis) {
  return xaxis._id + yaxis._id;
}

// The names that are printed along an axis: what is pointed at there is no part of the plot.
/** @param {Chart} chart @param {Axis} axis */
export function findTicks(chart, axis) {
  return [...chart.querySelectorAll(`.${axis._id}tick text`)];
}

// What Plotly's own writing of a number is at the pointer becomes ours, for as long as it draws what it has now: there
// is no way to give it a function. form: the form of number that is ours.
/** @param {Chart} chart @param {string} form @param {(value: unknown) => string} write */
export function writeInFull(chart, form, write) {
  const locale = chart._fullLayout?._d3locale;
  if (!locale || locale.inFull) return;
  const { numberFormat } = locale;
  Object.assign(locale, { inFull: true, numberFormat: (/** @type {string} */ wish) => (wish === form ? write : numberFormat(wish)) });
}

// A chart on a phone is drawn otherwise, where it says how (figures/base.py, give_way); whether it is drawn anew for that.
// What it was given is kept as it was, and so is drawn again where it has room. Streamlit's Plotly is the window's.
/** @param {Chart} chart */
export function giveWay(chart) {
  const { meta, width } = chart._fullLayout ?? {};
  const { narrow } = meta ?? {};
  if (!narrow || width >= narrow.below || !globalThis.Plotly) return false;
  chart.layout = structuredClone(chart.layout);
  chart.data = chart.data.map((/** @type {object} */ trace) => ({ ...trace }));
  globalThis.Plotly.update(chart, narrow.hidden.length ? { visible: false } : {}, { ...narrow.layout, meta: null }, narrow.hidden);
  return true;
}

// What a heat map writes in its cells (figures/inked.py) is seen where all of it has room: a cell of many without its
// number would pass for one that has none worth writing.
/** @param {Chart} chart */
export function writeInCells(chart) {
  const layout = chart._fullLayout;
  const written = (layout?.annotations ?? []).filter((/** @type {any} */ each) => each.name === IN_CELL);
  for (const axis of new Set(written.map((/** @type {any} */ each) => each.xref))) {
    const { c2p } = layout[nameAxis(String(axis))];
    const wide = Math.abs(c2p(1) - c2p(0)) - CELL_GAP;
    const own = written.filter((/** @type {any} */ each) => each.xref === axis);
    const texts = own
      .flatMap((/** @type {any} */ each) => [...chart.querySelectorAll(`.annotation[data-index="${each._index}"] text`)]);
    const full = own[0].font.size;
    for (const text of texts) text.style.fontSize = `${full}px`; // after a rotation there may be room again
    const widest = Math.max(0, ...texts.map((/** @type {Element} */ text) => text.getBoundingClientRect().width));
    const size = Math.floor(full * Math.min(1, wide / widest));
    for (const text of texts) {
      text.style.visibility = size >= LEAST ? "" : "hidden";
      text.style.fontSize = `${Math.max(LEAST, size)}px`;
    }
  }
}

// The layer of what is said at the pointer; our marks lie under it.
/** @param {Chart} chart */
export function findPointerLayer(chart) {
  return chart._fullLayout?._hoverpaper?.node();
}

// Copies of the layers of a chart, without what only listens to the pointer: its own export would leave out the page's fonts.
// redraw: is given each copied heat map, which is one image, to put something else there; and what it shows.
/** @param {Chart} chart @param {(copy: Element, map: HeatMap) => void} redraw */
export function copyLayers(chart, redraw) {
  const layout = chart._fullLayout;
  return [...chart.querySelectorAll(".main-svg")].map((layer) => {
    const clone = /** @type {Element} */ (layer.cloneNode(true));
    const copies = [...clone.querySelectorAll(".hm")];
    [...layer.querySelectorAll(".hm")].forEach((drawn, i) => {
      const [{ trace, x, y, z }] = /** @type {any} */ (drawn).__data__; // as D3 joined it
      redraw(copies[i], { trace, x, y, z, xaxis: layout[nameAxis(trace.xaxis)], yaxis: layout[nameAxis(trace.yaxis)] });
    });
    for (const each of clone.querySelectorAll(".draglayer, .hoverlayer, .drag")) each.remove();
    clone.removeAttribute("style"); // its background is the page's
    clone.style.overflow = "visible";
    return clone;
  });
}

// What it draws in space, as pictures of how that is turned, and where each stands: {x, y, width, height, href}.
/** @param {Chart} given @returns {{ x: number, y: number, width: number, height: number, href: string }[]} */
export function listScenes({ _fullLayout: layout }) {
  const { l, t, w, h } = layout._size;
  return (layout._subplots.gl3d ?? []).map((/** @type {string} */ name) => {
    const { domain: { x, y }, _scene: scene } = layout[name];
    return {
      x: l + w * x[0], y: t + h * (1 - y[1]), width: w * (x[1] - x[0]), height: h * (y[1] - y[0]), href: scene.toImage("png"),
    };
  });
}
