// What leaves the app as a picture: where the parts of a chart stand in it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { keepXml } from "../../bertviz_core/ui/components/listener/taken.js";
import { listScenes } from "../../bertviz_core/ui/components/shared/plotly_inside.js";

test("what Plotly draws in space stands where its part of the chart is, counted from the top", () => {
  const scene = { domain: { x: [0.1, 0.5], y: [0.2, 0.9] }, _scene: { toImage: (form) => `as ${form}` } };
  const layout = { _size: { l: 10, t: 20, w: 100, h: 200 }, _subplots: { gl3d: ["scene"] }, scene };
  const [{ x, y, width, height, href }] = listScenes({ _fullLayout: layout });
  assert.deepEqual([x, y, width, height].map((each) => Number(each.toFixed(9))), [20, 40, 40, 140]);
  assert.equal(href, "as png");
  assert.deepEqual(listScenes({ _fullLayout: { _size: layout._size, _subplots: {} } }), []);
});

test("a saved picture can be opened whatever the sentence holds", () => {
  assert.equal(keepXml("a\u0001b\u001b\0\ufffe\uffff\ud800c"), "a\ufffdb\ufffd\ufffd\ufffd\ufffd\ufffdc");
  assert.equal(keepXml("<p>\tعربي 🫠\r\n\u007f</p>"), "<p>\tعربي 🫠\r\n\u007f</p>");
});
