import { test } from "node:test";
import assert from "node:assert/strict";
import { openCanvas, drawnTexts } from "./scene.js";
test("x", () => {
  const { canvas } = openCanvas();
  console.log(drawnTexts(canvas, "titles"), drawnTexts(canvas, "tokens"), drawnTexts(canvas, "words"), drawnTexts(canvas, "legend"), canvas.painter.pen.filled.length);
  console.log(canvas.chrome.crumbs.innerHTML, canvas.frame.parts);
});
