// The smaller components: one head token to token, the way back as a line, all heads of all layers.

import assert from "node:assert/strict";
import { test } from "node:test";

import again from "../../bertviz_core/ui/components/again/index.js";
import { HeadMap, makeTints, readPacked } from "../../bertviz_core/ui/components/head_map/map.js";
import { drawStory } from "../../bertviz_core/ui/components/story_line/line.js";
import { TokenLines } from "../../bertviz_core/ui/components/token_lines/lines.js";
import { makeElement, openPage } from "./page.js";

const pack = (numbers) => Buffer.from(new Float32Array(numbers).buffer).toString("base64");
const texts = (element) => element.children.map((each) => (typeof each === "object" ? texts(each) : String(each))).join(" ");

function openLines(more = {}) {
  openPage();
  const root = makeElement();
  const chosen = [];
  const lines = new TokenLines(root);
  lines.choose = (index) => chosen.push(index);
  const tokens = ["a", "b", "c"].map((text, i) => ({ index: i + 5, text, special: i === 0, piece: false, second: false }));
  lines.show({
    query: tokens, key: tokens, shares: pack([0.5, 0.25, 0.25, 0.125, 0.75, 0.125, 0, 0, 0]), hidden: pack([0, 0, 0]), chosen: 6,
    captions: { query: "query", key: "key" }, full: 0.5, top: 10, colors: { text: "black" }, ...more,
  });
  return { lines, root, chosen };
}

test("a line for each share that can be seen, as opaque as it is large", () => {
  const { lines } = openLines();
  const strokes = lines.strokes.map(({ line, query, key }) => [query, key, Number(line.attributes["stroke-opacity"])]);
  assert.deepEqual(strokes, [[0, 0, 1], [0, 1, 0.5], [0, 2, 0.5], [1, 0, 0.25], [1, 1, 1], [1, 2, 0.25]]);
  const { attributes } = lines.strokes[3].line;
  assert.deepEqual([attributes.x1, attributes.y1, attributes.x2, attributes.y2], ["0", "1.5", "100", "0.5"]);
  assert.deepEqual(lines.strokes.map(({ line }) => line.classes.has("own")), [false, false, false, true, true, true]);
});

test("the pair whose number is explained has a bold line, a dashed one where its share is too small, and its key a frame", () => {
  const { lines } = openLines({ of: "l.0.self.probs[head=1]" });
  const marked = () => [
    lines.strokes.filter(({ line }) => line.classes.has("here")).map(({ query, key }) => [query, key]),
    lines.tokens.key.map((token) => token.classes.has("here")), Boolean(lines.svg.children.find((line) => line.classes.has("hint"))),
  ];
  lines.explain(["l.0.self.scores[head=1,query=6,key=5]", "l.0.self.query[head=1,query=6,head_dim=2]"]);
  assert.deepEqual(marked(), [[[1, 0]], [true, false, false], false]);
  lines.explain(["l.0.self.scores[head=1,query=7,key=6]"]); // a share of 0
  assert.deepEqual(marked(), [[], [false, true, false], true]);
  for (const way of [[], ["l.0.self.scores[head=0,query=6,key=5]"], ["l.0.self.scores[head=1,query=6,key=1]"]]) {
    lines.explain(way);
    assert.deepEqual(marked(), [[], [false, false, false], false]);
  }
});

test("what is not shown of a token is told of that one, wherever it stands in the sentence", () => {
  const { lines } = openLines({ hidden: pack([0.125, 0.25, 0.5]) });
  const told = [0, 1, 2].map((place) => {
    lines.point("query", place);
    return lines.said.textContent.split(" Not shown: ")[1];
  });
  assert.deepEqual(told, ["0.1250.", "0.2500.", "0.5000."]);
  lines.point("key", 1);
  assert.match(lines.said.textContent, /^6 b is attended to most by 6 b 0\.7500, 5 a 0\.2500, 7 c 0\.$/); // nothing of a query
});

test("a token that is pointed at says what it attends to, or who attends to it, the largest first", () => {
  const { lines } = openLines();
  assert.equal(lines.said.textContent, "");
  lines.point("query", 1);
  assert.equal(lines.said.textContent, "6 b attends most to 6 b 0.7500, 5 a 0.1250, 7 c 0.1250.");
  assert.deepEqual(lines.tokens.key.map((token) => token.querySelector(".number").textContent), ["0.1250", "0.7500", "0.1250"]);
  assert.deepEqual(lines.strokes.map(({ line }) => line.classes.has("on")), [false, false, false, true, true, true]);
  lines.point("key", 0);
  assert.equal(lines.said.textContent, "5 a is attended to most by 5 a 0.5000, 6 b 0.1250, 7 c 0.");
  lines.point("query", 2);
  assert.equal(lines.said.textContent, "7 c attends to no token: all its weights are 0.");
  const below = openLines({ shares: pack([-0.5, -0.25, 0, 0, 0, 0, 0, 0, 0]) }).lines; // as a change can make them
  below.point("query", 0);
  assert.equal(below.said.textContent, "5 a: of what is drawn, no weight is above 0.");
  below.point("key", 2);
  assert.equal(below.said.textContent, "7 c: of what is drawn, no weight is above 0.");
});

test("a weight that is left out has no line and no number, and nothing is said of it", () => {
  const { lines } = openLines({ shares: pack([0.5, NaN, 0.25, 0.125, 0.75, NaN, NaN, NaN, NaN]), part: true });
  assert.deepEqual(lines.strokes.map(({ query, key }) => [query, key]), [[0, 0], [0, 2], [1, 0], [1, 1]]);
  lines.point("query", 0);
  assert.equal(lines.said.textContent, "5 a attends, of what is drawn, most to 5 a 0.5000, 7 c 0.2500.");
  assert.deepEqual(lines.tokens.key.map((token) => token.querySelector(".number").textContent), ["0.5000", "", "0.2500"]);
  lines.point("key", 1);
  assert.equal(lines.said.textContent, "6 b is attended to, of what is drawn, most by 6 b 0.7500.");
  lines.point("query", 2);
  assert.equal(lines.said.textContent, "7 c: nothing is drawn.");
});

test("only the three largest are told, and how much of a query is not shown", () => {
  const tokens = [..."abcde"].map((text, index) => ({ index, text }));
  const { lines } = openLines({ query: tokens.slice(0, 1), key: tokens, shares: pack([0.125, 0.375, 0.0625, 0.25, 0.15625]), hidden: pack([0.03125]) });
  lines.point("query", 0);
  assert.equal(lines.said.textContent, "0 a attends most to 1 b 0.3750, 3 d 0.2500, 4 e 0.1562. Not shown: 0.0312.");
});

test("a click chooses a token; arrows go from one to the next and to the other side", () => {
  const { lines, root, chosen } = openLines();
  const [first, second, third] = lines.tokens.query;
  assert.deepEqual(lines.tokens.query.map(({ tabIndex }) => tabIndex), [-1, 0, -1]); // the chosen one
  assert.equal(second.attributes["aria-selected"], "true");
  third.click();
  assert.deepEqual(chosen, [7]);
  const press = (target, key) => root.querySelector(".lines").send("keydown", { target, key });
  press(first, "ArrowDown");
  assert.equal(document.activeElement, second);
  press(first, "ArrowUp");
  assert.equal(document.activeElement, first);
  press(first, "End");
  assert.equal(document.activeElement, third);
  press(third, "ArrowRight");
  assert.equal(document.activeElement, lines.tokens.key[2]);
});

test("what has the focus keeps it where other tokens are shown, wherever it stands then", () => {
  const { lines, root } = openLines();
  const frame = root.querySelector(".lines");
  const show = (from, side, place) => {
    frame.found[".token:focus"] = lines.tokens[side][place];
    const tokens = [0, 1, 2].map((i) => ({ index: from + i, text: "abcdefgh"[from + i] }));
    lines.show({ query: tokens, key: tokens, shares: pack(Array(9).fill(0.25)), hidden: pack([0, 0, 0]), chosen: 6, captions: {}, full: 1, colors: {} });
    const { index, side: now } = document.activeElement?.dataset ?? {};
    return [now, index];
  };
  assert.deepEqual(show(4, "query", 0), ["query", 5]); // from the first place to the second
  assert.deepEqual(show(6, "key", 2), ["key", 6]);
  assert.deepEqual(show(5, "key", 0), ["key", 6]);
  assert.match(lines.said.textContent, /^6 g /);
});

const STOPS = [
  { name: "word", place: "token 4", value: "0.5", part: "0.2", share: 0.5, lane: 0, color: "red" },
  { name: "neuron", place: "layer 2", value: "0.25", part: "", share: 0.25, lane: 1, color: "blue" },
  { name: "embedding", place: "token 2", value: "0.125", part: "", share: 1, lane: 1, color: "tan" },
];

/** @param {number} count @param {(stop: number) => number} find */
function openLong(count, find) {
  openPage();
  const way = makeElement();
  way.found[".stop:focus"] = null;
  const stops = Array.from({ length: count }, (_, i) => ({ ...STOPS[0], lane: find(i) }));
  drawStory(way, { lanes: [{ name: "the", hidden: "" }, { name: "cat", hidden: "" }], stops, chosen: 0, colors: {} }, () => {});
  return { bands: way.children.slice(3) };
}

function openStory() {
  openPage();
  const way = makeElement();
  way.found[".stop:focus"] = null;
  const chosen = [];
  drawStory(way, { lanes: [{ name: "the", hidden: "" }, { name: "cat", hidden: "hidden: 0.4" }], stops: STOPS, chosen: 1, colors: { text: "black" } }, (stop) => chosen.push(stop));
  const [, , down, band] = way.children;
  const [first, second, links, part, ...stops] = band.children;
  return { way, chosen, lanes: [first, second], links, down, part, stops, band };
}

test("a link of the story has the colour of what it leads to and the width of the share it leads from", () => {
  const { links } = openStory();
  assert.deepEqual(links.children.map(({ style }) => [style.stroke, style.strokeWidth]), [["blue", "7px"], ["tan", "4.5px"]]);
  assert.equal(links.children[0].attributes.d, "M 0.5 64 C 1 64, 1 152, 1.5 152");
  assert.equal(links.attributes.viewBox, "0 0 3 214");
});

test("on a phone the way runs downwards: its links lead from row to row, and bend where the lane changes", () => {
  const { down, stops, part } = openStory();
  assert.deepEqual(down.children.map(({ attributes }) => attributes.d), ["M 0 0 C 0 23, 22 23, 22 46", "M 22 46 C 22 69, 22 69, 22 92"]);
  assert.deepEqual([part, ...stops].map(({ style }) => ["--lane", "--row"].map((name) => style.getPropertyValue(name))), [["0", "1"], ["0", "0"], ["1", "1"], ["1", "2"]]);
});

test("a long way stands in bands as long as each other, each with its own lanes, and goes on from one to the next", () => {
  const { bands } = openLong(13, (i) => (i < 9 ? 0 : 1));
  assert.deepEqual(bands.map(({ children }) => children.filter(({ classes }) => classes.has("stop")).length), [7, 6]);
  assert.deepEqual(bands.map(({ children }) => children.filter(({ classes }) => classes.has("lane")).map((lane) => texts(lane.children[0]))), [["the"], ["the", "cat"]]);
  const [one, two] = bands.map(({ children }) => children.find(({ children: [path] }) => path?.attributes?.d).children.map(({ attributes }) => attributes.d));
  assert.deepEqual([one.at(-1), two[0], two[2]], ["M 6.5 64 C 6.75 64, 6.75 64, 7 64", "M 0 64 C 0.25 64, 0.25 64, 0.5 64", "M 1.5 64 C 2 64, 2 152, 2.5 152"]);
  assert.deepEqual(bands.map(({ style }) => style.height), ["126px", "214px"]);
});

test("a lane has its token's name, and what becomes of the number when that is hidden", () => {
  const { lanes } = openStory();
  assert.deepEqual(lanes.map((lane) => lane.children.map(texts)), [["the", ""], ["cat", "hidden: 0.4"]]);
});

test("each stop is a button in the lane of its token, and says what it is", () => {
  const { way, stops, part, chosen, band } = openStory();
  assert.equal(band.style.height, "214px");
  assert.deepEqual(stops.map(({ style }) => style.top), ["64px", "152px", "152px"]);
  assert.equal(stops[1].attributes["aria-label"], "stop 2: neuron, layer 2, 0.25");
  assert.deepEqual(stops.map(({ tabIndex, attributes }) => [tabIndex, attributes["aria-current"]]), [[-1, undefined], [0, "step"], [-1, undefined]]);
  assert.equal(texts(stops[0]).replace(/ +/g, " ").trim(), "1 · word 0.5 token 4");
  assert.deepEqual([texts(part), part.style.top, part.classes.has("down")], ["0.2", "108px", true]);
  stops[2].click();
  assert.deepEqual(chosen, [2]);
  way.onkeydown({ key: "ArrowRight", target: stops[2], preventDefault: () => {} });
  assert.equal(document.activeElement, stops[2]);
  way.onkeydown({ key: "ArrowLeft", target: stops[2], preventDefault: () => {} });
  assert.equal(document.activeElement, stops[1]);
});

test("the map's bytes are a header and the shares behind it", () => {
  const text = Buffer.from(JSON.stringify({ shape: [1, 2, 1] }));
  const bytes = Buffer.concat([Buffer.from([text.length, 0, 0, 0]), text, Buffer.from([7, 255])]);
  const [header, pixels] = readPacked(new Uint8Array(bytes));
  assert.deepEqual([header, [...pixels]], [{ shape: [1, 2, 1] }, [7, 255]]);
});

test("a share has the colour between those of its scale", () => {
  const tints = new Uint8Array(makeTints([[0, "#ffffff"], [0.5, "#ff0000"], [1, "#000000"]]).buffer);
  const color = (share) => [...tints.slice(4 * share, 4 * share + 4)];
  assert.deepEqual([color(0), color(255)], [[255, 255, 255, 255], [0, 0, 0, 255]]);
  assert.deepEqual(color(127), [255, 1, 1, 255]);
  assert.deepEqual(color(191), [128, 0, 0, 255]);
});

function openMap() {
  openPage({ ImageData: class { constructor(wide, high) { this.data = new Uint8ClampedArray(4 * wide * high); } },
    OffscreenCanvas: class { getContext() { return { putImageData: () => {} }; } } });
  const root = makeElement();
  const about = root.querySelector(".about");
  about.found[".title, .note"] = [makeElement(), makeElement(), makeElement()];
  const ends = root.querySelector(".scales").querySelector(".signed");
  ends.found["span, b"] = [makeElement(), makeElement(), makeElement()];
  about.querySelector("canvas").getContext().putImageData = (image) => (about.image = image);
  const map = new HeadMap(root);
  const chosen = [];
  map.choose = (...head) => chosen.push(head);
  const header = { shape: [2, 3, 2], chosen: [1, 2], notes: [0, 1, 2, 3, 4, 5].map((i) => [`note ${i}`]),
    worth: [0, 1, 2, 3, 4, 5].map((i) => ({ text: i ? `+${i}` : "", back: "#aaaaaa", ink: "#000000" })), ends: ["-5", "+5", "points"],
    negative: "#444444", zero: "#eeeeee", scale: [[0, "#ffffff"], [1, "#000000"]], colors: {} };
  map.show(header, Uint8Array.from({ length: 24 }, (_, i) => i * 10));
  return { map, chosen, about, ends };
}

test("each head has its button, with its notes; the chosen one is described", () => {
  const { map, about, chosen, ends } = openMap();
  assert.deepEqual(map.buttons.map(({ attributes }) => attributes["aria-selected"]), ["false", "false", "false", "false", "false", "true"]);
  assert.equal(map.buttons[4].attributes["aria-label"], "layer 1, head 1, note 4");
  assert.deepEqual(readPlace(map.buttons[4]), [1, 1, 1, 1]);
  assert.deepEqual(map.buttons.map((button) => button.querySelector("b").textContent), ["", "+1", "+2", "+3", "+4", "+5"]);
  assert.deepEqual(ends.found["span, b"].map(({ textContent }) => textContent), ["-5", "+5", "points"]);
  assert.deepEqual(about.found[".title, .note"].map(({ textContent }) => textContent), ["layer 1, head 2", "note 5", ""]);
  assert.deepEqual([...new Uint8Array(about.image.data.buffer)].filter((_, i) => i % 4 === 0), [55, 45, 35, 25]); // 255 - 200 …
  map.buttons[1].click();
  assert.deepEqual(chosen, [[0, 1]]);
});

const readPlace = (button) => ["layer", "head", "line", "place"].map((name) => Number(button.style.getPropertyValue(`--${name}`)));

test("in a narrow map twelve heads of a layer stand in two lines of six", () => {
  const { map } = openMap();
  map.show({ ...map.header, shape: [2, 12, 1], chosen: [0, 0], notes: Array.from({ length: 24 }, () => ["a"]), worth: null }, new Uint8Array(24));
  assert.deepEqual([5, 6, 23].map((i) => readPlace(map.buttons[i])), [[0, 5, 0, 5], [0, 6, 1, 0], [1, 11, 3, 5]]);
  assert.deepEqual(["short-heads", "short-layers"].map((name) => Number(map.frame.style.getPropertyValue(`--${name}`))), [6, 4]);
});

test("another model's map has as many layers and heads as that model", () => {
  const { map } = openMap();
  map.show({ ...map.header, shape: [3, 1, 2], chosen: [2, 0], notes: [["a"], ["b"], ["c"]] }, new Uint8Array(12));
  assert.deepEqual(map.buttons.map(({ attributes }) => attributes["aria-label"]),
    ["layer 0, head 0, a", "layer 1, head 0, b", "layer 2, head 0, c"]);
  assert.deepEqual([map.frame.attributes["aria-rowcount"], map.frame.attributes["aria-colcount"]], ["3", "1"]);
  assert.equal(map.frame.children.filter(({ attributes }) => attributes.role === "row").length, 3);
});

test("arrows, Home and End lead over the map and no further", () => {
  const { map } = openMap();
  const press = (target, key) => map.frame.send("keydown", { target, key });
  const at = () => Object.values(document.activeElement.dataset).map(Number);
  for (const button of map.buttons) Object.assign(button.dataset, { layer: String(button.dataset.layer), head: String(button.dataset.head) });
  press(map.at(0, 0), "ArrowDown");
  assert.deepEqual(at(), [1, 0]);
  press(map.at(1, 0), "ArrowDown");
  assert.deepEqual(at(), [1, 0]);
  press(map.at(1, 0), "End");
  assert.deepEqual(at(), [1, 2]);
  press(map.at(1, 2), "ArrowLeft");
  assert.deepEqual(at(), [1, 1]);
  press(map.at(1, 1), "Home");
  assert.deepEqual(at(), [1, 0]);
  assert.ok(!press(map.at(1, 1), "x").defaultPrevented);
});

test("a part of the page asks to be run again once a while, however often it was drawn, and no more when it is gone", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  openPage();
  const parentElement = Object.assign(makeElement(), { isConnected: true });
  const asked = [];
  const draw = (look) =>
    again({ data: { look, after: 300 }, parentElement, setTriggerValue: (name, value) => asked.push([name, value]) });
  for (const look of [1, 2, 3]) draw(look);
  t.mock.timers.tick(400); // between 300 and 400 for one look
  assert.deepEqual(asked, [["again", 3]]);
  parentElement.isConnected = false;
  t.mock.timers.tick(4000);
  assert.equal(asked.length, 1);
  parentElement.isConnected = true;
  draw(4)();
  t.mock.timers.tick(4000);
  assert.equal(asked.length, 1);
});
