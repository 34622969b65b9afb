// The rail beside the rows of a long sentence.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openCanvas, settle } from "./scene.js";

// Of 40 tokens four were sent, from `start` on, and fewer have room.
function openRail(start) {
  const { canvas, sent } = openCanvas({ token: start }, { more: { window: { start, stop: start + 4, total: 40 } }, height: 200 });
  const { element, thumb } = canvas.rail;
  Object.assign(element, { setPointerCapture: () => {}, hasPointerCapture: () => true });
  const place = ({ top, height }, at = 0) => ({ left: 0, top: at + Number.parseFloat(top), width: 12, height: Number.parseFloat(height) });
  const measure = () => {
    element.box = place(element.style);
    thumb.box = place(thumb.style, element.box.top);
    return { rail: element.getBoundingClientRect(), thumb: thumb.getBoundingClientRect() };
  };
  return { canvas, sent, element, measure };
}

test("the rail of a long sentence is dragged to its end and back to its beginning", () => {
  const { canvas, sent, element, measure } = openRail(0);
  const { rail, thumb } = measure();
  element.send("pointerdown", { clientY: thumb.top + 2, pointerId: 1 });
  assert.equal(canvas.wanted, undefined); // taken hold of, it stays where it is
  element.send("pointermove", { clientY: rail.bottom, pointerId: 1 });
  assert.equal(canvas.wanted, 40 - canvas.frame.count);
  settle();
  assert.deepEqual(sent.at(-1), ["go", { window: 36 }]);
  element.send("pointermove", { clientY: rail.top, pointerId: 1 });
  assert.deepEqual([canvas.wanted, canvas.first], [undefined, 0]);
});

test("a press beside the thumb brings its middle there", () => {
  const { canvas, element, measure } = openRail(0);
  const { rail, thumb } = measure();
  const at = rail.top + rail.height / 2;
  element.send("pointerdown", { clientY: at, pointerId: 1 });
  assert.equal(canvas.wanted, Math.round(((at - thumb.height / 2 - rail.top) / rail.height) * 40));
});

test("the rail says which tokens are seen, and is there only where some are not", () => {
  const { canvas, element, measure } = openRail(20);
  const { rail, thumb } = measure();
  const first = 20 + canvas.first;
  assert.equal(element.title, `Tokens ${first} to ${first + canvas.frame.count - 1} of 40`);
  assert.ok(Math.abs((thumb.top - rail.top) / rail.height - first / 40) < 0.001);
  assert.equal(openCanvas().canvas.rail.element.hidden, true);
});
