// A page presented to a room, one panel a screen.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Presenter } from "../../bertviz_core/ui/components/listener/presenter.js";
import { makeElement, openPage } from "./page.js";

const HEADLINE = ".st-key-headline h1", WORKED = "#bv-drawer-title";
const KEYS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", " ", "s", "d", "Escape"];

// What is said at the top, of which the screen shows a copy.
function makeTold(text) {
  return Object.assign(makeElement(), { cloneNode: () => ({ querySelectorAll: () => [], textContent: text, childNodes: [text] }) });
}

function makePanel(name) {
  const panel = Object.assign(makeElement(), { box: { left: 0, top: 0, width: 800, height: 300 }, scrollHeight: 300, clientHeight: 300 });
  Object.assign(panel.found, { ".bv-said b": makeTold(name), ".bv-says": makeTold(`${name}, more of it`) });
  return panel;
}

// A page of so many panels below its headline, which has a button with the focus and is scrolled down.
function openPresenter(count = 3) {
  const { document } = openPage({
    location: new URL("http://localhost/layers?layer=1"), getComputedStyle: () => ({ overflowY: "auto" }),
    history: { state: null, replaceState: (_state, _title, url) => (location.href = new URL(url, location.href).href) },
  });
  const [panels, scroller, headline, button] = [
    Array.from({ length: count }, (_, i) => makePanel(`panel ${i}`)), makeElement(), makeTold("the answer"), makeElement("button"),
  ];
  Object.assign(scroller, { scrollHeight: 3000, clientHeight: 900, scrollTop: 700 });
  scroller.append(headline);
  Object.assign(document.found, { [HEADLINE]: headline, [WORKED]: null });
  document.querySelectorAll = (selector) => (selector.includes("st-key-panel-") ? panels : selector.includes("st-key-tokens") ? tokens : []);
  const tokens = [0, 1, 2].map((token) => Object.assign(makeElement("button"), { dataset: { token } }));
  const make = document.createElement;
  document.createElement = (tag) => {
    const made = make(tag);
    if (tag === "section") for (const key of KEYS) made.found[`[data-key="${key}"]`] = makeElement("button");
    return made;
  };
  button.focus();
  const sent = [];
  const page = { data: { cell: null, token: 1, place: "layer 1" }, say: () => {}, send: (...what) => sent.push(what), veil: () => {} };
  const presenter = new Presenter(page);
  const press = (key) => presenter.key({ key, target: document.body, preventDefault: () => {}, stopImmediatePropagation: () => {} });
  return { document, presenter, press, panels, scroller, button, page, sent };
}

const listShown = (panels) => panels.flatMap((panel, i) => (panel.getAttribute("data-presented") === null ? [] : [i]));

test("who leaves the presentation is back where they were: as far down, and at the same button", () => {
  for (const key of ["Escape", "p"]) {
    const { document, presenter, press, panels, scroller, button } = openPresenter();
    press("p");
    assert.deepEqual([presenter.presents, document.activeElement, listShown(panels)], [true, document.body, [0]]);
    scroller.scrollTop = 0; // as what is presented lies over the page
    press(key);
    assert.deepEqual([presenter.presents, scroller.scrollTop, listShown(panels)], [false, 700, []]);
    assert.equal(document.activeElement, button);
    assert.equal(location.hash, "");
  }
});

test("one panel a screen, from the first to the last; the dots and the address say which of how many", () => {
  const { presenter, press, panels } = openPresenter();
  press("p");
  const say = () => {
    const { dots } = presenter.lectern;
    const here = dots.children.flatMap((each, i) => (each.getAttribute("data-here") === null ? [] : [i]));
    return [listShown(panels), here, dots.getAttribute("aria-label"), location.hash];
  };
  const first = [[0], [0], "Panel 1 of 3", "#present=1"], last = [[2], [2], "Panel 3 of 3", "#present=3"];
  assert.deepEqual(say(), first);
  press("ArrowLeft");
  assert.deepEqual(say(), first);
  press("ArrowRight");
  press("PageDown");
  assert.deepEqual(say(), last);
  press("ArrowRight");
  assert.deepEqual(say(), last);
});

test("a page without panels is not presented", () => {
  const { presenter, press } = openPresenter(0);
  press("p");
  assert.equal(presenter.presents, false);
});

test("down and up lead to the next token and the one before, and no further", () => {
  const { press, page, sent } = openPresenter();
  press("p");
  press("ArrowDown");
  press("ArrowUp");
  page.data.token = 0;
  press("ArrowUp");
  assert.deepEqual(sent, [["token", 2], ["token", 0]]);
});

test("in the spotlight all rows but the chosen token's are dim, and none without the light", () => {
  const { press, panels } = openPresenter();
  const rows = [0, 1, 2].map((token) => {
    const row = makeElement("tr");
    for (const each of [0, 1, 2]) row.found[`[data-token="${each}"]`] = each === token ? makeElement() : null;
    row.found['[data-cell=""]'] = null;
    return row;
  });
  panels[0].found.tr = rows;
  const listDim = () => rows.flatMap((row, i) => (row.classList.contains("bv-dim") ? [i] : []));
  press("p");
  assert.deepEqual(listDim(), []);
  press("s");
  assert.deepEqual([listDim(), location.hash], [[0, 2], "#present=1&spot"]);
});
