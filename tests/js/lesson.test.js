// What the browser does for a lesson: what it keeps, and which part of a page is the asked one.

import assert from "node:assert/strict";
import { test } from "node:test";

import { findAsked, Guide } from "../../bertviz_core/ui/components/lesson/guide.js";
import { keepAnswers } from "../../bertviz_core/ui/components/lesson/kept.js";
import { makeElement, openPage } from "./page.js";

const NAME = "bertviz-lessons";

function openStorage(kept, broken = false) {
  const held = new Map(kept ? [[NAME, kept]] : []);
  globalThis.localStorage = {
    getItem: (name) => { if (broken) throw new Error("not allowed"); return held.get(name) ?? null; },
    setItem: (name, text) => { if (broken) throw new Error("full"); held.set(name, text); },
    removeItem: (name) => { if (broken) throw new Error("not allowed"); held.delete(name); },
  };
  return held;
}

const LONGEST = 20;
let forgotten = 0;

function openTab(visit, given) {
  return (answers) => keepAnswers({ visit, answers, forgotten, longest: LONGEST }, (text) => given.push(text));
}

test("what was kept is given once a visit, and is not written over before the server has it", () => {
  const held = openStorage("before"), given = [];
  const [a, b, c] = ["a", "b", "c"].map((visit) => openTab(visit, given));
  a("");
  assert.deepEqual(given, ["before"]);
  assert.equal(held.get(NAME), "before");
  a("beforeAndNow");
  assert.equal(held.get(NAME), "beforeAndNow");
  a("");
  assert.equal(held.has(NAME), false, "what is forgotten is forgotten here too");
  b("");
  assert.deepEqual(given, ["before"]);
  b("other");
  c(""); // the line was lost: a visit that knows nothing, in a page that was not loaded anew
  assert.deepEqual(given, ["before", "other"]);
  assert.equal(held.get(NAME), "other");
});

test("what another tab has kept meanwhile is given too, and not written over", () => {
  const held = openStorage(""), given = [];
  const [one, two] = ["one", "two"].map((visit) => openTab(visit, given));
  one("");
  two("");
  one("X");
  two("Y");
  assert.deepEqual([given, held.get(NAME)], [["X"], "X"]);
  two("XY"); // the server has put both together
  assert.deepEqual([given, held.get(NAME)], [["X"], "XY"]);
  one("X");
  one("YX");
  assert.deepEqual([given, held.get(NAME)], [["X", "XY"], "YX"]);
});

test("what one tab forgets the others do not keep", () => {
  const held = openStorage(""), given = [];
  const [one, two] = ["three", "four"].map((visit) => openTab(visit, given));
  one("X");
  two("");
  two("X");
  two("XY"); // which the first tab has not seen
  forgotten = 1;
  one("");
  assert.deepEqual([given, held.has(NAME)], [["X"], false], "also what it did not know of");
  forgotten = 0;
  two("XY");
  assert.deepEqual([given, held.has(NAME)], [["X", ""], false], "the other tab's server hears of it");
  two("");
  assert.deepEqual(given, ["X", ""]);
});

test("what is too long to be said, or no text of ours, is not given", () => {
  for (const kept of ["x".repeat(LONGEST + 1), "[1,[]]", "\ud800"]) {
    const held = openStorage(kept), given = [];
    const show = openTab(`of ${kept}`, given);
    show("");
    show("now");
    assert.deepEqual([given, held.get(NAME)], [[], "now"]);
  }
});

test("where nothing may be kept nothing goes wrong", () => {
  openStorage("", true);
  const given = [], show = openTab("x", given);
  for (const answers of ["text", "", "text"]) show(answers);
  assert.deepEqual(given, []);
});

function openCards(...cards) {
  const { document } = openPage();
  const made = cards.map(({ of, cover = false, seen = true, panel = false }) => {
    const card = makeElement();
    card.dataset.of = of;
    card.checkVisibility = () => seen;
    card.matches = (selector) => cover && selector === ".bv-cover";
    card.panel = panel ? makeElement() : null;
    card.closest = () => card.panel;
    return card;
  });
  document.querySelectorAll = (selector) => (selector === "[data-of]" ? made : []);
  return made;
}

test("the asked card is the one whose addresses begin so, or have it in them; else what is covered", () => {
  const [first, second, third] = openCards({ of: "from a.probs" }, { of: "a.probs[head=0]", panel: true }, { of: "b", cover: true });
  assert.equal(findAsked("a.probs"), second.panel);
  assert.equal(findAsked("from a"), first);
  assert.equal(findAsked("head=0"), second.panel);
  assert.equal(findAsked("nowhere"), third);
  assert.equal(findAsked(""), null);
});

test("what is not seen is not the asked part", () => {
  const [, second] = openCards({ of: "a.probs", seen: false }, { of: "other a.probs" });
  assert.equal(findAsked("a.probs"), second);
  openCards({ of: "b" });
  assert.equal(findAsked("a"), null);
});

test("a card's head without a box of its own is seen where what is in it is", () => {
  const [first] = openCards({ of: "a.probs", seen: false }, { of: "a.probs[head=0]" });
  first.children = [makeElement()];
  assert.equal(findAsked("a.probs"), first);
  first.children[0].hidden = true;
  assert.notEqual(findAsked("a.probs"), first);
});

function openGuide(proposed) {
  const { document } = openPage();
  const [check, cell] = [makeElement(), makeElement()], checked = [];
  check.click = () => checked.push(proposed);
  document.querySelector = () => check;
  document.activeElement = cell;
  const guide = new Guide(makeElement());
  guide.data = { step: "attention 1", proposed };
  const press = (key = "Enter", repeat = false) => {
    const event = { key, repeat, target: cell, taken: false, preventDefault: () => (event.taken = true), stopPropagation() {} };
    guide.key(event);
    return event.taken;
  };
  return { guide, document, cell, checked, press };
}

test("Enter on what Enter has just proposed checks it, once the server has it", () => {
  const { guide, checked, press } = openGuide(3);
  assert.equal(press(), false, "the first one is the picture's");
  assert.equal(press("Enter", true), true, "a key that is held down is one press");
  assert.equal(press(), false, "nothing is proposed yet");
  guide.data = { ...guide.data, proposed: 4 };
  assert.equal(press(), true);
  assert.equal(checked.length, 1);
  assert.equal(press(), false, "after that the next one proposes again");
  assert.equal(checked.length, 1);
});

test("Enter does not check what was proposed before one went on, or was nowhere near", () => {
  const { guide, document, checked, press } = openGuide(3);
  press();
  guide.data = { ...guide.data, proposed: 4 };
  press("ArrowRight");
  assert.equal(press(), false);
  guide.data = { ...guide.data, proposed: 5 };
  document.activeElement = makeElement();
  assert.equal(press(), false);
  assert.equal(checked.length, 0);
});

test("F6 leads from the picture to the task, and from the strip back to where one was", () => {
  const { guide, document, cell, press } = openGuide(3);
  const [task, button, card] = [makeElement(), makeElement(), makeElement()];
  card.dataset.of = "a.probs";
  card.append(cell);
  button.closest = () => makeElement(); // it is in the strip
  guide.data = { ...guide.data, at: "a.probs" };
  document.querySelectorAll = (selector) => ({ [guide.task]: [task], "[data-of]": [card] })[selector] ?? [];
  assert.equal(press("F6"), true);
  assert.equal(document.activeElement, task);
  guide.key({ key: "F6", target: button, preventDefault() {} });
  assert.equal(document.activeElement, cell);
});

test("a lesson that is left hears nothing any more, one that is shown again hears each key once", () => {
  const { document, window } = openPage();
  const count = () => document.countListeners() + window.countListeners();
  const guide = new Guide(makeElement());
  const data = { step: "attention 1", at: "", stage: "open", number: 1, picks: false, proposed: 0 };
  const first = guide.show(data), heard = count();
  assert.ok(heard > 0);
  const second = guide.show(data);
  guide.close(first); // after which it was shown again
  assert.equal(count(), heard);
  guide.close(second);
  assert.equal(count(), 0);
  guide.show(data);
  assert.equal(count(), heard);
});
