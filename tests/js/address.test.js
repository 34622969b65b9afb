// Addresses of cells: read, matched with templates, and whose row and column they are in.

import assert from "node:assert/strict";
import { test } from "node:test";

import { findTwin, isSameCell, matchAddress, readAddress, readPair, readTokens } from "../../bertviz_core/ui/components/shared/address.js";
import { clamp, clampIndex } from "../../bertviz_core/ui/components/shared/clamp.js";

test("an address is a path and an index for each axis", () => {
  const { path, index } = readAddress("encoder.layer.1.output.LayerNorm[token=3,hidden=7]");
  assert.equal(path, "encoder.layer.1.output.LayerNorm");
  assert.deepEqual([...index], [["token", "3"], ["hidden", "7"]]);
  assert.deepEqual([readAddress("x").path, readAddress("x").index.size, readAddress("x[]").index.size], ["x", 0, 0]);
});

test("one cell may be written in any order of its axes", () => {
  assert.ok(isSameCell("a[token=1,hidden=2]", "a[hidden=2,token=1]"));
  for (const other of ["a[token=1,hidden=3]", "b[token=1,hidden=2]", "a[token=1]", "a[token=1,hidden=2,head=0]", "", null]) {
    assert.ok(!isSameCell("a[token=1,hidden=2]", other), other);
    assert.ok(!isSameCell(other, "a[token=1,hidden=2]"), other);
  }
  assert.ok(isSameCell("", null) && isSameCell(undefined, ""));
});

test("a template says what its placeholders stand for in a cell, where it is one of its cells", () => {
  assert.deepEqual(matchAddress("a[head=2,query={y},key={x}]", "a[head=2,query=3,key=4]"), { y: "3", x: "4" });
  assert.deepEqual(matchAddress("a[token={n}]", "a[token=9]"), { n: "9" });
  assert.deepEqual(matchAddress("a[token=1]", "a[token=1]"), {});
  assert.equal(matchAddress("a[head=2,query={y}]", "a[head=1,query=3]"), null);
  assert.equal(matchAddress("a[query={y}]", "a[token=3]"), null);
  assert.equal(matchAddress("a[query={y}]", "a[query=3,key=1]"), null);
});

test("a cell belongs to the row of its query or token, and to the column of its key", () => {
  assert.deepEqual(readTokens("p[head=0,query=2,key=5]"), { row: 2, key: 5 });
  assert.deepEqual(readTokens("x[token=4,hidden=1]"), { row: 4, key: 4 });
  assert.deepEqual(readTokens("v[head=1,key=3,head_dim=0]"), { row: 3, key: 3 });
  assert.equal(readTokens("w[hidden=1]"), null);
});

test("numbers and places are kept within bounds", () => {
  assert.deepEqual([-1, 0, 2.5, 9].map((value) => clamp(value, 0, 4)), [0, 0, 2.5, 4]);
  assert.deepEqual([-Infinity, -1, 1, 4, Infinity].map((index) => clampIndex(index, 4)), [0, 0, 1, 3, 3]);
  assert.equal(clamp(3, 5, 2), 5);
});

test("a number of a pair of tokens is of the same head's pair in every step, and of no other head's", () => {
  const weights = "l.2.self.probs[head=0]";
  assert.deepEqual(readPair(weights, "l.2.self.products[head=0,query=8,key=3]"), { query: 8, key: 3 });
  for (const other of ["l.2.self.products[head=1,query=8,key=3]", "l.1.self.products[head=0,query=8,key=3]", "l.2.self.query[head=0,query=8,head_dim=3]"]) {
    assert.equal(readPair(weights, other), null, other);
  }
  const map = "l.2.self.probs[head=0,query={y},key={x}]", score = "l.2.self.scores[head=0,query=8,key=3]";
  assert.equal(findTwin(map, score), "l.2.self.probs[head=0,query=8,key=3]");
  assert.equal(findTwin(map, "l.1.self.scores[head=0,query=8,key=3]"), "l.1.self.scores[head=0,query=8,key=3]");
  assert.equal(findTwin("l.2.out.dense[token={y},hidden={x}]", "l.2.out.residual[token=1,hidden=2]"), "l.2.out.residual[token=1,hidden=2]");
});
