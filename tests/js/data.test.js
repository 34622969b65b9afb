// What the server sent, opened: numbers by stage and by address; what was seen before; the colours of numbers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Colors } from "../../bertviz_core/ui/components/canvas/colors.js";
import { isMarked, isPut, readValue, Stages } from "../../bertviz_core/ui/components/canvas/data.js";
import { Visited } from "../../bertviz_core/ui/components/canvas/visited.js";
import { makeData } from "./scene.js";

const DATA = makeData();
const BYTES = Buffer.from(DATA.bytes, "base64");

// The number at a place of the stage's own numbers, counted by hand.
function readFloat(id, place) {
  return BYTES.readFloatLE(DATA.stages.find((stage) => stage.id === id).at + 4 * place);
}

test("numbers are read row by row, of several heads head by head", () => {
  const stages = new Stages(DATA);
  assert.equal(readValue(stages.get("embedding"), { row: 2, column: 3 }), readFloat("embedding", 2 * 8 + 3));
  assert.equal(readValue(stages.get("weights"), { head: 1, row: 2, key: 3 }), readFloat("weights", 16 + 2 * 4 + 3));
  assert.equal(readValue(stages.get("head.weights"), { row: 3, key: 1 }), readFloat("head.weights", 3 * 4 + 1));
  assert.equal(readValue(stages.get("ribbons.1"), { row: 2 }), readFloat("ribbons.1", 2));
  assert.ok(Math.abs(readValue(stages.get("head.weights"), { row: 1, key: 3 }) - 0.321751594) < 1e-7);
});

test("bytes may also come as they are", () => {
  const stages = new Stages({ ...DATA, bytes: new Uint8Array(BYTES) });
  assert.equal(readValue(stages.get("sum"), { row: 1, column: 6 }), readFloat("sum", 8 + 6));
});

test("a cell is found by its address wherever it is drawn, and its address is written back", () => {
  const stages = new Stages(DATA);
  const address = "encoder.layer.0.output.LayerNorm[token=2,hidden=5]";
  const found = stages.find(address);
  assert.deepEqual(found.map(({ stage }) => stage.id), ["output.0", "input"]);
  assert.deepEqual(found[0].where, { row: 2, column: 5 });
  for (const { stage, where } of found) assert.equal(stages.write(stage, where), address);
  const neuron = "encoder.layer.1.intermediate.activation[token=0,intermediate=7]";
  assert.deepEqual(stages.find(neuron).map(({ where }) => where), [{ row: 0, column: 1 }]); // columns are 13, 7, 9 …
  const weight = "encoder.layer.1.attention.self.probs[head=1,query=2,key=3]";
  assert.deepEqual(stages.find(weight).map(({ stage, where }) => [stage.id, where]), [["weights", { head: 1, row: 2, key: 3 }]]);
  for (const none of ["encoder.layer.0.output.LayerNorm[token=4,hidden=5]", "embeddings.LayerNorm[token=1]", "no address", ""]) {
    assert.deepEqual(stages.find(none), []);
  }
});

test("rows are counted from the first one that was sent", () => {
  const stages = new Stages({ ...DATA, window: { start: 10, stop: 14, total: 30 } });
  const [{ stage, where }] = stages.find("embeddings.LayerNorm[token=12,hidden=0]");
  assert.deepEqual(where, { row: 2, column: 0 });
  assert.equal(stages.write(stage, where), "embeddings.LayerNorm[token=12,hidden=0]");
  const weight = "encoder.layer.1.attention.self.probs[head=1,query=12,key=13]";
  const [found] = stages.find(weight);
  assert.deepEqual([found.where, stages.write(found.stage, found.where)], [{ head: 1, row: 2, key: 3 }, weight]);
  assert.deepEqual([...stages.find("embeddings.LayerNorm[token=2,hidden=0]"), ...stages.find("embeddings.LayerNorm[token=14,hidden=0]")], []);
});

test("what is not sent of a stage that is drawn is lacking, and nothing else is", () => {
  const stages = DATA.stages.map((stage) => (stage.id === "embedding" ? { ...stage, columns: stage.columns.map((i) => i + 1) } : stage));
  const opened = new Stages({ ...DATA, stages });
  assert.ok(opened.lacks("embeddings.LayerNorm[token=1,hidden=0]"));
  assert.ok(!opened.lacks("embeddings.LayerNorm[token=1,hidden=3]"));
  assert.ok(!opened.lacks("embeddings.LayerNorm[token=9,hidden=0]")); // no row of the window
  assert.ok(!opened.lacks("cls.predictions.probs[token=1,vocab=0]"));
  assert.ok(!opened.lacks("encoder.layer.1.attention.self.query[head=1,query=0,head_dim=9]")); // another head's
});

test("a cell is marked where its byte says so, and put likewise", () => {
  const bytes = new Uint8Array([...BYTES, 0, 1, 0, 0]);
  const stages = DATA.stages.map((stage) => (stage.id === "ribbons.1" ? { ...stage, mark: BYTES.length, put: BYTES.length } : stage));
  const stage = new Stages({ ...DATA, bytes, stages }).get("ribbons.1");
  assert.deepEqual([0, 1, 2].map((row) => [isMarked(stage, { row }), isPut(stage, { row })]), [[false, false], [true, true], [false, false]]);
  assert.ok(!isMarked(new Stages(DATA).get("ribbons.1"), { row: 1 }));
});

test("a layer and a head that were looked at are known again, of the same pass", () => {
  const visited = new Visited();
  const first = new Stages(DATA), outside = { head: { before: [0.25], after: [0.5] } };
  visited.keep({ ...DATA, outside }, first);
  const later = new Stages({ ...DATA, stages: DATA.stages.filter(({ level }) => level === "pass") });
  const data = { ...DATA, outside: { head: null } };
  visited.recall(data, later, { layer: 1, head: 1 });
  assert.deepEqual([later.get("sum"), later.get("head.weights"), data.outside.head], [first.get("sum"), undefined, null]);
  visited.recall(data, later, { layer: 1, head: 0 });
  assert.deepEqual([later.get("head.weights"), data.outside.head], [first.get("head.weights"), outside.head]);
  const other = new Stages({ ...DATA, stages: [] });
  visited.recall({ ...data, key: "another pass" }, other, { layer: 1, head: 0 });
  assert.equal(other.byId.size, 0);
  for (let i = 0; i < 47; i++) visited.put(`${i}`, { stages: [] });
  assert.equal(visited.found.size, 48);
  assert.ok(!visited.found.has(`${DATA.key} 1`) && visited.found.has(`${DATA.key} 1 0`));
});

test("a colour is deeper as its number is larger, and grey below zero", () => {
  const colors = new Colors(DATA.colors);
  assert.equal(colors.shade("embedding", 0, 3), "rgb(240,239,235)");
  assert.equal(colors.shade("embedding", 3, 3), `rgb(${/#(..)(..)(..)/.exec(DATA.colors.kinds.embedding[1]).slice(1).map((hex) => parseInt(hex, 16)).join()})`); // the kind's own
  assert.equal(colors.shade("embedding", 30, 3), colors.shade("embedding", 3, 3));
  assert.equal(colors.shade("norm", -3, 3), colors.shade("embedding", -3, 3));
  assert.equal(colors.shade("norm", -3, 3), "rgb(102,107,116)"); // 82 hundredths of the way from zero to negative
  assert.equal(colors.shade("norm", 1, 0), colors.shade("norm", 1, 1));
  assert.deepEqual([colors.ink("query"), colors.cell("query"), colors.ink("none"), colors.cell("none")], ["#0069A5", "#0072B2", "#1B1D21", "#1B1D21"]);
});

test("what stands on a colour can be read", () => {
  const colors = new Colors(DATA.colors);
  assert.equal(colors.readable("attention", 1, "zero"), DATA.colors.surface); // white on violet
  assert.equal(colors.readable("attention", 0.05, "zero"), DATA.colors.text); // black on grey
});
