// Scenes of the canvas: where one is, how large the picture is, what the server sends, and what the visitor has done.

import { WALK } from "./scenes_walk.js";

/**
 * like: the scene that it is compared with, "FILE: NAME", of which only what differs is written; else the first of its file.
 * pass: whose numbers; more: of what is sent; around: HTML beside the picture; presses: what is tried, as `presses.js` says;
 * rests: whether one waits until nothing moves; pictured: whether the picture itself is written.
 * @typedef {{ name: string, like?: string, pass?: string, place?: object, more?: object | ((data: any) => object), size?: string,
 *   page?: object, around?: string, does?: (visit: import("./visit.js").Visit) => void, presses?: string | false, rests?: boolean, pictured?: boolean }} Scene
 */

const INSIDE = "encoder.layer.1.";
const CELLS = { // of which something is explained, each with operands that are drawn
  weight: [`${INSIDE}attention.self.probs[head=0,query=1,key=2]`, [`${INSIDE}attention.self.scores[head=0,query=1,key=2]`]],
  query: [`${INSIDE}attention.self.query[head=0,query=1,head_dim=2]`, ["encoder.layer.0.output.LayerNorm[token=1,hidden=4]"]],
  context: [`${INSIDE}attention.self.context[token=2,concat=5]`, [0, 1, 2, 3].map((key) => `${INSIDE}attention.self.value[head=0,key=${key},head_dim=1]`)],
  sum: [`${INSIDE}attention.output.residual[token=1,hidden=6]`, ["encoder.layer.0.output.LayerNorm[token=1,hidden=6]"]],
  neuron: [`${INSIDE}intermediate.activation[token=0,intermediate=7]`, []],
  output: [`${INSIDE}output.LayerNorm[token=3,hidden=2]`, [`${INSIDE}output.residual[token=3,hidden=2]`]],
  word: ["cls.predictions.probs[token=1,vocab=7]", ["cls.predictions.logits[token=1,vocab=7]"]],
};
const SHEET = '<div class="st-key-drawer"><h2 id="bv-drawer-title">a number</h2></div>';
const LINKS = ["lesson", "story"].map((name) => `<div class="st-key-canvas-${name}"><a href="?">${name}</a></div>`).join("");
const CHIPS = '<i data-token="2">cat</i>';

const explain = (name) => (visit) => visit.explain(...CELLS[name]);
const point = (part, where) => (visit) => visit.point({ part, where });
const type = (...keys) => (visit) => {
  visit.enter();
  visit.type(...keys);
};

// As in the dark theme, as far as it tells the two apart.
function darken({ colors }) {
  const dark = { text: "#F1F2F4", faint: "#A6ACB5", line: "#3A3F47", surface: "#1B1D21", paper: "#121316", zero: "#2A2D32", negative: "#C3C9D3" };
  return { colors: { ...colors, ...dark } };
}

// Of several words that are as likely none is the first.
function tie({ words }) {
  const [first, ...others] = words.top;
  const best = words.best.map((each, i) => (i < 2 ? { ...each, share: words.best[0].share } : each));
  return { words: { best, tied: 2, top: [{ ...first, tied: 3 }, ...others] } };
}

// The numbers of one stage in another order than those of the others.
function turnColumns({ stages }) {
  return { stages: stages.map((stage) => (stage.id === "output.0" ? { ...stage, columns: stage.columns.toReversed() } : stage)) };
}

// A sheet over the lower half of a phone.
function openSheet(visit, name, top = 300) {
  visit.page.document.querySelector(".st-key-drawer").box = { left: 0, top, width: 390, height: 500 };
  visit.explain(...CELLS[name]);
}

const PASS = [
  { name: "at rest", presses: "all" },
  { name: "the first layer and another token", place: { layer: 0, token: 2 } },
  { name: "a component", place: { component: 3 }, presses: "acts" },
  { name: "without words", pass: "without-words" },
  { name: "several first words", more: tie },
  { name: "columns in another order", place: { component: 2 }, more: turnColumns, does: point("embedding", { row: 0, column: 5 }) },
  { name: "an example", more: ({ examples }) => ({ sentence: examples[1].text }), presses: "acts" },
  { name: "without special tokens", does: (visit) => visit.press("quiet") },
  { name: "a cell is pointed at", does: point("output.0", { row: 2, column: 3 }) },
  { name: "a ribbon is pointed at", does: (visit) => visit.point([700, 180]) },
  { name: "nothing is pointed at any more", does: (visit) => {
    visit.point([700, 180]);
    visit.canvas.stage.send("pointerleave", { pointerType: "mouse" });
  } },
  { name: "a token is pointed at elsewhere", around: CHIPS, does: (visit) => visit.page.document.querySelector("[data-token]").send("pointerover") },
  { name: "a weight is explained", does: explain("weight") },
  { name: "a word is explained", does: explain("word") },
  { name: "a layer is on its way to be opened", rests: false, does: (visit) => {
    visit.press("stop:1");
    visit.press("level:pass");
    visit.click([600, 50]);
    visit.skip(200);
  } },
  { name: "the cursor at the words", does: type("ArrowRight", "Ctrl ArrowRight", "Ctrl ArrowRight", "Ctrl ArrowRight", "ArrowUp"), presses: "acts" },
  { name: "the cursor at the words of the chosen token", does: type("ArrowRight", "Ctrl ArrowRight", "Ctrl ArrowRight", "Ctrl ArrowRight") },
  { name: "help is open", does: type("?"), presses: "acts" },
  { name: "narrow", size: "narrow" },
  { name: "on a projector", size: "projector" },
];

const LAYER = [
  { name: "at rest", place: { level: "layer" }, presses: "all" },
  { name: "a component", place: { level: "layer", component: 3 } },
  { name: "another head", place: { level: "layer", head: 1 } },
  { name: "another layer, whose numbers are on their way", place: { level: "layer", layer: 0 } },
  ...["weight", "query", "context", "sum", "neuron", "output", "word"].map((name) => (
    { name: `explained: ${name}`, place: { level: "layer" }, does: explain(name) }
  )),
  { name: "a head is pointed at", place: { level: "layer" }, does: point("weights", { head: 1, row: 2, key: 0 }) },
  { name: "the cursor", place: { level: "layer" }, does: type("ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown") },
  { name: "the cursor on a title", place: { level: "layer", token: 0 }, does: type("ArrowRight", "Ctrl ArrowRight", "ArrowUp"), presses: "acts" },
  { name: "a strip seen whole", pass: "whole", presses: "acts" },
  { name: "a strip seen whole, low", like: "canvas-layer: a strip seen whole", pass: "whole", size: "low" },
  { name: "narrow", place: { level: "layer" }, size: "narrow" },
];

const HEAD = [
  { name: "at rest", place: { level: "head" }, presses: "all" },
  { name: "in the dark", place: { level: "head" }, more: darken },
  { name: "another head, whose numbers are on their way", place: { level: "head", head: 1 }, presses: "acts" },
  { name: "another token", place: { level: "head", token: 3 } },
  { name: "why it is shown is not told", place: { level: "head" }, more: { why: "" } },
  ...["weight", "query", "context"].map((name) => ({ name: `explained: ${name}`, place: { level: "head" }, does: explain(name) })),
  { name: "a weight is pointed at", place: { level: "head" }, does: point("matrix", { row: 2, key: 0 }) },
  { name: "the cursor", place: { level: "head" }, does: type("Enter", "ArrowLeft", "ArrowDown"), presses: "acts" },
  { name: "narrow", place: { level: "head" }, size: "narrow" },
];

// After changes: a head is off and a token another one, the difference that makes; other rules, and numbers put in their place.
const CHANGED = ["pass", "layer", "head"].flatMap((level) => ["changed", "difference", "rules"].map((pass) => (
  { name: `${level}, ${pass}`, like: `canvas-${level}: at rest`, pass, place: { level }, presses: level === "head" && pass === "rules" && "all" }
)));
CHANGED.push(
  { name: "head, difference, a weight is pointed at", pass: "difference", place: { level: "head" }, does: point("matrix", { row: 1, key: 2 }) },
  { name: "head, changed, a weight is pointed at", pass: "changed", place: { level: "head" }, does: point("matrix", { row: 1, key: 3 }) },
);

const LONG = [
  { name: "the pass", pass: "long", presses: "acts" },
  { name: "much lies out of sight", pass: "long", more: ({ outside }) => ({ outside: { ...outside, 1: { before: 0.25, after: 0.125 } } }) },
  { name: "the layer", pass: "long", place: { level: "layer" } },
  { name: "the head", pass: "long", place: { level: "head" }, presses: "all" },
  { name: "a padding token", like: "canvas-long: the head", pass: "long", place: { level: "head", token: 18 } },
  { name: "a token out of sight", pass: "long", place: { token: 3 } },
  { name: "low", pass: "long", size: "low" },
  { name: "low, the rail is dragged down", like: "canvas-long: low", pass: "long", size: "low", does: drag },
  { name: "low, further rows have come", like: "canvas-long: low", pass: "long", size: "low", does: (visit) => {
    drag(visit);
    visit.wait(200);
    visit.show({}, ({ window }) => ({ window: { ...window, start: 16, stop: 22 } }));
  } },
  { name: "low, by wheel", like: "canvas-long: low", pass: "long", size: "low", does: (visit) => {
    for (const deltaY of [30, 30, -120]) visit.canvas.stage.send("wheel", { deltaX: 0, deltaY });
  } },
  { name: "low, rolled away before a cell is explained", like: "canvas-long: low", pass: "long", size: "low", does: (visit) => {
    for (const deltaY of [500, -20]) visit.canvas.stage.send("wheel", { deltaX: 0, deltaY });
    visit.explain("encoder.layer.1.output.LayerNorm[token=13,hidden=2]");
  } },
  { name: "low, a cell below is explained", like: "canvas-long: low", pass: "long", size: "low", does: (visit) => {
    visit.explain("encoder.layer.1.output.LayerNorm[token=18,hidden=2]");
  } },
  { name: "low, the cursor goes down and up", like: "canvas-long: low", pass: "long", size: "low", does: type("ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp", "PageUp") },
];

function drag(visit) {
  const rail = visit.find(".bvc-rail");
  rail.send("pointerdown", { clientY: rail.box.top + 4, pointerId: 1 });
  rail.send("pointermove", { clientY: rail.box.top + rail.box.height, pointerId: 1 });
}

const DEEP = [
  { name: "the pass", pass: "deep", presses: "words" },
  { name: "narrow, the pass", pass: "deep", size: "narrow" },
  { name: "on a phone, the heads", pass: "deep", size: "phone", place: { level: "layer" }, does: (visit) => visit.canvas.chrome.choose(1) },
];

// What the server says while something was asked for.
const asked = (name, does) => ({ name, does, pictured: false });
const ASKED = [
  asked("at once two things", (visit) => {
    visit.canvas.go({ token: 2 });
    visit.canvas.go({ layer: 0 });
    visit.skip(80);
  }),
  asked("one thing after the other", (visit) => {
    visit.canvas.go({ token: 2 });
    visit.skip(80);
    visit.canvas.go({ layer: 0 });
    visit.skip(80);
    visit.canvas.go({ head: 1 });
    visit.skip(2000);
  }),
  asked("an older answer comes", (visit) => {
    visit.canvas.go({ token: 2, level: "layer" });
    visit.skip(80);
    visit.show({});
  }),
  asked("the answer comes, and another place then", (visit) => {
    visit.canvas.go({ token: 2 });
    visit.skip(80);
    visit.show({ token: 2 });
    visit.show({ token: 3, level: "head" });
  }),
  asked("no answer comes for long", (visit) => {
    visit.canvas.go({ token: 2 });
    visit.skip(9000);
    visit.show({ token: 0 });
  }),
  asked("another sentence comes", (visit) => {
    visit.canvas.go({ token: 2 });
    visit.skip(80);
    visit.show({ token: 0 }, { sentence: "another" });
  }),
  asked("the lesson is gone to", (visit) => {
    visit.find(".bvc").append(Object.assign(visit.page.document.createElement("i"), { innerHTML: '<button data-does="lesson">on</button>' }));
    visit.press("lesson");
    visit.skip(100);
  }),
  asked("a story is told, once the server has made its link", (visit) => {
    visit.canvas.go({ component: 1 });
    visit.click([1300, 140]);
    visit.skip(100);
    visit.show({ component: 1 });
    visit.skip(100);
  }),
  asked("it was closed", (visit) => {
    visit.canvas.go({ token: 2 });
    visit.canvas.close(1);
    visit.skip(100);
    visit.type("]");
  }),
].map((scene) => ({ ...scene, around: LINKS }));

const GROUPS = { pass: [1, 3], layer: [0, 1, 2, 3], head: [0, 1, 2] };
const PHONE = [
  ...Object.entries(GROUPS).flatMap(([level, groups]) => groups.map((group) => (
    { name: `${level}, group ${group}`, size: "phone", place: { level }, does: (visit) => visit.canvas.chrome.choose(group), presses: group === 1 && level !== "head" && "all" }
  ))),
  { name: "a sheet from below", like: "canvas-phone: head, group 1", size: "phone", place: { level: "head" }, around: SHEET, does: (visit) => openSheet(visit, "weight") },
  { name: "a sheet over all but one row", like: "canvas-phone: layer, group 3", size: "phone", place: { level: "layer" }, around: SHEET, does: (visit) => openSheet(visit, "output", 90) },
  { name: "a swipe to the next stage", like: "canvas-phone: layer, group 1", size: "phone", place: { level: "layer" }, does: (visit) => visit.touch([300, 200], [200, 210]) },
  { name: "a tap on a small cell", like: "canvas-phone: layer, group 0", size: "phone", place: { level: "layer" }, does: (visit) => visit.click([120, 100], { pointerType: "touch" }) },
  { name: "a finger rests", like: "canvas-phone: layer, group 0", size: "phone", place: { level: "layer" }, does: (visit) => visit.touch([120, 100], [122, 101], 400) },
  { name: "a strip seen whole", size: "phone", pass: "whole" },
  { name: "a long sentence, pass", size: "phone", pass: "long" },
  { name: "a long sentence, head", size: "phone", pass: "long", place: { level: "head" } },
];

/** @type {Record<string, Scene[]>} */
export const SCENES = {
  "canvas-pass": PASS, "canvas-layer": LAYER, "canvas-head": HEAD, "canvas-changed": CHANGED, "canvas-long": LONG, "canvas-phone": PHONE, "canvas-deep": DEEP,
  "canvas-asked": ASKED, ...WALK,
};
