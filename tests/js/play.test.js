// The walk: ten stops one after the other, by themselves or by hand, and what is said on the way.

import assert from "node:assert/strict";
import { test } from "node:test";

import { countSteps } from "../../bertviz_core/ui/components/canvas/play.js";
import { STOP } from "../../bertviz_core/ui/components/canvas/place.js";
import { MOTION, timeStops } from "../../bertviz_core/ui/components/canvas/reading.js";
import { writeTrack } from "../../bertviz_core/ui/components/canvas/play_words.js";
import { clock } from "./page.js";
import { drawnTexts, makeData, openCanvas, settle } from "./scene.js";

const press = (canvas, key, more = {}) => canvas.stage.send("keydown", { key, ...more });
const walk = (document, key, more = {}) => document.send("keydown", { key, ...more });

test("what plays goes from stop to stop after their seconds, and rests at the last one", () => {
  const { canvas, sent } = openCanvas();
  press(canvas, " ");
  assert.deepEqual([canvas.place.stop, canvas.player.playing], [1, true]);
  const [first, second, ...others] = timeStops(canvas);
  clock.pass(1000 * first - 100);
  assert.equal(canvas.place.stop, 1);
  clock.pass(200);
  assert.deepEqual([canvas.place.stop, canvas.place.level], [2, "pass"]);
  assert.deepEqual(sent, []); // while it plays nothing is said
  clock.pass(1000 * second + 100);
  assert.deepEqual([canvas.place.stop, canvas.place.level], [3, "layer"]);
  clock.pass(1000 * others.reduce((all, each) => all + each, 0) + 2000);
  assert.deepEqual([canvas.place.stop, canvas.player.playing], [10, false]);
  settle();
  assert.deepEqual(sent, [["go", { stop: 10, level: "pass" }]]);
  press(canvas, " ");
  assert.equal(canvas.place.stop, 1); // from the beginning
});

test("a stop stands as long as its words take who reads 200 of them a minute", () => {
  const { canvas } = openCanvas();
  const seconds = timeStops(canvas);
  assert.equal(seconds.length, Object.keys(STOP).length);
  canvas.data.stops.forEach(({ title, sentence, plain }, i) => {
    const told = [title, sentence.map(([text]) => text).join(""), ...plain.flat()].join(" ").split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
    const { canvas: there } = openCanvas({ stop: i + 1, level: canvas.data.stops[i].level });
    const drawn = ["picture", "titles"].flatMap((layer) => Object.values(drawnTexts(there, layer))).join(" ").split(/\s+/);
    const words = told.length + drawn.filter((word) => /\p{L}{2}/u.test(word)).length;
    assert.ok(Math.abs(seconds[i] - Math.max(MOTION[i] + 1, (words * 60) / 200)) < 1e-9, `stop ${i + 1}: ${words} words, ${seconds[i]} s`);
    assert.ok(words / seconds[i] <= 200 / 60 + 1e-9);
  });
});

test("while one points at the picture or the sentence its time stands still, and the picture comes about", () => {
  for (const name of ["stage", "line"]) {
    const { canvas } = openCanvas();
    const part = name === "stage" ? canvas.stage : canvas.player.line;
    press(canvas, " ");
    part.send("pointerenter", {});
    clock.pass(1000 * timeStops(canvas)[0] + 9000);
    assert.deepEqual([canvas.place.stop, canvas.player.playing, canvas.player.time], [1, true, 1]);
    assert.match(canvas.chrome.readout.innerHTML, /the walk waits while you point/);
    part.send("pointerleave", {});
    assert.ok(!/the walk waits/.test(canvas.chrome.readout.innerHTML));
    clock.pass(1000 * timeStops(canvas)[0]);
    assert.equal(canvas.place.stop, 2);
  }
});

test("what is new at a stop is explained below its sentence, and said", () => {
  const { canvas } = openCanvas({ stop: STOP.ask, level: "layer" });
  const { plain } = canvas.data.stops[STOP.ask - 1];
  assert.ok(plain.length > 0);
  for (const [term, meaning] of plain) assert.ok(canvas.player.line.innerHTML.includes(`<p class="bvc-plain"><b>${term}</b> ${meaning}</p>`));
  canvas.player.goTo(STOP.ask);
  for (const [, meaning] of plain) assert.ok(canvas.chrome.live.textContent.includes(meaning));
});

test("the last stop leads on to the first lesson, by the link that the server made", () => {
  const { canvas } = openCanvas({ stop: 9, level: "layer" });
  assert.ok(!canvas.player.line.innerHTML.includes("lesson"));
  canvas.player.goTo(10);
  assert.ok(canvas.player.line.innerHTML.includes(`data-does="lesson" class="bvc-main">Go on: lesson 1 · ${canvas.data.lesson} ›</button>`));
  let clicked = 0;
  const app = { dataset: { testScriptState: "notRunning" }, querySelector: (wanted) => wanted === ".st-key-canvas-lesson a" && { click: () => clicked++ } };
  canvas.root.closest = () => app;
  canvas.chrome.click({ target: { closest: () => ({ dataset: { does: "lesson" } }) } });
  assert.equal(clicked, 0); // where it went is said first
  canvas.asked = null; // the server has answered
  clock.pass(200);
  assert.equal(clicked, 1);
});

test("Tab reaches one stop of the track: the one that is shown, before the walk the first", () => {
  for (const [stop, reached] of [[0, 1], [1, 1], [4, 4], [10, 10]]) {
    const html = writeTrack({ ...openCanvas().canvas.player, playing: false, speed: 1, stop, stops: makeData().stops });
    const all = [...html.matchAll(/data-does="stop:(\d+)"[^>]*tabindex="(-?\d)"/g)];
    assert.equal(all.length, 10);
    assert.deepEqual(all.filter(([, , tab]) => tab === "0").map(([, number]) => Number(number)), [reached]);
  }
});

test("what is paused goes on from there", () => {
  const { canvas } = openCanvas();
  press(canvas, " ");
  clock.pass(3000);
  press(canvas, " ");
  assert.equal(canvas.player.playing, false);
  clock.pass(9000);
  assert.equal(canvas.place.stop, 1);
  press(canvas, " ");
  assert.deepEqual([canvas.place.stop, canvas.player.playing], [1, true]);
});

test("a picture comes about in its time, twice as fast at twice the speed", () => {
  const { canvas } = openCanvas();
  canvas.player.goTo(1);
  clock.pass(2000);
  assert.ok(Math.abs(canvas.player.time - 0.5) < 0.02); // of four seconds
  clock.pass(2100);
  assert.equal(canvas.player.time, 1);
  const speeds = [1, 2, 3].map(() => {
    canvas.player.hurry();
    return canvas.player.speed;
  });
  assert.deepEqual(speeds, [2, 0.5, 1]);
  canvas.player.hurry();
  canvas.player.goTo(1);
  clock.pass(1000);
  assert.ok(Math.abs(canvas.player.time - 0.5) < 0.02);
});

test("by hand one goes to the next stop and back, and stays there", () => {
  const { canvas, sent, document } = openCanvas({ stop: 1 });
  assert.equal(canvas.player.time, 1); // out of the URL it is drawn as it ends
  assert.ok(walk(document, "ArrowRight").defaultPrevented);
  assert.deepEqual([canvas.place.stop, canvas.player.time], [2, 0]);
  walk(document, "ArrowLeft");
  walk(document, "ArrowLeft");
  assert.equal(canvas.place.stop, 1);
  clock.pass(30000);
  assert.equal(canvas.place.stop, 1);
  assert.deepEqual(sent, [["go", { stop: 1, level: "pass" }]]);
  assert.ok(!walk(document, "ArrowRight", { ctrlKey: true }).defaultPrevented);
  assert.ok(!walk(document, "ArrowUp").defaultPrevented);
});

test("with Shift one goes through the steps of a stop", () => {
  const { canvas, document } = openCanvas({ stop: 5, level: "head" });
  walk(document, "ArrowLeft", { shiftKey: true });
  assert.deepEqual([canvas.player.time, canvas.chrome.live.textContent], [0.75, "Step 3 of 4"]);
  walk(document, "ArrowRight", { shiftKey: true });
  walk(document, "ArrowRight", { shiftKey: true });
  assert.deepEqual([canvas.player.time, canvas.chrome.live.textContent], [1, "Step 4 of 4"]);
  assert.equal(canvas.place.stop, 5);
});

test("what was stepped through by hand plays on from where it stands", () => {
  const { canvas, document } = openCanvas();
  const { player } = canvas;
  for (let stop = 1; stop <= 10; stop++) {
    player.goTo(stop);
    clock.pass(10_000);
    walk(document, "ArrowLeft", { shiftKey: true });
    const { time } = player;
    press(canvas, " ");
    clock.pass(100);
    assert.ok(player.playing && player.time > time && player.time < time + 0.04, `stop ${stop}: ${time} goes on at ${player.time}`);
    press(canvas, " ");
  }
});

test("a stop has as many steps as it lists", () => {
  const counts = makeData().stops.map(countSteps);
  assert.deepEqual(counts, [4, 6, 6, 4, 4, 4, 2, 6, 8, 8]); // the products of the fourth land a little sooner: 4 · 1.12
  assert.equal(countSteps({ worked: { terms: Array(50) } }), 56);
});

test("Escape and its button end the walk, at the level of its stop", () => {
  const { canvas, sent, document } = openCanvas({ stop: 4, level: "head" });
  walk(document, "Escape");
  assert.deepEqual([canvas.place.stop, canvas.place.level], [0, "head"]);
  settle();
  assert.deepEqual(sent, [["go", { stop: 0 }]]);
});

test("each stop is said in its sentence, its parts in the colours of their stages", () => {
  const { canvas } = openCanvas();
  canvas.player.goTo(4);
  assert.match(canvas.chrome.live.textContent, /^4 of 10, compare: “the” asks, “\[SEP\]” offers: 4 products/);
  const html = canvas.player.line.innerHTML;
  assert.match(html, /<span class="bvc-number">4\/10<\/span>/);
  assert.match(html, /<b data-part="token:1" class="bvc-kind-prediction">“the”<\/b>/);
  assert.match(html, /<b data-part="head.query" class="bvc-kind-query"> asks<\/b>/);
  assert.match(html, /<b data-part="head.scores" class="bvc-kind-attention">1\.80<\/b>/);
});

test("the track shows where one is, what is done, and how fast it goes", () => {
  const { canvas } = openCanvas({ stop: 3, level: "layer" });
  const html = canvas.player.track.innerHTML;
  const stops = [...html.matchAll(/data-does="stop:(\d+)" (.*?) tabindex="(-?\d)" style="left:([\d.]+)%/g)];
  assert.deepEqual(stops.map(([, , state]) => state), [
    'class="bvc-done"', 'class="bvc-done"', 'aria-current="step"', "", "", "", "", "", "", "",
  ]);
  assert.deepEqual(stops.map(([, , , tab]) => tab), ["-1", "-1", "0", "-1", "-1", "-1", "-1", "-1", "-1", "-1"]);
  assert.deepEqual([stops[0][4], Number(stops[9][4]).toFixed(1)], ["4.6", "95.4"]);
  assert.match(html, /aria-label="Play"/);
  canvas.player.hurry();
  canvas.player.hurry();
  assert.match(canvas.player.track.innerHTML, />½×<\/button>/);
  const fill = canvas.player.track.querySelector(".bvc-fill");
  canvas.player.progress();
  assert.equal(fill.style.width, `${(90.8 * 2) / 9}%`);
});

test("before the walk its line says what it is", () => {
  const { canvas } = openCanvas();
  const minutes = Math.round(timeStops(canvas).reduce((all, each) => all + each, 0) / 60);
  assert.ok(canvas.player.line.innerHTML.includes(`10 stops from the characters to the word, in about ${minutes} minutes.`));
  assert.ok(canvas.chrome.actions.innerHTML.includes(`(${minutes} min)`));
});

test("a part of the sentence that is pointed at is lit, a token as its row", () => {
  const { canvas } = openCanvas({ stop: 4, level: "head" });
  canvas.player.light("head.query");
  assert.deepEqual(canvas.lights, [{ part: "query" }]);
  canvas.player.light("token:3");
  assert.deepEqual([canvas.focus, canvas.pointed], [null, 3]);
  canvas.player.light(null);
  assert.equal(canvas.pointed, null);
});

test("who wants no motion sees each picture as it ends", () => {
  const { canvas } = openCanvas({}, { page: { matchMedia: () => ({ matches: true }) } });
  canvas.player.goTo(2);
  assert.equal(canvas.player.time, 1);
});

test("a picture that is gone hears nothing any more, and one that comes back hears each key once", () => {
  const { canvas, document, window } = openCanvas({ stop: 1 });
  const { send } = canvas;
  const heard = () => [document, window, canvas.stage].map((each) => each.countListeners());
  const before = heard();
  canvas.close(canvas.turn);
  assert.deepEqual(heard(), [0, 0, 0]);
  assert.ok(!walk(document, "ArrowRight").defaultPrevented);
  assert.equal(canvas.place.stop, 1);
  canvas.show(makeData({ stop: 1 }), send);
  assert.deepEqual(heard(), before);
  walk(document, "ArrowRight");
  assert.equal(canvas.place.stop, 2);
});
