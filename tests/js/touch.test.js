// Fingers on the canvas.

import assert from "node:assert/strict";
import { test } from "node:test";

import { cellBox } from "../../bertviz_core/ui/components/canvas/cells.js";
import { clock } from "./page.js";
import { findMiddle, openCanvas } from "./scene.js";

const PHONE = { width: 390, height: 500 };
const finger = (clientX, clientY) => ({ clientX, clientY, pointerType: "touch" });

function swipe(canvas, from, to) {
  canvas.stage.send("pointerdown", finger(...from));
  canvas.stage.send("pointermove", finger(...to));
  canvas.stage.send("pointerup", finger(...to));
}

test("a swipe to the side leads to the next stage or the one before", () => {
  const { canvas } = openCanvas({ level: "layer" }, PHONE);
  assert.deepEqual([canvas.frame.phone, canvas.group], [true, 0]);
  swipe(canvas, [300, 200], [240, 210]);
  assert.equal(canvas.group, 1);
  swipe(canvas, [200, 200], [260, 210]);
  assert.equal(canvas.group, 0);
  swipe(canvas, [200, 200], [260, 210]);
  assert.equal(canvas.group, 0); // there is none before
});

test("in the whole pass the group of a layer chooses that layer, and the groups at both ends the nearest", () => {
  const { canvas } = openCanvas({}, PHONE);
  const layers = [1, 2, 0, 3].map((group) => {
    canvas.chrome.choose(group);
    return [canvas.group, canvas.place.layer];
  });
  assert.deepEqual(layers, [[1, 0], [2, 1], [0, 0], [3, 1]]);
});

test("no swipe: too short, up or down, or with a mouse in a wide window", () => {
  const { canvas } = openCanvas({ level: "layer" }, PHONE);
  swipe(canvas, [300, 200], [255, 200]);
  swipe(canvas, [300, 200], [200, 260]);
  assert.equal(canvas.group, 0);
  const wide = openCanvas({ level: "layer" }).canvas;
  swipe(wide, [300, 200], [200, 200]);
  assert.equal(wide.group, 0);
});

test("at a stop a swipe leads to the next one", () => {
  const { canvas } = openCanvas({ stop: 3, level: "layer" }, PHONE);
  swipe(canvas, [300, 200], [200, 200]);
  assert.equal(canvas.place.stop, 4);
});

test("a finger that rests sees through a loupe, and is no click then", () => {
  const { canvas } = openCanvas({}, PHONE);
  const loupe = canvas.root.querySelector(".bvc-loupe");
  const at = findMiddle(cellBox(canvas, "output.1", { row: 1, column: 2 }) ?? canvas.frame.parts.tokens);
  canvas.stage.send("pointerdown", { ...at, pointerType: "touch" });
  clock.pass(340);
  assert.equal(loupe.hidden, true);
  clock.pass(40);
  assert.deepEqual([loupe.hidden, canvas.touch.looks], [false, true]);
  assert.ok(canvas.stage.send("touchmove").defaultPrevented);
  canvas.stage.send("pointerup", { ...at, pointerType: "touch" });
  assert.deepEqual([loupe.hidden, canvas.looked], [true, true]);
  canvas.stage.send("click", { ...at, pointerType: "touch" });
  assert.deepEqual([canvas.looked, canvas.root.querySelector(".bvc-ask").dataset.cell], [false, undefined]);
});

test("in the middle of the loupe stands what the finger is at, on whichever screen", () => {
  for (const sharp of [1, 2, 3]) {
    const { canvas } = openCanvas({}, { ...PHONE, page: { devicePixelRatio: sharp } });
    let seen;
    canvas.root.querySelector(".bvc-loupe").getContext().drawImage = (_, x, y, wide, high) => (seen = { x, y, wide, high });
    canvas.stage.send("pointerdown", finger(200, 150));
    clock.pass(400);
    assert.deepEqual([seen.x + seen.wide / 2, seen.y + seen.high / 2], [200 * sharp, 150 * sharp]);
    assert.equal(seen.wide, 44 * sharp);
  }
});

test("a finger that moves on is no resting one", () => {
  const { canvas } = openCanvas({}, PHONE);
  canvas.stage.send("pointerdown", finger(200, 200));
  canvas.stage.send("pointermove", finger(206, 206)); // 8.5 pixels
  clock.pass(1000);
  assert.equal(canvas.touch.looks, false);
});

test("a touch on a small cell first chooses it, a second one explains it", () => {
  const { canvas } = openCanvas({ level: "head", layer: 1 }, { width: 1000 });
  const at = { ...findMiddle(cellBox(canvas, "query", { row: 1, column: 2 })), pointerType: "touch" };
  const ask = canvas.root.querySelector(".bvc-ask");
  canvas.stage.send("click", at);
  assert.deepEqual([canvas.hover.where, ask.dataset.cell], [{ row: 1, column: 2 }, undefined]);
  assert.match(canvas.chrome.readout.innerHTML, /tap again: how it was made/);
  canvas.stage.send("click", at);
  assert.equal(ask.dataset.cell, "encoder.layer.1.attention.self.query[head=0,query=1,head_dim=2]");
});
