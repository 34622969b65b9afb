// A session of the server that is another one than before: what was on its way is said again, what is gone is told.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openLost } from "../../bertviz_core/ui/components/listener/lost.js";
import { clock, makeElement, openPage } from "./page.js";

// A tab whose page was drawn by a session. sent: what was said to it; draw: what a run of a session shows.
function openTab() {
  const page = openPage({});
  delete globalThis.bvLost;
  const lost = openLost();
  const tab = { sent: [], lost, page, now: 1000 };
  Date.now = () => tab.now;
  tab.draw = (session, query, trained = false, told = false) => lost.tell({ kept: { session, trained, told }, address: { query } }, (...said) => tab.sent.push(said));
  tab.type = (text, pair = false, event = "focusout") => {
    const field = Object.assign(makeElement("input"), { value: text });
    field.matches = () => true;
    field.closest = (selector) => (selector.includes("pair") === pair ? field : null);
    page.window.send(event, { target: field, key: "Enter", isTrusted: true });
  };
  tab.draw("a", { text: "one" });
  return tab;
}

test("a sentence that the session before never took is said to the next one, once", () => {
  for (const event of ["focusout", "keydown"]) {
    const tab = openTab();
    tab.type("two", false, event);
    tab.draw("b", { text: "one" });
    tab.draw("b", { text: "two" });
    tab.draw("c", { text: "two" });
    assert.deepEqual(tab.sent, [["choose", "text=two"]]);
  }
});

test("so is the second one of a pair", () => {
  const tab = openTab();
  tab.type("two", true);
  tab.draw("b", { text: "one" });
  assert.deepEqual(tab.sent, [["choose", "pair=two"]]);
});

test("one that was taken is not, nor what is in the address, what was left as it was, or what Back went from", () => {
  for (const act of [
    (tab) => [tab.type("two"), tab.draw("a", { text: "one" }), tab.draw("a", { text: "two" }), tab.draw("b", { text: "three" })],
    (tab) => [tab.type("two"), tab.draw("b", { text: "two" }), tab.draw("c", { text: "one" })],
    (tab) => [tab.type("one"), tab.draw("b", { text: "one" })],
    (tab) => [tab.type("two"), tab.page.window.send("popstate"), tab.draw("b", { text: "one" })],
    (tab) => [tab.type("two"), (tab.now += 400_000), tab.draw("b", { text: "one" })],
  ]) {
    const tab = openTab();
    act(tab);
    assert.deepEqual(tab.sent, []);
  }
});

test("a sentence is still on its way while a run of before it is drawn", () => {
  const tab = openTab();
  tab.type("two");
  tab.draw("a", { text: "one" });
  tab.draw("b", { text: "one" });
  assert.deepEqual(tab.sent, [["choose", "text=two"]]);
});

test("a training that ended with its session is told to the next one, after what is said again", () => {
  const tab = openTab();
  tab.draw("a", { text: "one" }, true);
  tab.draw("a", { text: "one" });
  tab.draw("b", { text: "one" });
  assert.deepEqual(tab.sent, []); // it was reset before
  tab.draw("b", { text: "one" }, true);
  tab.type("two");
  tab.draw("c", { text: "one" });
  assert.deepEqual(tab.sent, [["choose", "text=two"]]);
  tab.draw("c", { text: "two" });
  clock.pass(2000);
  tab.draw("c", { text: "two" }, false, true);
  clock.pass(20_000);
  assert.deepEqual(tab.sent.slice(1), [["lost", true]]);
});

test("what is passed over is said again, a few times", () => {
  const tab = openTab();
  tab.type("two");
  tab.draw("b", { text: "one" });
  clock.pass(60_000);
  assert.deepEqual(tab.sent, Array(6).fill(["choose", "text=two"]));
});

test("a sentence that ends each session to which it is said is said to one", () => {
  const tab = openTab();
  tab.type("two");
  for (const session of "bcdef") tab.draw(session, { text: "one" });
  clock.pass(60_000);
  assert.deepEqual(tab.sent, [["choose", "text=two"]]);
});

test("a tab has one memory", () => assert.equal(openTab().lost, openLost()));
