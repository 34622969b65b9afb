// How many rows of the drawer's table are shown: as many as there is room for, also when the fonts come late.

import assert from "node:assert/strict";
import { test } from "node:test";

import { DRAWER } from "../../bertviz_core/ui/components/listener/page.js";
import { fitRows } from "../../bertviz_core/ui/components/listener/rows.js";
import { makeElement, openPage } from "./page.js";

// A drawer with ten late rows and room for 200 pixels below what is shown; high: pixels of a row.
function openDrawer(status) {
  const { document } = openPage();
  let come;
  const ready = new Promise((resolve) => { come = resolve; });
  document.fonts = { status, ready };
  const [table, more, body] = [makeElement("table"), makeElement("tr"), makeElement()];
  const late = Array.from({ length: 10 }, () => makeElement("tr"));
  for (const row of late) row.classList.remove = (name) => row.classes.delete(name);
  Object.assign(table.found, { ".bv-late": late, ".bv-more": more });
  Object.assign(document.found, { [`${DRAWER} .bv-operands:has(.bv-more)`]: table, [`${DRAWER}-body`]: body });
  body.box = { left: 0, top: 0, width: 400, height: 300 };
  body.parentElement.box = { left: 0, top: 0, width: 400, height: 508 };
  return { document, come, ready, more, count: () => late.filter(({ classes }) => classes.has("bv-fits")).length };
}

test("rows are counted anew once the fonts have come, in which they are of another height", async () => {
  const { document, come, ready, more, count } = openDrawer("loading");
  more.box.height = 40; // in the letters that stand there meanwhile
  fitRows();
  assert.equal(count(), 5);
  Object.assign(document.fonts, { status: "loaded" });
  more.box.height = 25;
  come();
  await ready;
  assert.equal(count(), 8);
  fitRows();
  assert.equal(count(), 8, "and not once more");
});

test("where the fonts are there, nothing is waited for", async () => {
  const { come, ready, more, count } = openDrawer("loaded");
  more.box.height = 25;
  fitRows();
  more.box.height = 40;
  come();
  await ready;
  assert.equal(count(), 8);
});
