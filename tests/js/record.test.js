// What the components draw, say and send is as it was recorded; in tests/js/recorded/ somebody has read it.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { listDifferences } from "./record/compare.js";
import { RECORDED, RECORDS } from "./record/records.js";

const REMEDY = "If it is meant to be so: npm run record, and read what git says has changed in tests/js/recorded/.";

test("each file of the record is of a scene, and each scene has its file", () => {
  assert.deepEqual(readdirSync(RECORDED).sort(), Object.keys(RECORDS).map((name) => `${name}.txt`).sort(), REMEDY);
});

for (const [name, list] of Object.entries(RECORDS)) {
  test(`${name} is as it was recorded`, () => {
    const recorded = readFileSync(new URL(`${name}.txt`, RECORDED), "utf-8").trimEnd().split("\n");
    const differences = listDifferences(recorded, list().join("\n").trimEnd().split("\n"));
    assert.ok(!differences.length, `${differences.join("\n")}\n${REMEDY}`);
  });
}
