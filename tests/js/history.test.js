// Back and Forward: who says where one is, and what is done where address and page differ.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openTrail } from "../../bertviz_core/ui/components/listener/history.js";
import { PARTS } from "../../bertviz_core/ui/components/shared/streamlit.js";
import { clock, makeElement, openPage } from "./page.js";

// A tab on an address of the app. asked: how often the page was asked for as Back would ask for it; loaded: loaded anew.
function openTab(path = "/attention?layer=2") {
  const written = [];
  const kept = {};
  const tab = { written, asked: 0, loaded: 0, app: makeElement() };
  const location = Object.assign(new URL(`http://localhost${path}`), {});
  Object.defineProperty(location, "reload", { value: () => (tab.loaded += 1) });
  const write = (kind) => (_state, _title, url) => {
    written.push([kind, url]);
    location.href = new URL(url, location.href).href;
  };
  const page = openPage({
    location, history: { state: null, pushState: write("push"), replaceState: write("replace") },
    sessionStorage: { getItem: (name) => kept[name] ?? null, setItem: (name, value) => (kept[name] = String(value)) },
    PopStateEvent: class { constructor(type) { Object.assign(this, { type, asked: true }); } },
    fetch: async () => ({ ok: true }),
  });
  delete globalThis.bvTrail;
  page.document.found[PARTS.app] = tab.app;
  Object.assign(tab.app.dataset, { testScriptState: "notRunning", testConnectionState: "CONNECTED" });
  tab.trail = openTrail();
  page.window.addEventListener("popstate", ({ asked }) => asked && (tab.asked += 1));
  const visit = (url) => {
    location.href = new URL(url, location.href).href;
    page.window.send("popstate");
  };
  return Object.assign(tab, { visit, window: page.window, location });
}

const say = (page, query) => ({ page, pages: ["attention", "story"], query });

test("what is chosen is written, whoever writes it", () => {
  const { written } = openTab();
  history.pushState(null, "", "/attention?layer=3");
  history.replaceState(null, "", "/attention?layer=4");
  assert.deepEqual(written, [["push", "/attention?layer=3"], ["replace", "/attention?layer=4"]]);
});

test("what the framework has in an address is none of what a page is asked for", () => {
  const tab = openTab();
  tab.visit("/attention?embed=true&layer=1&embed_options=dark_theme");
  tab.trail.tell(say("attention", { layer: "1" })); // it is there
  history.pushState(null, "", "/attention?layer=5");
  assert.deepEqual(tab.written, [["push", "/attention?layer=5"]]);
});

test("after Back an older answer is refused, until the page is there or somebody chooses", () => {
  const tab = openTab();
  tab.visit("/attention?layer=1");
  history.pushState(null, "", "/attention?layer=9");
  history.replaceState(null, "", "/attention?layer=1"); // where one is
  assert.deepEqual(tab.written, [["replace", "/attention?layer=1"]]);
  tab.trail.tell(say("attention", { layer: "1" }));
  history.pushState(null, "", "/attention?layer=5");
  assert.equal(tab.written.length, 2);
  tab.visit("/attention?layer=1");
  tab.window.send("click", { isTrusted: false });
  history.pushState(null, "", "/attention?layer=6");
  assert.equal(tab.written.length, 2);
  tab.window.send("click", { isTrusted: true });
  history.pushState(null, "", "/attention?layer=6");
  assert.equal(tab.written.length, 3);
});

test("a page that is not the one gone to is asked for once, and then has the last word", () => {
  const tab = openTab();
  tab.visit("/attention?layer=1");
  tab.trail.tell(say("attention", { layer: "2" }));
  clock.pass(1900);
  assert.equal(tab.asked, 0);
  clock.pass(200);
  assert.equal(tab.asked, 1);
  clock.pass(60_000);
  assert.equal(tab.asked, 1);
  assert.deepEqual(tab.written, [["replace", "http://localhost/attention?layer=2"]]);
});

test("nothing is asked for while the page is there, or still on its way", () => {
  const tab = openTab();
  tab.visit("/story?layer=1&embed=true");
  tab.trail.tell(say("story", { layer: "1" })); // the framework's own words do not count
  clock.pass(60_000);
  assert.equal(tab.asked, 0);
  tab.visit("/story?layer=2");
  tab.app.dataset.testScriptState = "running";
  clock.pass(60_000);
  assert.equal(tab.asked, 0);
  tab.app.dataset.testScriptState = "notRunning";
  clock.pass(2100);
  assert.equal(tab.asked, 1);
});

test("an address is a page's if its page and all its words are", () => {
  const tab = openTab("/attention?layer=2");
  const isThere = (page, query) => {
    tab.trail.tell(say(page, query));
    return tab.trail.isThere();
  };
  assert.ok(isThere("attention", { layer: "2" }));
  for (const [page, query] of [["story", { layer: "2" }], ["", { layer: "2" }], ["attention", {}], ["attention", { layer: "3" }],
    ["attention", { layer: "2", head: "1" }]]) assert.ok(!isThere(page, query), JSON.stringify([page, query]));
  const first = openTab("/elsewhere/?layer=2");
  first.trail.tell(say("", { layer: "2" }));
  assert.ok(first.trail.isThere());
});

test("a page whose line is lost for ever is loaded anew, once a minute at most", () => {
  const tab = openTab();
  tab.app.dataset.testConnectionState = "DISCONNECTED_FOREVER";
  tab.trail.wait();
  clock.pass(2100);
  assert.equal(tab.loaded, 1);
  tab.trail.wait();
  clock.pass(2100);
  assert.equal(tab.loaded, 1);
});

test("a missing part of the framework loads the page anew once the server answers", async () => {
  const tab = openTab();
  tab.window.send("vite:preloadError");
  clock.pass(2100);
  await null;
  await null;
  await null;
  assert.equal(tab.loaded, 1);
});

test("a tab has one trail", () => {
  const { trail } = openTab();
  assert.equal(openTrail(), trail);
});
