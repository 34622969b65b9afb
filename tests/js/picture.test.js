// What leaves the app as a picture: where the parts of a chart stand in it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { savePicture } from "../../bertviz_core/ui/components/listener/picture.js";
import { layOut } from "../../bertviz_core/ui/components/listener/printed.js";
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

// What is drawn of charts that stand at such boxes, with this caption; wide, letters: as wide in millimetres, with letters
// of so many points.
async function savePanel(boxes, caption = {}, { wide = "", letters = "" } = {}) {
  let picture, now = 0;
  const { document } = openPage({
    XMLSerializer: class { serializeToString(made) { picture = made; return ""; } },
    requestAnimationFrame: (act) => act(now += 20), performance: { now: () => now },
  });
  document.styleSheets = [];
  const [asked, panel] = [makeElement("button"), makeElement()];
  Object.assign(asked.dataset, { title: "A title", address: "a.probs", ...(wide && { width: wide }) });
  asked.parentElement.found["[data-letters]"] = letters && Object.assign(makeElement("select"), { value: letters });
  asked.found['[class*="st-key-panel-"]'] = panel;
  panel.found[CHART] = boxes.map((box) => Object.assign(makeElement(), { box, calcdata: [], _fullLayout: { _size: {}, _subplots: {} } }));
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

test("letters are as large as asked for, however wide a picture for a paper is", async () => {
  for (const [wide, letters] of [[85, 7], [174, 7], [174, 10]]) {
    const room = (wide / 25.4) * 72 * 12 / letters - 14; // between its edges, in pixels whose letters of 12 are so large
    const picture = await savePanel([{ left: 0, top: 0, width: room, height: 90 }], {}, { wide: String(wide), letters: String(letters) });
    assert.equal(picture.attributes.width, `${wide}mm`);
    const [, , drawn] = picture.attributes.viewBox.split(" ").map(Number);
    const said = picture.children.filter(({ tagName }) => tagName === "text");
    assert.ok(said.length && said.every(({ style }) => style.font.startsWith("12px")));
    assert.ok(Math.abs((12 * wide) / drawn - (letters / 72) * 25.4) < 1e-6, `${12 * wide / drawn} mm`);
  }
});

test("a panel is laid out for the width of a column only while it is drawn", async () => {
  let now = 0;
  const { document } = openPage({ requestAnimationFrame: (act) => act(0), performance: { now: () => (now += 500) } });
  const [panel, chart] = [makeElement(), Object.assign(makeElement(), { calcdata: [] })];
  document.body.append(panel);
  panel.box = { left: 0, top: 0, width: 632, height: 300 };
  chart.box = { left: 16, top: 40, width: 600, height: 240 };
  panel.style.cssText = panel.parentElement.style.cssText = "";
  const seen = await layOut(panel, [chart], 399, () => [panel.style.cssText, panel.parentElement.style.minHeight]);
  assert.match(seen[0], /width:431px !important/);
  assert.match(seen[0], /visibility:hidden/);
  assert.equal(seen[1], "300px");
  assert.equal(panel.style.cssText, "");
});
