// Scenes of whole pages: charts and what else is clicked, what is presented to a room, lessons.

import { Listener } from "../../../bertviz_core/ui/components/listener/listener.js";
import { Guide } from "../../../bertviz_core/ui/components/lesson/guide.js";
import { keepAnswers } from "../../../bertviz_core/ui/components/lesson/kept.js";
import { CHARTS, drawChart, listPoints } from "./charts.js";

/** @typedef {import("./component.js").Scene} Scene */
/** @typedef {import("./component.js").Shown} Shown */

const DATA = {
  cell: null, operands: [], own: false, token: 1, place: "layer 1 · “cat”", caption: {}, colors: { text: "#1b1d21", surface: "#fff" }, address: null,
};
const TOKENS = ["the", "cat", "sat"].map((text, i) => `<button data-token="${i}" aria-checked="${i === 1}">${text}</button>`).join("");
const MENUS = `<details class="bv-save" open><button data-save-not="">what is saved</button></details><div class="stPageLink"><a href="?head=1">to the first page</a></div>
<table><tr><td><button data-more="">more rows</button></td></tr></table><div class="bv-symbols">a long formula</div><input value="">`;
const ROWS = [0, 1].map((i) => `<tr><td><button data-cell="a[token=${i}]">${i}</button></td><td><button data-into="c[token=${i}]" tabindex="-1">in</button></td></tr>`).join("");
const SAYING = [
  ["step", "b[token=2]"], ["keep", "2"], ["head", "1,2"], ["story", "x"], ["choose", "face=Before"], ["copy", "a text"], ["skip", ""], ["write", ""],
  ["run", ""], ["fold", ""], ["present", ""],
].map(([name, value]) => `<button data-${name}="${value}">${name}</button>`).join("");
const PANELS = `<div class="st-key-headline"><h1>What looks at what</h1></div><div class="st-key-tokens bv-chips" data-roving>${TOKENS}</div>
<section class="st-key-panel-first"><p class="bv-said"><b>Attention weights</b></p><p class="bv-says">of one head</p>
<div class="st-key-chart-first" role="figure" aria-label="Attention weights"><div class="js-plotly-plot"></div></div></section>
<section class="st-key-panel-second"><p class="bv-said"><b>Values</b></p><table data-roving>${ROWS}</table></section>
<section class="st-key-panel-third"><p class="bv-said"><b>More</b></p>${SAYING}<a href="?x=1" data-step="l">link</a><i tabindex="0" data-token="2">sat</i>
<div class="st-key-editor"><button aria-expanded="false">Edit</button></div></section>${MENUS}`;
const DRAWN = ["lower", "higher"].map((name) => `<div data-picture="${name}" tabindex="0">${name}</div>`).join("");
const DRAWER = `<div class="st-key-drawer"><div><div class="st-key-drawer-body"><h2 id="bv-drawer-title" tabindex="-1">A number</h2>
<nav><button data-keep="1">back</button></nav><table><tr><td><button data-step="o[token=0]">0.5</button></td></tr></table><button data-close="">Close</button></div></div></div>`;

function writePage(parts) {
  const app = 'class="stApp" data-test-script-state="notRunning" data-test-connection-state="CONNECTED"';
  return `<div ${app}><div class="stMain"><div class="stMainBlockContainer">${parts}</div></div><div id="listens"><div class="bv-live" role="status" aria-live="polite"></div></div></div>`;
}

// A page on which the listener listens, with a chart.
/** @returns {Scene} */
function listen(name, { chart = "map", data = {}, parts = PANELS, does = () => {}, presses = false, within, address = "?head=1", width = 1440 } = {}) {
  return {
    name, html: writePage(parts), presses, within, open: () => ({ ...openHistory(address), innerWidth: width }), does,
    start: (shown) => {
      Object.assign(shown.document.boxes, AROUND);
      shown.findAll("section, .st-key-drawer-body").forEach((panel, i) => {
        panel.box = { left: 0, top: 100 + 400 * i, width: 800, height: 300, scrollHeight: i === 1 ? 310 : 500 };
      });
      for (const wide of shown.findAll(".bv-symbols")) wide.box = { left: 0, top: 0, width: 100, height: 20, scrollWidth: 300 };
      for (const button of shown.findAll(".st-key-editor button")) button.addEventListener("click", () => shown.send("turned", button.textContent));
      shown.heard = drawChart(shown.find(".js-plotly-plot") ?? shown.document.createElement("div"), CHARTS[chart]);
      shown.listener = new Listener(shown.find("#listens"), { tell: (said) => shown.send("told", said) });
      shown.listener.say = (text) => shown.send("says", text);
      shown.document.addEventListener("bv-explained", ({ detail }) => shown.send("explained", detail));
      shown.listener.show({ ...DATA, ...data }, shown.send);
      shown.heard.plotly_afterplot?.();
      shown.sent = [];
    },
  };
}

const AROUND = { header: { left: 0, top: 0, width: 1440, height: 90 }, footer: { left: 0, top: 820, width: 1440, height: 80 } }; // what is presented

function openHistory(address) {
  const location = new URL(`http://localhost/heads${address}`);
  return { location, history: { state: null, replaceState: (_state, _title, url) => { location.href = new URL(url, location.href).href; } } };
}

const CURSOR = ["ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "End", "Home", "Ctrl End", "Ctrl Home", "PageDown", "ArrowDown", "PageUp", "Enter"];

// The whole chart by keyboard, by pointer and by clicks.
function walkChart(shown) {
  const plot = shown.find(".js-plotly-plot");
  plot.focus();
  for (const key of CURSOR) plot.send("keydown", { key: key.replace("Ctrl ", ""), ctrlKey: key.startsWith("Ctrl") });
}

function pressPoints(chart) {
  return (shown) => {
    for (const point of listPoints(CHARTS[chart])) {
      shown.heard.plotly_hover({ points: [point] });
      const { lit } = shown.listener.lights;
      shown.sent.push(["lit", lit]);
      shown.heard.plotly_click({ points: [point], event: { type: "click" } });
    }
    shown.heard.plotly_unhover();
  };
}

// Names of columns, from left to right, are pointed at and pressed.
function pressNames(down) {
  return (shown) => {
    for (let right = 20; right < 440; right += 45) {
      const at = { clientX: 100 + right, clientY: 200 + down };
      shown.find(".js-plotly-plot").send("pointermove", at);
      shown.sent.push(["lit", shown.listener.lights.lit]);
      shown.find(".js-plotly-plot").send("click", at);
    }
  };
}

const charts = Object.keys(CHARTS).flatMap((chart) => [
  listen(`${chart}, by keyboard`, { chart, does: walkChart }),
  listen(`${chart}, each point is pressed`, { chart, does: pressPoints(chart) }),
]);
const EXPLAINED = { map: "p[head=1,query=1,key=2]", lying: "b[token=1]", points: "d[token=0]", numbers: "a[token=2,hidden=1]" };
/** @type {Scene[]} */
const MARKED = [
  ...Object.entries(EXPLAINED).map(([chart, cell]) => (
    listen(`${chart}, a cell of it is explained`, { chart, data: { cell, operands: [cell.replace(/\d\]/, "0]"), cell.replace(/\d\]/, "1]")] } })
  )),
  listen("a token is lit", { does: (shown) => shown.find("[data-token]").send("pointerover", { pointerType: "mouse" }) }),
  listen("a small cell is touched, and again", { chart: "small", does: (shown) => {
    for (const point of [[0, 1], [1, 1], [1, 1]]) {
      shown.document.send("pointerdown", { pointerType: "touch", clientX: 900 });
      shown.heard.plotly_click({ points: [{ curveNumber: 0, pointNumber: point }], event: { type: "click" } });
    }
  } }),
  listen("names of columns are pressed", { does: pressNames(15) }),
  listen("names of columns at a slant are pressed", { chart: "slanted", does: pressNames(135) }),
  listen("nobody listens any more", { does: ({ listener, document }) => {
    document.querySelector(".js-plotly-plot").focus();
    listener.close(1);
  } }),
  listen("names of rows are pressed", { does: (shown) => {
    for (const down of [10, 35, 70, 110, 140]) shown.find(".js-plotly-plot").send("pointermove", { clientX: 110, clientY: 200 + down });
    for (const down of [35, 70, 110]) shown.find(".js-plotly-plot").send("click", { clientX: 110, clientY: 200 + down });
  } }),
];

// Into a field that takes ten characters at most.
function paste(shown, text) {
  const field = shown.find("input");
  Object.assign(field, {
    value: "was", selectionStart: 3, selectionEnd: 3, setCustomValidity: (said) => shown.send("refused", said), reportValidity: () => shown.send("reported"),
  });
  field.send("paste", { clipboardData: { getData: () => text } });
  if (text.length <= 10) field.value += text;
  shown.wait(200);
}

/** @type {Scene[]} */
const CLICKS = [
  listen("a page", { presses: true }),
  listen("the drawer is open", { parts: PANELS + DRAWER, data: { cell: "a[token=1]", operands: ["b"] }, presses: true }),
  listen("the drawer is open by itself", { parts: PANELS + DRAWER, data: { cell: "a[token=1]", own: true }, does: (shown) => shown.type("Escape") }),
  listen("the drawer is closed", { parts: PANELS + DRAWER, data: { cell: "a[token=1]" }, does: (shown) => {
    shown.find("[data-close]").click();
    shown.wait(1100);
    shown.listener.show(DATA, shown.send);
  } }),
  listen("into the picture that stands highest", { parts: PANELS + DRAWN, does: (shown) => {
    shown.findAll("[data-picture]").forEach((each, i) => { each.box = { left: 0, top: 60 - 20 * i, width: 800, height: 20 }; });
    shown.find("[data-skip]").click();
  } }),
  listen("it is printed", { does: (shown) => {
    shown.find(".stMainBlockContainer").box = { left: 0, top: 0, width: 1200, height: 3000 };
    shown.page.window.send("beforeprint");
  } }),
  ...["short", "a text that is too long for the field"].map((text) => listen(`pasted: ${text}`, { does: (shown) => paste(shown, text) })),
  listen("a number is opened and its drawer comes", { does: (shown) => {
    shown.find('[data-cell="a[token=1]"]').click();
    shown.find(".stMain").append(Object.assign(shown.document.createElement("div"), { innerHTML: DRAWER }));
    shown.listener.show({ ...DATA, cell: "a[token=1]" }, shown.send);
  } }),
];

// To a room.

const press = (...keys) => (shown) => {
  for (const key of keys) shown.document.activeElement.send("keydown", { key });
};
/** @type {Scene[]} */
const ROOM = [
  listen("the first panel", { does: press("p"), presses: true, within: ".bv-lectern" }),
  ...["ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp", " ", "s", "d", "p", "Escape"].map((key) => listen(`then ${key === " " ? "Space" : key}`, { does: press("p", key) })),
  listen("the last panel", { does: press("p", "PageDown", "PageDown", "PageDown", "PageUp", "PageDown") }),
  listen("the table in the spotlight", { does: press("p", "ArrowRight", "s"), data: { cell: "a[token=1]" } }),
  listen("the worked number", { parts: PANELS + DRAWER, data: { cell: "a[token=1]" }, does: press("p", "PageDown", "PageDown", "PageDown") }),
  listen("from a link", { address: "#present=2&spot" }),
  listen("in a large window", { does: press("p", "ArrowRight"), width: 2600 }),
  listen("in a small window", { does: press("p"), width: 600 }),
];

// Lessons.

const STEP = { visit: "v", answers: "", longest: 20, forgotten: 0, step: "attention 1", number: 2, at: "enc", stage: "asks", picks: true, proposed: 0 };
const CARDS = `<div class="st-key-tokens" data-picture><button data-token="0">the</button></div><div class="st-key-map"><a href="?">map</a></div>
<section class="st-key-panel-a"><div data-of="bert.embeddings">one</div><button data-cell="bert[token=0]">1</button></section>
<section class="st-key-panel-b"><div data-of="encoder.layer.0">two</div><button data-cell="encoder[token=0]">2</button><button>3</button></section>
<div class="st-key-lesson-strip"><p data-step="attention 1" tabindex="-1">Which one?</p><a href="#" data-task="">to the task</a>
<div class="st-key-lesson-check"><button>Check</button></div></div><div class="st-key-lesson-next-1"><button>Next</button></div>
<div class="st-key-lesson-folded"><div class="st-key-lesson-fold"><button>Fold</button></div></div>`;

// A page on which a lesson asks, as one comes from another step.
/** @returns {Scene} */
function ask(name, { data = [{}], parts = CARDS, does = () => {}, presses = false } = {}) {
  return {
    name, html: writePage(parts), presses, does,
    start: (shown) => {
      Guide.held = "attention 0 false";
      [...shown.findAll("section")].forEach((each, i) => { each.box = { left: 0, top: 900 * i + 100, width: 800, height: i ? 1000 : 400 }; }); // the second higher than the window
      const strip = shown.find(".st-key-lesson-strip");
      if (strip) strip.box = { left: 0, top: 760, width: 1440, height: 140 };
      shown.guide = new Guide(shown.find("#listens"));
      for (const check of shown.findAll(".st-key-lesson-check button, .st-key-lesson-next-1 button")) check.addEventListener("click", () => shown.send("pressed", check.textContent));
      for (const each of data) shown.guide.show({ ...STEP, ...each });
    },
  };
}

const enterTwice = (again) => (shown) => {
  shown.find("section.st-key-panel-b button").focus();
  press("Enter")(shown);
  shown.guide.show({ ...STEP, proposed: again });
  press("Enter")(shown);
};
/** @type {Scene[]} */
const LESSONS = [
  ask("it asks", { presses: true }),
  ask("about another card", { data: [{ at: "bert" }] }),
  ask("about the tokens", { data: [{ at: "tokens" }] }),
  ask("about the map", { data: [{ at: "map", picks: false }] }),
  ask("about a card inside of which it is named", { data: [{ at: "layer.0" }] }),
  ask("about nothing that is there", { data: [{ at: "pooler" }], presses: true }),
  ask("a wrong answer", { data: [{}, { stage: "wrong" }] }),
  ask("the right answer", { data: [{}, { stage: "over" }] }),
  ...["over", "wrong"].map((stage) => ask(`one writes, then it is ${stage}`, { parts: CARDS.replace("Which one?</p>", "How many?</p><input>"), does: (shown) => {
    shown.find("input").focus();
    shown.guide.show({ ...STEP, stage });
  } })),
  ask("the next step", { data: [{}, { stage: "over" }, { step: "attention 2", number: 3, at: "bert" }] }),
  ask("no step", { data: [{ step: "" }], does: press("F6", "Enter") }),
  ask("F6 and back", { does: (shown) => {
    shown.find("section.st-key-panel-b button").focus();
    press("F6", "F6")(shown);
  } }),
  ask("Enter proposes, and checks", { does: enterTwice(1) }),
  ask("Enter twice, nothing was proposed", { does: enterTwice(0) }),
  ask("the window changes, the card with it", { does: (shown) => {
    shown.find(".st-key-panel-b").box.top = 1500;
    shown.page.window.send("resize");
    shown.wait(100);
  } }),
  ask("somebody scrolls, and the card moves", { does: (shown) => {
    shown.document.send("wheel");
    shown.find(".st-key-panel-b").box.top = 1500;
    shown.page.changed();
    shown.wait(100);
  } }),
  ask("the strip is drawn anew while its button is pressed", { does: (shown) => {
    const check = shown.find(".st-key-lesson-check button");
    check.focus();
    check.click();
    check.remove();
    shown.page.changed();
    shown.wait(100);
  } }),
  ask("it is closed", { does: ({ guide }) => guide.close(1) }),
  ask("it is folded", { parts: CARDS.replace(/<div class="st-key-lesson-strip">[\s\S]*?<\/div><\/div>/, ""), does: press("F6") }),
];

// What is kept between visits: answers of two tabs, one of which forgets them.
const KEPT = [
  ["first", "", 0], ["first", "X", 0], ["second", "", 0], ["second", "X", 0], ["second", "XY", 0], ["first", "X", 0], ["first", "XYZ", 0], ["second", "XY", 0],
  ["first", "", 1], ["first", "", 1], ["second", "XYZ", 0], ["second", "", 0], ["third", "", 0], ["third", "toolongforthistobekept", 0], ["fourth", "", 0],
];
/** @type {Scene[]} */
const ANSWERS = ["", "kept", "too long for this to be kept", "[no text of ours]"].map((before, i) => ({
  name: before ? `“${before}” was kept` : "nothing was kept", html: "", start: (shown) => {
    if (before) shown.page.localStorage.setItem("bertviz-lessons", before);
    for (const [visit, answers, forgotten] of KEPT) {
      keepAnswers({ visit: `${visit} ${i}`, answers, forgotten, longest: 20 }, (text) => shown.send("gives", text));
      shown.send(`${visit} says`, answers, "kept", shown.page.localStorage.held["bertviz-lessons"] ?? null);
    }
  },
}));

/** @type {Record<string, Scene[]>} */
export const PAGES = { charts, "charts-marked": MARKED, clicks: CLICKS, room: ROOM, lesson: LESSONS, answers: ANSWERS };
