// The number that is explained, ringed where the page writes it, and the row of the table that the walk has been in last.

import assert from "node:assert/strict";
import { test } from "node:test";

import { markNumbers } from "../../bertviz_core/ui/components/listener/here.js";
import { makeElement, openPage } from "./page.js";

// A page with a table of two rows, each with a dot product and a weight, and a formula that opens one of them.
function openTable() {
  openPage();
  const [app, table, formula] = [makeElement(), makeElement("table"), makeElement("button")];
  const cells = ["r[key=3]", "r[key=6]", "a[key=3]", "a[key=6]"].map((cell) => Object.assign(makeElement("button"), { dataset: { cell } }));
  const rows = [makeElement("tr"), makeElement("tr")];
  cells.forEach((each, i) => { each.found.tr = rows[i % 2]; });
  Object.assign(formula.dataset, { cell: "r[key=3]" });
  formula.matches = () => true;
  const find = (all) => (selector) => {
    const name = /^\.(bv-[a-z-]+)$/.exec(selector)?.[1];
    if (name) return all.filter(({ classes }) => classes.has(name));
    return all.filter(({ dataset }) => dataset.cell && selector.includes(CSS.escape(`${dataset.cell.split("[")[0]}[`)));
  };
  table.querySelectorAll = find([...cells, ...rows]);
  const onPage = find([...cells, formula]);
  app.querySelectorAll = (selector) => (selector === ".bv-aligned table" ? [table] : onPage(selector));
  const marked = () => [
    [...cells, formula].filter(({ classes }) => classes.has("bv-number-here")).map(({ dataset }) => dataset.cell),
    rows.map(({ classes }) => classes.has("bv-row-here")), table.classes.has("bv-rows-left"),
  ];
  return { app, cells, marked };
}

test("a clicked number is ringed, not the formula that opens it, and its row is lit", () => {
  const { app, cells, marked } = openTable();
  markNumbers(app, ["r[key=3]"]);
  assert.deepEqual(marked(), [["r[key=3]"], [true, false], true]);
  assert.equal(cells[0].attributes["aria-current"], "true");
  markNumbers(app, ["a[key=6]"]);
  assert.deepEqual(marked(), [["a[key=6]"], [false, true], true]);
  assert.equal(cells[0].attributes["aria-current"], undefined);
});

test("on the walk from a number its row stays lit, and of a number that the table has not none is taken from the page", () => {
  const { app, marked } = openTable();
  markNumbers(app, ["r[key=6]", "q[head_dim=3]"]);
  assert.deepEqual(marked(), [[], [false, true], true]);
  markNumbers(app, []);
  assert.deepEqual(marked(), [[], [false, false], false]);
});
