// Where the keyboard goes on, and what comes into view by itself.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Focus } from "../../bertviz_core/ui/components/listener/focus.js";
import { DRAWER, findEnd, TITLE } from "../../bertviz_core/ui/components/listener/page.js";
import { bringChosen, Wanted } from "../../bertviz_core/ui/components/listener/view.js";
import { makeElement, openPage } from "./page.js";

test("once the drawer is closed the keyboard is back at what it was opened from on the page, whatever was opened in it", () => {
  for (const steps of [0, 1, 2]) {
    const { document } = openPage();
    const [chart, inside, title] = [makeElement(), makeElement("button"), makeElement("h2")];
    document.found[TITLE] = title;
    inside.found[DRAWER] = makeElement();
    const focus = new Focus();
    focus.open("a[token=0]", chart);
    focus.settle({ cell: "a[token=0]", own: false }, false);
    assert.equal(document.activeElement, title);
    for (let step = 1; step <= steps; step++) {
      focus.open(`a[token=${step}]`, inside);
      focus.settle({ cell: `a[token=${step}]`, own: false }, false);
    }
    focus.close(null);
    Object.assign(document, { found: { [TITLE]: null }, activeElement: document.body }); // what had it is gone
    inside.isConnected = false;
    focus.settle({ cell: null, own: false }, false);
    assert.equal(document.activeElement, chart, `after ${steps} steps`);
  }
});

test("the chosen token comes into the middle of its bar from wherever that stood, and is not brought again", () => {
  const { document } = openPage();
  const [bar, chip] = [makeElement(), makeElement()];
  bar.box = { left: 100, width: 200, top: 0, height: 20 };
  chip.found[".bv-chips"] = bar;
  document.querySelector = (selector) => (selector.startsWith(".bv-chips") ? chip : null);
  const bring = (token, place) => {
    chip.dataset.token = String(token);
    Object.defineProperty(chip, "box", { get: () => ({ left: 100 + place - bar.scrollLeft, width: 40, top: 0, height: 20 }), configurable: true });
    bringChosen();
    return chip.box.left + 20;
  };
  for (const [token, from] of [[3, 0], [4, 0], [5, 350], [6, 900]]) {
    bar.scrollLeft = from;
    assert.equal(bring(token, 100 * token), 200, `token ${token} from ${from}`);
  }
  bar.scrollLeft = 40; // by hand
  bring(6, 600);
  assert.equal(bar.scrollLeft, 40);
  const tall = makeElement(); // tokens in rows, of which the chosen one's is out of sight
  tall.box = { left: 0, width: 400, top: 50, height: 100 };
  chip.found[".bv-cut-tokens"] = tall;
  document.querySelector = (selector) => (selector.startsWith(".bv-cut-flow") ? chip : null);
  Object.defineProperty(chip, "box", { get: () => ({ left: 180, width: 40, top: 350 - tall.scrollTop, height: 20 }), configurable: true });
  chip.dataset.token = "7";
  bringChosen();
  assert.equal(chip.box.top + 10, 100);
});

test("of two sentences the token that differs comes into the middle", () => {
  const { document } = openPage();
  const [strip, chip] = [makeElement(), makeElement()];
  Object.assign(strip, { box: { left: 0, width: 300, top: 0, height: 60 }, scrollLeft: 0, scrollTop: 0 });
  chip.found[".bv-patched"] = strip;
  document.querySelector = (selector) => (selector === ".bv-patched .bv-marked" ? chip : null);
  Object.defineProperty(chip, "box", { get: () => ({ left: 500 - strip.scrollLeft, width: 40, top: 0, height: 20 }) });
  bringChosen();
  assert.equal(chip.box.left + 20, 150);
});

test("a drawer from below leaves the part of the window above it free, one at the side leaves all of its height", () => {
  const end = (innerWidth, box) => {
    const { document } = openPage({ innerWidth });
    const [title, drawer] = [makeElement("h2"), Object.assign(makeElement(), { box })];
    document.found[TITLE] = box ? title : null;
    title.found[DRAWER] = drawer;
    return findEnd();
  };
  assert.equal(end(390, { left: 0, top: 500, width: 390, height: 400 }), 500);
  assert.equal(end(1440, { left: 1000, top: 60, width: 440, height: 840 }), 900);
  assert.equal(end(390, null), 900);
});

test("the number that a link explains comes into view also where a table has it, and not where one has clicked", () => {
  const scrolled = (opener, top) => {
    const { document } = openPage({ innerWidth: 1440 });
    const [app, number, by] = [makeElement(), makeElement("button"), []];
    Object.defineProperty(number, "parentElement", { value: null });
    number.box = { left: 0, width: 40, top, height: 20 };
    number.dataset.cell = "a[token=0]";
    app.querySelectorAll = (selector) => (selector.includes(`[data-cell^="${CSS.escape("a[")}"]`) ? [number] : []);
    document.scrollingElement.scrollBy = ({ top: far }) => by.push(far);
    const wanted = new Wanted();
    wanted.want("a[token=0]");
    wanted.reveal(app, opener);
    return by;
  };
  assert.deepEqual(scrolled(null, 1400), [1410 - (124 + 900) / 2]);
  assert.deepEqual(scrolled(null, 400), []); // it is seen
  assert.deepEqual(scrolled({ element: makeElement("button"), cell: "b[token=1]" }, 1400), []);
});

test("a page that is opened with a number that it draws nowhere begins at its tensor's card; a choice on it moves nothing", () => {
  const bring = (of, opened, top = 1200) => {
    const { document } = openPage({ innerWidth: 1440 });
    const [app, head, card] = [makeElement(), makeElement(), makeElement()];
    Object.defineProperty(card, "parentElement", { value: null });
    card.box = { left: 0, width: 400, top, height: 20 };
    Object.assign(head, { hidden: true, querySelector: () => card }); // it has no box of its own
    head.dataset.of = of;
    app.querySelectorAll = (selector) => (selector === "[data-of]" ? [head] : []);
    const wanted = new Wanted();
    wanted.want("a.b[token=1,hidden=2]", opened);
    wanted.reveal(app, null);
    return Boolean(document.scrollingElement.scrolled);
  };
  assert.ok(bring("a.b[token=1]  (hidden 4)", true));
  assert.ok(bring("from a.b", true));
  assert.ok(!bring("a.c[token=1]", true));
  assert.ok(!bring("a.b[token=1]", false));
  assert.ok(!bring("a.b[token=1]", true, 300), "it is seen");
});
