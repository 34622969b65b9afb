// The strip of What if: what is drawn where the slider stands, and what is told of it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Strip, tellMoved } from "../../bertviz_core/ui/components/what_if/strip.js";
import { makeElement, openPage } from "./page.js";

const at = (known) => Array.from({ length: 11 }, (_, i) => known[i] ?? null);
const ANSWER = {
  name: "“people”", parts: at({ 0: 0.25, 3: 0.5, 10: 1 }), texts: at({ 0: "2 %", 3: "4 %", 5: "…", 10: "8 %" }),
  differences: at({ 0: "−6.0", 3: "−4.0", 10: "" }),
};
const DATA = { where: "a", slides: true, what: "layer 1, head 8", step: 10, answers: [ANSWER], note: "", colors: { text: "black" } };

function openStrip() {
  openPage();
  const root = makeElement();
  const strip = new Strip(root);
  const sent = [];
  strip.apply = (step) => sent.push(step);
  strip.cancel = () => sent.push("cancel");
  const inside = root.querySelector(".strip");
  inside.querySelector("input").focus = () => sent.push("focus");
  return { strip, inside, slider: inside.querySelector("input"), sent };
}

test("what is known is drawn where the slider stands, beside what stands there now", () => {
  const { strip, inside, slider } = openStrip();
  strip.show(DATA);
  slider.value = "3";
  slider.send("input", {});
  const [name, bar, now, difference] = inside.querySelector(".bars").children;
  assert.deepEqual([name, now, difference].map(({ children }) => children[0]), ["“people”", "4 %", "−4.0"]);
  assert.deepEqual(bar.children.map(({ style }) => style.width), ["50%", "100%"]);
  assert.equal(slider.attributes["aria-valuetext"], "0.3 of its strength");
  assert.equal(inside.querySelector(".moved").textContent, "“people” 8 % → 4 %");
});

test("what comes later of the same place leaves the slider where it is; another place moves it", () => {
  const { strip, slider, sent } = openStrip();
  strip.show(DATA);
  slider.value = "4";
  strip.show({ ...DATA, note: "more" });
  assert.equal(slider.value, "4");
  strip.show({ ...DATA, where: "b", step: 7 });
  assert.deepEqual([slider.value, sent], ["7", ["focus", "focus"]]);
});

test("full strength changes nothing, so it cannot be applied; Escape gives up", () => {
  const { strip, inside, slider, sent } = openStrip();
  strip.show(DATA);
  assert.equal(inside.querySelector(".apply").disabled, true);
  slider.value = "0";
  slider.send("input", {});
  assert.equal(inside.querySelector(".apply").disabled, false);
  inside.querySelector(".apply").click();
  inside.send("keydown", { key: "Escape", preventDefault: () => {}, stopPropagation: () => {} });
  assert.deepEqual(sent.slice(1), [0, "cancel"]);
});

test("what is not known yet is told as such, and nothing of no answer", () => {
  assert.equal(tellMoved(ANSWER, 5), "“people” …");
  assert.equal(tellMoved(ANSWER, 10), "“people” 8 %");
  assert.equal(tellMoved(undefined, 5), "");
});
