// Scenes of the smaller components, each on a page of its own.

import showMap from "../../../bertviz_core/ui/components/head_map/index.js";
import showStory from "../../../bertviz_core/ui/components/story_line/index.js";
import showLines from "../../../bertviz_core/ui/components/token_lines/index.js";
import showStrip from "../../../bertviz_core/ui/components/what_if/index.js";
import { readComponent } from "./visit.js";

/** @typedef {import("./component.js").Scene} Scene */

// A scene of a component that is shown these data, one after the other.
function show(component, draw) {
  return (name, data, more = {}) => ({
    name, html: readComponent(`${component}/index.html`), ...more,
    start: (shown) => [data].flat().forEach((each) => {
      draw({ data: each, parentElement: shown.document.body, setTriggerValue: shown.send });
      more.between?.(shown);
    }),
  });
}

const pack = (numbers) => Buffer.from(new Float32Array(numbers).buffer).toString("base64");

// The map of all heads.

const MAP = {
  shape: [2, 3, 2], chosen: [1, 2], notes: Array.from({ length: 6 }, (_, i) => (i % 3 ? [`looks back ${i}`, `“the” ${i}`] : [])),
  worth: [4, -1, 0, 2, 1, 3].map((value, i) => ({ text: i === 2 ? "" : `${value}`, back: `#aaaaa${i}`, ink: `#00000${i}` })),
  ends: ["−5", "+5", "points"], negative: "#484e5a", zero: "#f0efeb", scale: [[0, "#f0efeb"], [0.4, "#b8aacb"], [1, "#66449c"]],
  colors: { text: "#1b1d21", line: "#deddd8" },
};

function packMap(header, from = 0) {
  const [layers, heads, tokens] = header.shape;
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  const shares = Array.from({ length: layers * heads * tokens ** 2 }, (_, i) => [0, 1, 101, 102, 103, 254, 255][(i + from) % 7]);
  return new Uint8Array(Buffer.concat([length, text, Buffer.from(shares)]));
}

// Where the pictures of the heads stand, and that of all.
function placeHeads(shown) {
  shown.find(".frame canvas").box = { left: 40, top: 30, width: 300, height: 200 };
  shown.findAll("button i").forEach((each, i) => { each.box = { left: 50 + 90 * (i % 3), top: 40 + 80 * Math.floor(i / 3), width: 60, height: 60.4 }; });
  shown.page.resized();
}

const map = show("head_map", showMap);
const listenToHeads = (shown) => shown.document.addEventListener("bv-head", ({ detail }) => shown.send("head", detail));
/** @type {Scene[]} */
const MAPS = [
  map("all heads", packMap(MAP), { does: (shown) => {
    listenToHeads(shown);
    placeHeads(shown);
  }, presses: true }),
  map("on a sharp screen", packMap(MAP), { does: placeHeads, open: () => ({ devicePixelRatio: 2 }) }),
  map("without what heads are worth", packMap({ ...MAP, worth: null, ends: [] })),
  map("another head is chosen", [packMap(MAP), packMap({ ...MAP, chosen: [0, 1] }, 3)]),
  map("another head is chosen, while one has the focus", [packMap(MAP), packMap({ ...MAP, chosen: [0, 1] })], { between: ({ document }) => document.querySelectorAll("button")[3].focus() }),
  map("another model", [packMap(MAP), packMap({ ...MAP, shape: [3, 1, 3], chosen: [2, 0], worth: null })]),
  map("the pointer has left", packMap(MAP), { does: (shown) => {
    shown.findAll("button")[0].send("pointerenter");
    shown.find(".frame").send("pointerleave");
  } }),
];

// The way back.

const stop = (name, lane, share, part = "") => ({ name, place: `layer ${lane + 1}, no. 3`, value: `${share}`, part, share, lane, color: `#00${lane}0ff` });
const STORY = {
  lanes: [{ name: "the", hidden: "hidden: 0.3" }, { name: "cat", hidden: "" }, { name: "sat", hidden: "hidden: 0.5" }], chosen: 2, colors: { text: "#1b1d21", accent: "#66449c" },
  stops: [stop("word", 1, 0.5, "0.25"), stop("neuron", 1, 0.25, "0.1"), stop("head", 2, 0.75, "0.3"), stop("value", 0, 0.125), stop("embedding", 0, 1, "1")],
};
const story = show("story_line", showStory);
/** @type {Scene[]} */
const STORIES = [
  story("five stops", STORY, { presses: true }),
  story("two stops in one lane", { ...STORY, lanes: STORY.lanes.slice(0, 1), chosen: 0, stops: STORY.stops.slice(3) }),
  story("a shorter one, while the last stop has the focus", [STORY, { ...STORY, stops: STORY.stops.slice(0, 3) }], { between: ({ document }) => document.querySelectorAll("button")[4]?.focus() }),
];

// One head, token to token.

const token = (text, index, more = {}) => ({ text, index, special: false, piece: false, pad: false, second: false, ...more });
const TOKENS = [token("[CLS]", 0, { special: true }), token("play", 1), token("##ing", 2, { piece: true, second: true })];
const SHARES = [0.5, 0.25, 0.25, 0.004, 0.0025, 0.9935, 0, 0, 0];
const LINES = {
  query: TOKENS, key: TOKENS, shares: pack(SHARES), hidden: pack([0, 0.125, 0]), part: false, chosen: 1,
  captions: { query: "asks", key: "answers" }, full: 0.5, top: 12, row: 18, colors: { text: "#1b1d21", second: "#e3f1ec" },
};
const lines = show("token_lines", showLines);
const pointAt = (side, i) => (shown) => shown.findAll(`.${side} button`)[i]?.send("pointerenter");
/** @type {Scene[]} */
const HEADS = [
  lines("three tokens", LINES, { presses: true }),
  lines("a part of them", { ...LINES, part: true, chosen: 9, query: TOKENS.slice(1), shares: pack([0.5, NaN, 0.25, NaN, NaN, NaN]), hidden: pack([0.0625, 0]) }, { presses: true }),
  lines("five keys", { ...LINES, query: TOKENS.slice(1, 2), key: [...TOKENS, token("do", 3), token("as", 4)], shares: pack([0.1, 0.4, 0.05, 0.25, 0.2]), hidden: pack([0]) }, { does: pointAt("query", 0) }),
  lines("all of a token's attention is hidden", { ...LINES, shares: pack([0.5, 0.5, 0, 0, 0, 0, 0.2, 0.3, 0.5]), hidden: pack([0, 1, 0]) }, { does: pointAt("query", 1) }),
  lines("no tokens", { ...LINES, query: [], key: [], shares: "", hidden: "" }),
  lines("a token is pointed at, and the rows go on", [LINES, { ...LINES, query: TOKENS.slice(1), shares: pack(SHARES.slice(3)), hidden: pack([0.125, 0]) }], { between: pointAt("query", 2) }),
  lines("the pointer has left, the focus has not", LINES, { does: (shown) => {
    shown.findAll(".key button")[2].focus();
    pointAt("query", 0)(shown);
    shown.find(".lines").send("pointerleave");
  } }),
  lines("the focus goes", LINES, { does: (shown) => {
    shown.findAll(".key button")[2].focus();
    shown.document.activeElement.blur();
  } }),
];

// What if, at eleven strengths.

const steps = (write) => Array.from({ length: 11 }, (_, i) => write(i));
const answer = (name, most, unknown = []) => ({
  name, parts: steps((i) => (unknown.includes(i) ? null : (most * (i + 1)) / 11)), texts: steps((i) => (unknown.includes(i) ? "…" : `${Math.round(most * (i + 1))} %`)),
  differences: steps((i) => (i === 10 ? "" : `−${10 - i}.0`)),
});
const STRIP = {
  where: "a[head=1]", slides: true, what: "head 1 of layer 0", step: 10, answers: [answer("“people”", 1, [4, 5]), answer("“men”", 0.5)],
  note: "…: on its way", colors: { text: "#1b1d21", bar: "#66449c" },
};
const strip = show("what_if", showStrip);
const slide = (value) => (shown) => {
  shown.find("input").value = String(value);
  shown.find("input").send("input");
};
/** @type {Scene[]} */
const STRIPS = [
  strip("at full strength", STRIP, { presses: true }),
  strip("at a third", STRIP, { does: slide(3), presses: true }),
  strip("at nothing", STRIP, { does: slide(0) }),
  strip("where it is not known yet", STRIP, { does: slide(4) }),
  strip("more is known of it", [STRIP, { ...STRIP, note: "" }], { between: (shown) => shown.find("output").textContent === "1.0" && slide(4)(shown) }),
  strip("opened at another cell", [STRIP, { ...STRIP, where: "b[head=2]", what: "head 2", step: 7 }], { between: (shown) => shown.find("output").textContent === "1.0" && slide(4)(shown) }),
  strip("opened at another cell that cannot be scaled", [STRIP, { ...STRIP, where: "c", slides: false, step: 0 }]),
  strip("without an answer", { ...STRIP, answers: [] }),
];

/** @type {Record<string, Scene[]>} */
export const SMALL = { "head-map": MAPS, "story-line": STORIES, "token-lines": HEADS, "what-if": STRIPS };
