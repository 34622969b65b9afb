// What is clicked, pointed at or walked through by keyboard, and what of it is sent.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Listener } from "../../bertviz_core/ui/components/listener/listener.js";
import { nameAgain, rove } from "../../bertviz_core/ui/components/listener/page.js";
import { writeLink } from "../../bertviz_core/ui/components/listener/taken.js";
import { CHART } from "../../bertviz_core/ui/components/shared/plotly_inside.js";
import { PARTS } from "../../bertviz_core/ui/components/shared/streamlit.js";
import { clock, makeElement, openPage } from "./page.js";

const COLORS = { text: "#000", surface: "#fff" };
const DATA = { cell: null, operands: [], token: 0, colors: COLORS, caption: {}, address: null };

function open(data = {}) {
  const { document } = openPage();
  const root = makeElement();
  const app = makeElement();
  root.found[PARTS.app] = app;
  const [told, sent, explained] = [[], [], []];
  const listener = new Listener(root, { tell: (address) => told.push(address) });
  document.addEventListener("bv-explained", ({ detail }) => explained.push(detail));
  const show = (more) => listener.show({ ...DATA, ...more }, (name, value) => sent.push([name, value]));
  show(data);
  return { listener, sent, told, explained, show, document, app };
}

// An element that says something by its data, as what is clicked finds it.
function makeSaying(dataset) {
  const said = makeElement("button");
  Object.assign(said.dataset, dataset);
  const find = said.closest.bind(said);
  said.closest = (selector) => (selector.includes("[data-cell]") ? said : find(selector));
  return said;
}

const click = (document, target, more = {}) => document.send("click", { target, ...more });

test("what an element says is sent, as what it is", () => {
  const { sent, document } = open();
  for (const said of [{ cell: "a[token=1]" }, { step: "b[token=2]" }, { keep: "2" }, { token: "7" }, { head: "1,2" }, { choose: "face=Before" },
    { story: "x" }, { into: "c" }]) click(document, makeSaying(said));
  assert.deepEqual(sent, [
    ["cell", "a[token=1]"], ["step", "b[token=2]"], ["keep", "2"], ["token", 7], ["head", "1,2"], ["choose", "face=Before"], ["story", "x"], ["into", "c"],
  ]);
});

test("a link is followed here, but for whoever wants it elsewhere", () => {
  const { sent, document } = open();
  const link = makeSaying({ step: "b" });
  link.found["is a[href]"] = true;
  for (const key of ["ctrlKey", "metaKey", "shiftKey"]) assert.ok(!click(document, link, { [key]: true }).defaultPrevented, key);
  assert.deepEqual(sent, []);
  assert.ok(click(document, link).defaultPrevented);
  assert.deepEqual(sent, [["step", "b"]]);
});

test("a button inside of what says something is itself alone", () => {
  const { sent, document } = open();
  const said = makeSaying({ token: "1" });
  const inside = makeElement("button");
  said.append(inside);
  inside.closest = (selector) => (selector.startsWith("button") ? inside : selector.includes("[data-cell]") ? said : null);
  click(document, inside);
  assert.deepEqual(sent, []);
});

test("a token's name in a chart chooses it, over a column as the key", () => {
  const { listener, sent, document } = open();
  const [chart, target] = [makeElement(), makeElement()];
  target.found[CHART] = chart;
  const names = [{ token: 4, asKey: false }, { token: 3, asKey: true }, null];
  listener.plots.set(chart, { readName: () => names.shift() });
  for (let i = 0; i < 3; i++) click(document, target);
  assert.deepEqual(sent, [["token", 4], ["choose", "key_token=3"]]);
});

test("the drawer lies at the side where what was pressed is not", () => {
  const { document } = open();
  const press = (clientX) => {
    document.send("pointerdown", { clientX, pointerType: "mouse" });
    click(document, makeSaying({ cell: "a[token=1]" }));
    return document.documentElement.classes.has("bv-left");
  };
  assert.deepEqual([press(1000), press(300)], [true, false]); // of 1440 pixels
});

test("Enter and Space are a click on what is no button", () => {
  const { sent, document } = open();
  const press = (key, button) => {
    const said = makeSaying({ token: "3" });
    said.matches = (selector) => selector.includes("[data-cell]") || (button && selector.startsWith("button"));
    return document.send("keydown", { key, target: said }).defaultPrevented;
  };
  assert.deepEqual([press("Enter", false), press(" ", false), press("x", false), press("Enter", true)], [true, true, false, false]);
  assert.equal(sent.length, 2);
});

test("Escape closes the drawer, unless something lies over the page or is written in", () => {
  const { sent, document, explained } = open({ cell: "a[token=1]", operands: ["b"] });
  const goBack = () => document.send("keydown", { key: "Escape", target: document.body });
  const menu = makeElement();
  menu.found["#bv-drawer-title"] = null;
  const over = Object.keys(document.found);
  document.querySelectorAll = (selector) => (selector.includes("dialog") ? [menu] : over.filter(() => false));
  goBack();
  assert.deepEqual(sent, []);
  menu.hidden = true;
  const field = makeElement("input");
  field.matches = () => true;
  document.activeElement = field;
  goBack();
  assert.deepEqual(sent, []);
  document.activeElement = document.body;
  assert.ok(goBack().defaultPrevented);
  assert.deepEqual(sent, [["close", true]]);
  assert.deepEqual(explained.at(-1), { cell: "", operands: [], way: [] }); // at once, before the server says so
  goBack();
  assert.equal(sent.length, 1);
  clock.pass(1100);
  assert.deepEqual(sent, [["close", true], ["close", true]]); // what was sent may have been lost
});

test("Escape goes one step back before it goes out", () => {
  const { sent, document } = open({ cell: "b[token=1]" });
  const back = makeSaying({ keep: "1" });
  document.found[".st-key-drawer nav > button[data-keep]"] = back;
  const press = () => document.send("keydown", { key: "Escape", target: document.body });
  press();
  document.found[".st-key-drawer nav > button[data-keep]"] = null;
  press();
  assert.deepEqual(sent, [["keep", "1"], ["close", true]]);
});

test("another number is read from its beginning", () => {
  const { show, document } = open({ cell: "a[token=1]" });
  const body = makeElement();
  document.found[".st-key-drawer-body"] = body;
  body.parentElement.scrollTop = 50;
  show({ cell: "a[token=1]" });
  assert.equal(body.parentElement.scrollTop, 50);
  show({ cell: "b[token=1]" });
  assert.equal(body.parentElement.scrollTop, 0);
});

test("without an open drawer Escape is not ours", () => {
  const { sent, document } = open();
  assert.ok(!document.send("keydown", { key: "Escape", target: document.body }).defaultPrevented);
  assert.deepEqual(sent, []);
});

test("the explained cell is said to all, and the address to the history", () => {
  const address = { page: "attention", pages: [], query: {} };
  const way = ["z[token=1]", "a[token=1]"];
  const { explained, told, show, listener, document } = open({ cell: "a[token=1]", operands: ["b[token=1]"], way, address });
  const said = { cell: "a[token=1]", operands: ["b[token=1]"], way };
  assert.deepEqual([explained, told], [[said], [address]]);
  document.dispatchEvent(new CustomEvent("bv-asks")); // a component that was drawn later
  assert.deepEqual(explained, [said, said]);
  const turn = show({ cell: "c[token=1]", address });
  listener.close(turn - 1); // which another one has followed
  assert.equal(told.at(-1), address);
  listener.close(turn);
  assert.equal(told.at(-1), null);
});

test("a token is lit wherever it stands, and put out only by who lit it", () => {
  const { listener, document } = open();
  const tokens = [0, 1, 2].map((token) => Object.assign(makeElement(), { dataset: { token: String(token) } }));
  document.querySelectorAll = (selector) => (selector === "[data-token]" ? tokens : []);
  const lit = () => tokens.map(({ classes }) => classes.has("bv-lit"));
  const [chart, other] = [{}, {}];
  listener.lights.light({ row: 1, key: 2 }, chart);
  assert.deepEqual(lit(), [false, true, true]);
  listener.lights.light(null, other);
  assert.deepEqual(lit(), [false, true, true]);
  listener.lights.light(null, chart);
  assert.deepEqual(lit(), [false, false, false]);
});

test("colours of the theme are the page's", () => {
  open();
  assert.deepEqual([document.documentElement.style["--bv-text"], document.documentElement.style["--bv-surface"]], ["#000", "#fff"]);
});

test("in a group arrow keys lead from one button to the next, and no further", () => {
  openPage();
  const group = makeElement();
  const buttons = [0, 1, 2].map(() => makeElement("button"));
  group.found["button, a[href]"] = buttons;
  for (const button of buttons) button.found["[data-roving]"] = group;
  const press = (at, key) => rove(buttons[at], key) && buttons.indexOf(document.activeElement);
  assert.deepEqual([press(0, "ArrowRight"), press(1, "ArrowUp"), press(2, "ArrowDown"), press(0, "End"), press(2, "Home")], [1, 0, 2, 2, 0]);
  assert.deepEqual(buttons.map(({ tabIndex }) => tabIndex), [0, -1, -1]);
  assert.equal(press(1, "x"), false);
  assert.equal(rove(makeElement(), "ArrowRight"), false);
});

test("in a table up and down lead from row to row, past those that are not shown, and to the sides along one", () => {
  const { document } = openPage();
  const [group, first] = [makeElement(), ":is(td, th):first-child > button"];
  const rows = [0, 1, 2].map(() => [makeElement("button"), makeElement("button")]);
  rows[1][0].hidden = true;
  group.found["button, a[href]"] = rows.flat();
  group.found[first] = rows.map(([button]) => button);
  for (const buttons of rows) {
    const row = makeElement("tr");
    Object.assign(row.found, { "button, a[href]": buttons, [first]: buttons[0] });
    for (const button of buttons) Object.assign(button.found, { "[data-roving]": group, tr: row });
  }
  const press = (button, key) => rove(button, key) && rows.flat().indexOf(document.activeElement);
  assert.deepEqual([press(rows[0][0], "ArrowRight"), press(rows[0][1], "ArrowRight"), press(rows[0][1], "ArrowDown")], [1, 1, 4]);
  assert.deepEqual([press(rows[2][0], "Home"), press(rows[2][1], "ArrowLeft"), press(rows[0][0], "End")], [0, 4, 4]);
  assert.deepEqual(rows.flat().map(({ tabIndex }) => tabIndex), [-1, -1, -1, -1, 0, -1]);
});

test("what opened the drawer is found again by its cell, or as the chart of its panel", () => {
  openPage();
  const said = makeElement();
  said.dataset.cell = "a[token=1]";
  assert.equal(nameAgain(said), '[data-cell="a[token=1]"]');
  const chart = makeElement();
  const around = makeElement();
  Object.assign(around, { classList: ["x", "st-key-chart-probs"] });
  chart.found['[class*="st-key-chart-"]'] = around;
  assert.equal(nameAgain(chart), `.st-key-chart-probs ${CHART}`);
});

test("a link names all that decides about what is seen", () => {
  openPage({ location: new URL("http://localhost/attention?layer=1#x") });
  assert.equal(writeLink({ address: { link: { text: "a b", layer: "1" } } }), "http://localhost/attention?text=a+b&layer=1#x");
  assert.equal(writeLink({ address: null }), "http://localhost/attention?layer=1#x");
});

test("a click on a token that is no word says what it stands for, until one goes on", () => {
  const { document, listener, sent } = open();
  const token = Object.assign(makeSaying({ token: "0" }), { title: "[CLS]: the first token." });
  click(document, makeSaying({ token: "1" }));
  assert.equal(listener.meaning, null); // a word has none
  click(document, token);
  assert.ok(listener.meaning);
  assert.equal(listener.live.textContent, token.title);
  assert.ok(document.body.children.includes(listener.meaning) && sent.at(-1)[1] === 0);
  document.send("keydown", { key: "ArrowRight", target: token });
  assert.ok(!document.body.children.includes(listener.meaning));
});
