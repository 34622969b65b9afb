// The pictures of the stops: which numbers stand where, as they come about.

import assert from "node:assert/strict";
import { test } from "node:test";

import { STOP } from "../../bertviz_core/ui/components/canvas/place.js";
import { placeLetters } from "../../bertviz_core/ui/components/canvas/stops/cut.js";
import { listNeurons, placeNeurons } from "../../bertviz_core/ui/components/canvas/stops/neurons.js";
import { openPage } from "./page.js";
import { drawnTexts, makeData, openCanvas } from "./scene.js";

const BOX = { x: 100, y: 4, w: 700, h: 400 };
const box = (shapes, key) => {
  const { x, y, width, height } = shapes.get(key).element.attributes;
  return { x: Number(x), y: Number(y), w: Number(width), h: Number(height) };
};
const near = (one, other, least = 0.02) => assert.ok(Math.abs(one - other) < least, `${one} is not ${other}`);
const draw = (stop, more = {}, options = {}) => {
  const { canvas } = openCanvas({ stop, level: makeData().stops[stop - 1].level, ...more }, options);
  return { canvas, texts: drawnTexts(canvas, "picture"), shapes: canvas.sketches.picture.shown };
};

test("1: the letters of each piece stand over it, and beside it its entry of the vocabulary", () => {
  const { canvas, texts, shapes } = draw(STOP.cut);
  assert.deepEqual([texts["caption 0"], texts["caption 1"]], ["4 tokens,", "each an entry of the vocabulary of 101"]);
  assert.deepEqual([0, 1, 2, 3].map((i) => [texts[`piece ${i}`], texts[`id ${i}`]]), [["[CLS]", "2"], ["the", "62"], ["cat", "63"], ["[SEP]", "3"]]);
  const letters = (row) => Object.keys(texts).filter((key) => key.startsWith(`letter ${row} `)).map((key) => texts[key]).join("");
  assert.deepEqual([0, 1, 2, 3].map(letters), ["", "the", "cat", ""]); // nobody typed the special tokens
  assert.ok(shapes.has("stream 1") && !shapes.has("stream 0"));
  [1, 2].forEach((row) => {
    const { x, w } = box(shapes, `tile ${row}`);
    canvas.data.letters[row].text.split("").forEach((_, i) => {
      const at = Number(shapes.get(`letter ${row} ${i}`).element.attributes.x);
      assert.ok(at > x && at < x + w, `letter ${i} of ${row} stands over its piece`);
    });
  });
});

test("1: letters fly from the text to their piece, and are there in the end", () => {
  const { canvas } = draw(STOP.cut);
  const flying = (time) => {
    canvas.player.time = time;
    canvas.draw();
    return Object.keys(drawnTexts(canvas, "picture")).filter((key) => key.startsWith("flying")).length;
  };
  assert.deepEqual([flying(0), flying(1)], [0, 0]);
  assert.ok(flying(0.4) > 0);
});

test("1: pieces of one word stand closer than words, and where a text is too long each piece has its letters beside it", () => {
  openPage();
  const typed = [{ text: "un", apart: false }, { text: "seen", apart: false }, { text: "cat", apart: true }];
  const [un, seen, cat] = placeLetters(BOX, typed);
  assert.ok(un.over && seen.x === un.end && cat.x > seen.end);
  const long = placeLetters(BOX, Array(80).fill(typed[1]));
  assert.ok(long.every(({ over, x, next, end }) => !over && x === long[0].x && next > end));
});

test("2: three rows are added and normalized, all on one scale", () => {
  const { texts, shapes } = draw(STOP.lookUp);
  assert.deepEqual([0, 1, 2].map((i) => texts[`number ${i}`]), ["−0.52", "0.29", "0.19"]);
  assert.deepEqual([texts["operation 0"], texts["operation 1"], texts["operation 2"]], ["−0.515", "+ 0.805", "+ (−0.099)"]);
  assert.deepEqual([texts["number 3"], texts["reached 3"], texts.under], ["0.86", "result", "component 6 of each, added, then normalized"]);
  const { rows: [[, , word], [, , position]], sum, normalized } = makeData().stops[STOP.lookUp - 1].worked;
  const { y1, y2 } = shapes.get("leap 3").element.attributes;
  near(box(shapes, "step 0").h / box(shapes, "step 1").h, Math.abs(word / position));
  near(Math.abs(y1 - y2) / box(shapes, "step 1").h, Math.abs((normalized - sum) / position));
});

test("2: a sum that a change put there is no sum of the rows", () => {
  const stops = makeData().stops.map((stop, i) => (i === 1 ? { ...stop, worked: { ...stop.worked, sum: 3, adds_up: false } } : stop));
  const { texts } = draw(STOP.lookUp, {}, { more: { stops } });
  assert.deepEqual([texts["name 3"], texts["number 3"], texts["reached 2"], texts["name 4"]], ["a change", "3.00", undefined, "LayerNorm"]);
});

test("3: query, key and value with their lengths", () => {
  const { texts } = draw(3);
  assert.deepEqual([texts["title query"], texts["title key"], texts["title value"]], ["“the” asks", "“[SEP]” offers", "“[SEP]” hands over"]);
  assert.deepEqual([texts["length query"], texts["length key"], texts["length value"]], ["length 1.44", "length 3.36", "length 2.59"]);
});

test("a token of a window is called by what stands at its place in the text", () => {
  const { texts } = draw(4, { token: 2 }, { more: { window: { start: 1, stop: 5, total: 5 } } });
  assert.deepEqual([texts["caption 0"], texts["caption 1"]], ["“the” asks,", "“cat” offers"]); // the second and the third that were sent
});

test("3: the bars are the numbers of the chosen query, and of the key and value that are compared", () => {
  const { canvas, shapes } = draw(3);
  for (const [part, row] of [["query", 1], ["key", 3], ["value", 3]]) {
    const values = [0, 1, 2, 3].map((column) => canvas.stages.get(part).values[row * 4 + column]);
    const most = Math.max(...values.map(Math.abs));
    const bars = values.map((_, i) => box(shapes, `${part} ${i}`));
    const longest = Math.max(...bars.map(({ h }) => h));
    values.forEach((value, i) => near(bars[i].h / longest, Math.abs(value) / most, 0.03));
  }
});

test("4: the products land, the largest first, and their sum becomes the score", () => {
  const { canvas, texts } = draw(4);
  assert.equal(texts.outcome, "3.60 / √4 = 1.80");
  assert.deepEqual([texts["product 0"], texts["product 2"], texts["product 4"]], ["−0.949", "−1.617", "1.53"]);
  assert.deepEqual([texts["sum number"], texts.landed], ["3.60", "component 0 · the largest in size"]);
  assert.deepEqual([texts["caption 0"], texts["caption 1"]], ["“the” asks,", "“[SEP]” offers"]);
  canvas.player.time = 0.5;
  canvas.draw();
  const half = drawnTexts(canvas, "picture");
  assert.deepEqual([half["sum number"], half.landed], ["3.05", "component 2 · 2 of 4"]); // 0.56 of four products
});

test("5: scores become powers of e and shares", () => {
  const { texts } = draw(5);
  assert.deepEqual([0, 1, 2, 3].map((i) => [texts[`name ${i}`], texts[`score ${i}`], texts[`term ${i}`]]), [
    ["[CLS]", "1.32", "0.619"], ["the", "1.66", "0.868"], ["cat", "1.33", "0.621"], ["[SEP]", "1.80", "1.000"],
  ]);
  assert.deepEqual([texts.total, texts["share 3"], texts["share 0"]], ["Σ 3.11", "[SEP] 32\u00a0%", "[CLS] 20\u00a0%"]);
  assert.equal(texts["others name"], undefined);
});

test("5: what lies out of sight has the shares of its rows, and of the tokens that were not sent", () => {
  const { worked } = makeData().stops[4];
  const stops = makeData().stops.map((stop, i) => (i === 4 ? { ...stop, worked: { ...worked, others: 0.25 } } : stop));
  const rest = (height) => {
    const { canvas: { frame }, shapes } = draw(5, {}, { height, more: { stops } });
    const hidden = worked.shares.filter((_, i) => i < frame.first || i >= frame.first + frame.count);
    near((box(shapes, "others").h + 1.5) / (frame.row * frame.count), hidden.reduce((all, share) => all + share, 0.25));
    return hidden.length;
  };
  assert.deepEqual([rest(720), rest(161)], [0, 2]);
});

test("5: every share is told at its block, none across another", () => {
  const { canvas, shapes } = draw(5);
  canvas.data.stops[4].worked.shares.forEach((_, i) => {
    const [, from, to] = /^M\S+ (\S+)L\S+ (\S+)$/.exec(shapes.get(`to ${i}`).element.attributes.d).map(Number);
    const { y, h } = box(shapes, `flying ${i}`);
    near(from, y + h / 2, 1);
    assert.ok(to > y && to < y + h, `the label of share ${i}, at ${to}, is beside its block from ${y} to ${y + h}`);
  });
});

test("5: the shares tile their stack from the top, each as high as it is large", () => {
  const { canvas, shapes } = draw(5);
  const { shares } = canvas.data.stops[4].worked;
  const tops = shares.map((_, i) => box(shapes, `flying ${i}`).y);
  const high = (tops[3] - tops[0]) / (shares[0] + shares[1] + shares[2]);
  [0, 1, 2].forEach((i) => near((tops[i + 1] - tops[i]) / high, shares[i]));
});

test("6: shares times values, added from row to row", () => {
  const { canvas, texts } = draw(6);
  assert.equal(texts["sum number"], "Σ −1.76");
  assert.deepEqual([texts["value 3"], texts["share of 3"]], ["−0.583", "0.3218"]);
  const factor = canvas.stages.get("head.value").values[3 * 4 + 1];
  assert.equal(texts["factor 3"].replace("−", "-"), factor.toFixed(4));
});

test("6: what lies out of sight is told with what the tokens that were not sent bring", () => {
  const { worked } = makeData().stops[5];
  const stops = makeData().stops.map((stop, i) => (i === 5 ? { ...stop, worked: { ...worked, others: 0.25 } } : stop));
  const rest = (height) => {
    const { canvas: { frame }, texts } = draw(6, {}, { height, more: { stops } });
    const hidden = worked.values.filter((_, i) => i < frame.first || i >= frame.first + frame.count);
    const told = /out of sight: ([−\d.]+)/.exec(texts.under)[1];
    near(Number(told.replace("−", "-")), hidden.reduce((all, value) => all + value, 0.25), 0.001);
    return hidden.length;
  };
  assert.deepEqual([rest(720), rest(161)], [0, 2]);
  assert.ok(!/out of sight/.test(draw(6).texts.under));
});

test("7: each head's products are summed up, and the bias", () => {
  const { texts, shapes } = draw(STOP.join);
  const { vector, weights, parts, product, bias, value, width, heads, term } = makeData().stops[STOP.join - 1].worked;
  parts.forEach((part, head) => {
    const products = vector.map((number, i) => number * weights[i]).slice(head * width, (head + 1) * width);
    near(products.reduce((all, each) => all + each, 0), part, 1e-3);
    near(Number(texts[`brought ${head}`].replace("−", "-")), part, 0.01);
  });
  near(parts.reduce((all, each) => all + each, 0), product, 1e-6);
  near(product + bias, value, 1e-4);
  const bars = parts.map((_, i) => box(shapes, `landing ${i}`));
  near(bars[1].h / bars[0].h, Math.abs(parts[1] / parts[0]), 0.05);
  bars.forEach(({ x }, head) => assert.equal(x, box(shapes, `heads ${head * width}`).x)); // each under its own numbers
  assert.equal([...shapes.keys()].filter((key) => /^column \d+$/.test(key)).length, heads * width);
  const [one, other, made] = [0, 2, 4].map((i) => Number(texts[`product ${i}`].replace("−", "-")));
  near(one * other, made, 1e-2);
  near(box(shapes, "ringed heads").x + 1.5, box(shapes, `heads ${term[0]}`).x, 0.1);
  assert.match(texts.outcome, / = /);
});

test("7: the frame is around the chosen head's numbers and their weights", () => {
  for (const head of [0, 1]) {
    const stops = makeData().stops.map((stop, i) => (i === STOP.join - 1 ? { ...stop, worked: { ...stop.worked, head } } : stop));
    const { shapes } = draw(STOP.join, {}, { more: { stops } });
    const { heads, width } = stops[STOP.join - 1].worked;
    for (const row of ["heads", "column"]) {
      const frame = box(shapes, `framed ${row}`), middle = (i) => box(shapes, `${row} ${i}`).x + box(shapes, `${row} ${i}`).w / 2;
      const inside = Array.from({ length: heads * width }, (_, i) => i).filter((i) => middle(i) > frame.x && middle(i) < frame.x + frame.w);
      assert.deepEqual(inside, Array.from({ length: width }, (_, i) => head * width + i));
    }
  }
});

test("7: what a change puts in place of the sum is not called its outcome", () => {
  const stops = makeData().stops.map((stop, i) => (i === 6 ? { ...stop, worked: { ...stop.worked, value: 9, adds_up: false } } : stop));
  assert.match(draw(STOP.join, {}, { more: { stops } }).texts.outcome, / ≠ 9\.0/);
});

test("7: heads come about one after the other, and on a phone the chosen one has its number", () => {
  const { canvas } = draw(STOP.join);
  canvas.player.time = 0.2;
  canvas.draw();
  assert.ok(!("brought 0" in drawnTexts(canvas, "picture")));
  const { texts } = draw(STOP.join, {}, { width: 390, height: 420, page: { innerWidth: 390 } });
  assert.ok("brought 0" in texts && "outcome" in texts);
});

test("the same component is spoken of at every stop", () => {
  const { stops, size } = makeData();
  const worked = Object.fromEntries(Object.entries(STOP).map(([name, stop]) => [name, stops[stop - 1].worked]));
  const said = [worked.lookUp.component, worked.collect.hidden, worked.join.component, worked.add.component, worked.neurons.onwards.component, worked.word.component];
  assert.deepEqual(new Set(said).size, 1);
  assert.equal(worked.join.term[0], makeData().place.head * size.head_width + worked.collect.component);
  near(worked.add.added, worked.join.value, 1e-6);
  near(worked.neurons.onwards.skip, worked.add.value, 1e-6);
  const spoken = Object.values(STOP).map((stop) => [...draw(stop).shapes].flatMap(([, { attributes }]) => attributes["data-spoken"] ?? []));
  assert.deepEqual(spoken, [
    [], ["embedding"], ["output.0"], [], [], [], ["added"], ["output.0", "added", "sum", "norm"], ["norm", "sum2", "output.1"], ["output.1"],
  ]);
});

test("8: a quotient and a result that a change put there come after what the steps give", () => {
  const put = (more) => {
    const stops = makeData().stops.map((stop, i) => (i === 7 ? { ...stop, worked: { ...stop.worked, ...more } } : stop));
    return draw(8, {}, { more: { stops } }).texts;
  };
  const names = (texts) => [1, 2, 3, 4, 5, 6].map((i) => texts[`name ${i}`]);
  const { centered, deviation, scaled, beta } = makeData().stops[7].worked;
  const divided = put({ normal_put: true, normal: 3 });
  assert.deepEqual(names(divided), ["attention", "mean", "σ", "a change", "γ", "β"]);
  assert.deepEqual([divided["number 3"].replace("−", "-"), divided["number 4"]], [(centered / deviation).toFixed(4), "3.0000"]);
  const result = put({ put: true, value: 7 });
  assert.deepEqual(names(result), ["attention", "mean", "σ", "γ", "β", "a change"]);
  assert.deepEqual([result["number 5"].replace("−", "-"), result["number 6"]], [(scaled + beta).toFixed(4), "7.0000"]);
  assert.deepEqual([result["reached 5"], result["reached 6"]], [undefined, "result"]);
  for (const { under } of [divided, result]) assert.match(under, /added, changed, then normalized/);
});

test("8: what was there and what was found, added and normalized", () => {
  const { texts } = draw(8);
  assert.deepEqual([0, 1, 2, 3, 4, 5].map((i) => texts[`number ${i}`]), ["−1.3159", "−2.9984", "−2.7865", "−1.9370", "−2.9735", "−2.4175"]);
  assert.deepEqual([1, 2, 3, 4, 5].map((i) => texts[`name ${i}`]), ["attention", "mean", "σ", "γ", "β"]);
  assert.deepEqual([texts["caption 0"], texts["caption 1"], texts["caption 2"]], ["What was there", "+", "what was found"]);
  const stops = makeData().stops.map((stop, i) => (i === 7 ? { ...stop, worked: { ...stop.worked, residual: false, adds_up: false } } : stop));
  const changed = draw(8, {}, { more: { stops } }).texts;
  assert.deepEqual([changed["caption 0"], changed["name 1"]], ["Only", "a change"]);
  assert.match(changed.under, /without the residual, changed, then normalized/);
});

test("8: without what was there, what was found is added to nothing, changed or not", () => {
  const start = (more) => {
    const stops = makeData().stops.map((stop, i) => (i === 7 ? { ...stop, worked: { ...stop.worked, ...more } } : stop));
    const { shapes, texts } = draw(8, {}, { more: { stops } });
    return [texts["name 0"], box(shapes, "step 0"), texts["number 0"].replace("−", "-")];
  };
  const { added } = makeData().stops[7].worked;
  for (const whole of [true, false]) {
    const [name, { h }, reached] = start({ residual: false, adds_up: whole, sum: added });
    assert.deepEqual([name, reached, h > 3], ["attention", added.toFixed(4), true]);
  }
});

test("8: what multiplies has other digits than what is added", () => {
  const digits = { total: 4, terms: 1, factors: 3, exact: true };
  const stops = makeData().stops.map((stop, i) => (i === 7 ? { ...stop, worked: { ...stop.worked, digits } } : stop));
  const { texts } = draw(8, {}, { more: { stops } });
  assert.deepEqual([1, 2, 3, 4, 5].map((i) => texts[`operation ${i}`]), ["+ (−1.7)", "− (−0.2)", "÷ 1.439", "× 1.535", "+ 0.6"]);
});

test("9: the strongest neurons, and those that are damped or shut off", () => {
  const { texts } = draw(9);
  assert.deepEqual([texts["caption 0"], texts["caption 1"]], ["6 of 16 neurons", "are above 0"]);
  assert.deepEqual([texts["neuron 0"], texts["in 0"], texts["out 0"]], ["13", "2.91", "2.90"]);
  assert.match(texts.under, /^GELU at “the”/);
  const neurons = [[5, 3, 3], [6, 2, 2]];
  assert.deepEqual(listNeurons(neurons, true, [6, 2, 2], [9, -1, 0]).map(({ role }) => role), ["strongest", "", "shut off"]);
  assert.deepEqual(listNeurons(neurons, false, [7, 1, 0.8], null).map(({ role }) => role), ["", "", "damped"]);
  assert.ok(placeNeurons({ x: 0, y: 0, w: 400, h: 400 }, 6).list.y > 100); // below the curve
  assert.ok(placeNeurons({ x: 0, y: 0, w: 800, h: 400 }, 6).list.x > 432); // beside it
});

test("9: what all neurons write into the component, unless a change decides it", () => {
  const number = (text) => Number(text.replace("−", "-"));
  const { texts } = draw(STOP.neurons);
  const { skip, written, sum, value } = makeData().stops[STOP.neurons - 1].worked.onwards;
  const [from, more, added, normalized] = texts.outcome.match(/−?[\d.]+/g).map(number);
  [[from, skip], [more, written], [added, sum], [normalized, value]].forEach(([told, real]) => near(Math.abs(told), Math.abs(real), 0.01));
  const stops = makeData().stops.map((stop, i) => (
    i === 8 ? { ...stop, worked: { ...stop.worked, onwards: { ...stop.worked.onwards, whole: false } } } : stop
  ));
  assert.equal(draw(STOP.neurons, {}, { more: { stops } }).texts.outcome, undefined);
});

test("9: neurons that all write negative numbers have bars of their sizes, too", () => {
  const strongest = [[3, -0.5, -0.16], [5, -1, -0.15], [7, -2, -0.04]];
  const stops = makeData().stops.map((stop, i) => (
    i === 8 ? { ...stop, worked: { ...stop.worked, strongest, damped: null, shut: null } } : stop
  ));
  const { shapes } = draw(9, {}, { more: { stops } });
  const wide = [0, 1, 2].map((i) => box(shapes, `fired ${i}`).w);
  near(wide[1] / wide[0], 0.15 / 0.16);
  near(wide[2] / wide[0], 0.04 / 0.16);
});

test("10: the logit of the best word, and the shares of all", () => {
  const { texts } = draw(10);
  assert.equal(texts.outcome, "3.43 + 0.23 = 3.66");
  assert.deepEqual([texts["name 0"], texts["score 0"], texts["term 0"], texts["share 0"]], ["c", "3.66", "1.000", "c 15\u00a0%"]);
  assert.equal(texts["others name"], "93 others"); // of 101, 8 of them listed
  const stops = makeData().stops.map((stop, i) => (i === 9 ? { ...stop, worked: { width: 8, component: 3, value: -2.5 } } : stop));
  assert.match(draw(10, {}, { more: { stops } }).texts.under, /the layers end with 8 numbers for each piece; component 3: −2\.5000/);
});
