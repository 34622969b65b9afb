// What leaves the app as a picture: where the parts of a chart stand in it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { savePicture } from "../../bertviz_core/ui/components/listener/picture.js";
import { keepXml } from "../../bertviz_core/ui/components/listener/taken.js";
import { CHART, listScenes } from "../../bertviz_core/ui/components/shared/plotly_inside.js";
import { makeElement, openPage } from "./page.js";

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

// What is drawn of charts that stand at such boxes, with this caption.
async function savePanel(boxes, caption = {}) {
  let picture;
  const { document } = openPage({ XMLSerializer: class { serializeToString(made) { picture = made; return ""; } } });
  document.styleSheets = [];
  const [asked, panel] = [makeElement("button"), makeElement()];
  Object.assign(asked.dataset, { title: "A title", address: "a.probs" });
  asked.found['[class*="st-key-panel-"]'] = panel;
  panel.found[CHART] = boxes.map((box) => Object.assign(makeElement(), { box, _fullLayout: { _size: {}, _subplots: {} } }));
  await savePicture(asked, "svg", { caption, colors: { text: "black", faint: "grey", surface: "white" } });
  return picture;
}

test("a saved picture is as high as all lines of its caption need", async () => {
  const sentence = Array.from({ length: 60 }, (_, i) => `word${i}`).join(" ");
  const picture = await savePanel([{ left: 50, top: 60, width: 500, height: 200 }], { checkpoint: "small", sentence });
  const lines = picture.children.filter(({ tagName }) => tagName === "text");
  assert.ok(lines.length > 6, "the sentence has several lines");
  const room = Number(picture.attributes.height) - Math.max(...lines.map(({ attributes }) => Number(attributes.y)));
  assert.ok(room > 10 && room < 30, `${room} pixels below the last line`);
  assert.ok(lines.every(({ attributes }) => Number(attributes.y) > 200), "all stand below the chart");
});

test("charts of one panel stand in its picture as on the page, whichever is the highest", async () => {
  const picture = await savePanel([{ left: 50, top: 90, width: 300, height: 200 }, { left: 360, top: 60, width: 300, height: 200 }]);
  const places = picture.children.filter(({ tagName }) => tagName === "svg").map(({ attributes: { x, y } }) => [Number(x), Number(y)]);
  assert.deepEqual(places, [[16, 46], [326, 16]]);
});
