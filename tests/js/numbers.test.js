// Numbers as the table says that both languages write them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import * as numbers from "../../bertviz_core/ui/components/shared/numbers.js";

const CASES = JSON.parse(readFileSync(new URL("../numbers.json", import.meta.url), "utf-8"));
const STRANGE = { inf: Infinity, "-inf": -Infinity, nan: NaN };
const read = (text) => STRANGE[text] ?? Number(text);
const percent = (text) => text.replace(" %", "\u00a0%");

test("a number in full and where there is little room", () => {
  for (const [value, full, short] of CASES.number) {
    assert.equal(numbers.writeNumber(read(value)), full, value);
    assert.equal(numbers.writeShort(read(value)), short, value);
  }
});

test("a part of a whole, in a cell without spaces", () => {
  for (const [part, text] of CASES.percent) {
    assert.equal(numbers.writePercent(read(part)), percent(text), part);
    assert.equal(numbers.writeCellPercent(read(part)), text.replaceAll(" ", ""), part);
  }
});

test("a number of a calculation, and a count", () => {
  for (const [value, decimals, text] of CASES.fixed) assert.equal(numbers.writeFixed(read(value), decimals), text);
  for (const [count, text] of CASES.count) assert.equal(numbers.writeCount(count), text);
});

test("of one thing the singular is written", () => {
  assert.deepEqual([0, 1, 2, 1200].map((amount) => numbers.writeAmount(amount, "head")), ["0 heads", "1 head", "2 heads", "1,200 heads"]);
});

test("the numbers of a column have the same decimals", () => {
  for (const [form, values, texts] of CASES.column) assert.deepEqual(numbers.writeColumn(values.map(read), form), texts.map(percent));
});

test("what is not there is a dash", () => {
  assert.deepEqual([undefined, null].map(numbers.writeNumber), ["–", "–"]);
});
