// What the canvas says around the picture and in it: titles, notes, names of cells, what is marked.

import assert from "node:assert/strict";
import { test } from "node:test";

import { rowMiddle } from "../../bertviz_core/ui/components/canvas/cells.js";
import { escapeHtml, writeButton } from "../../bertviz_core/ui/components/canvas/html.js";
import { fit, measure } from "../../bertviz_core/ui/components/canvas/letters.js";
import { ribbon } from "../../bertviz_core/ui/components/canvas/sketch.js";
import { describe, nameCell, tellPart } from "../../bertviz_core/ui/components/canvas/told.js";
import { cardBox } from "../../bertviz_core/ui/components/canvas/words.js";
import { openPage } from "./page.js";
import { drawnTexts, makeData, openCanvas, settle } from "./scene.js";

const text = (html) => html.replace(/<[^>]*>/g, "");
const shapes = (canvas, layer) => Object.fromEntries([...canvas.sketches[layer].shown].map(
  ([key, { element }]) => [key, element.attributes]
));

test("a cell is named by its layer, head, token and key or component", () => {
  const { canvas } = openCanvas();
  const name = (id, where) => nameCell(canvas, canvas.stages.get(id), where);
  assert.equal(name("weights", { row: 1, key: 2, head: 1 }), "Attention weights: layer 1, head 1, “the” on “cat”");
  assert.equal(name("neurons.0", { row: 2, column: 0 }), "Neurons: layer 0, “cat”, neuron 1");
  assert.equal(name("embedding", { row: 0, column: 5 }), "Embedding: “[CLS]”, component 5");
});

test("the crumbs lead back up, and let go of what is chosen", () => {
  const crumbs = (place, ...more) => {
    const { canvas } = openCanvas(place, ...more);
    return [text(canvas.chrome.crumbs.innerHTML), [...canvas.chrome.crumbs.innerHTML.matchAll(/data-does="(.*?)"/g)].map(([, does]) => does)];
  };
  assert.deepEqual(crumbs({}), ["The whole pass", []]);
  assert.deepEqual(crumbs({ level: "head", component: 3 }), [
    "The whole pass›Layer 1›Head 0componentcomp. 3 ×", ["level:pass", "level:layer", "component"],
  ]);
  assert.deepEqual(crumbs({ level: "layer", strip: "sum" }), [
    "The whole pass›Layer 1›Residual sum", ["level:pass", "level:layer"],
  ]);
  assert.deepEqual(crumbs({ stop: 2 }), ["The whole pass›stop 2 of 10", ["level:pass"]]);
});

test("a stop inside of a layer says which of the layers that is", () => {
  const title = (place, more) => openCanvas(place, { more }).canvas.chrome.title.innerHTML;
  for (const [i, { level }] of makeData().stops.entries()) {
    const html = title({ stop: i + 1, level });
    assert.equal(/bvc-layers/.test(html), level !== "pass", `stop ${i + 1}`);
  }
  const boxes = (html) => [...html.matchAll(/<i( class="bvc-here")?><\/i>/g)].map(([, here]) => Boolean(here));
  assert.deepEqual(boxes(title({ stop: 4, level: "head", layer: 1 })), [false, true]);
  assert.match(text(title({ stop: 4, level: "head", layer: 1 })), /layer 1; the same happens in each of the 2 layers/);
  assert.equal(boxes(title({ stop: 4, level: "head", layer: 1 }, { size: { ...makeData().size, layers: 24 } })).length, 24);
});

test("the headline answers: what a head looks at, what a layer does", () => {
  const title = (place, more = {}) => text(openCanvas(place, { more }).canvas.chrome.title.innerHTML);
  assert.equal(title({ level: "head" }), "Head 0 of layer 1: “the” looks at “[SEP]” with 32\u00a0%");
  assert.equal(title({ level: "head" }, { most: { ...makeData().most, share: 0, nowhere: true } }),
    "Head 0 of layer 1: “the” looks nowhere, all its attention weights are 0");
  for (const share of [0, -0.5]) {
    assert.equal(title({ level: "head" }, { most: { ...makeData().most, share } }),
      "Head 0 of layer 1: “the” has no attention weight above 0");
  }
  assert.equal(title({ level: "head" }, { face: "difference" }), "Head 0 of layer 1: how its attention weights changed");
  assert.equal(title({ level: "layer" }),
    "In layer 1 everyEvery token looks around, adds what it found, then thinks for itself");
  assert.equal(title({ level: "layer", strip: "neurons" }), "All 16 numbers of each token");
  assert.equal(title({ stop: 2 }), "Look up and add");
  const alone = makeData().stages.map((stage) => (stage.id === "sum" ? { ...stage, reads: ["one"] } : stage));
  assert.match(title({ level: "layer" }, { stages: alone }), /keeps only what it found/);
});

test("a head that was not announced says itself what it looks at", () => {
  const { canvas } = openCanvas({ level: "head", token: 2 }, { more: { most: { ...makeData().most, text: "announced" } } });
  const weights = canvas.data.tokens.map((_, key) => canvas.stages.get("head.weights").values[2 * 4 + key]);
  const key = weights.indexOf(Math.max(...weights));
  assert.match(text(canvas.chrome.title.innerHTML), new RegExp(`“cat” looks at “\\${canvas.data.tokens[key].text}” with`));
});

test("of a head only what was sent whole says what it looks at", () => {
  const title = (window, token) => text(openCanvas({ level: "head", token }, { more: { window } }).canvas.chrome.title.innerHTML);
  for (const window of [{ start: 0, stop: 4, total: 5 }, { start: 1, stop: 5, total: 5 }]) assert.equal(title(window, 2), "Head 0 of layer 1");
  assert.match(title({ start: 0, stop: 4, total: 4 }, 2), /looks at/);
  assert.match(title({ start: 0, stop: 4, total: 5 }, 1), /looks at “\[SEP\]” with 32/); // as the server announced it
});

test("a stop's legend has the scale of each stage that its picture compares", () => {
  const scales = (place) => Object.entries(drawnTexts(openCanvas(place).canvas, "legend")).filter(([key]) => key.startsWith("of ")).map(
    ([, name]) => name
  );
  assert.deepEqual(scales({ stop: 3, level: "layer", layer: 1 }), ["layer input", "Q", "K", "V"]);
  assert.equal(scales({ stop: 3, level: "layer", layer: 0 })[0], "layer input");
});

test("what passes around leaves behind what is read, and comes back where it is added", () => {
  const { canvas } = openCanvas({ level: "layer", layer: 1 });
  const { parts } = canvas.frame;
  const between = (x, left, right) => assert.ok(parts[left].x + parts[left].w <= x && x <= parts[right].x, `${x}: not between ${left} and ${right}`);
  const ends = (name) => /^M(\S+) \S+H?.*H(\S+?)q/.exec(shapes(canvas, "lanes")[`lane ${name}`].d).slice(1).map(Number);
  const [first, last] = ends("first");
  between(first, "output.0", "query");
  between(last + 6, "context", "sum");
  const [start, end] = ends("second");
  between(start, "norm", "neurons.1");
  between(end + 6, "neurons.1", "sum2");
});

test("the card of a token's words begins at its row and stays between the first row and the last", () => {
  for (const height of [720, 330, 161]) {
    for (const token of [0, 1, 2, 3]) {
      const { canvas } = openCanvas({ token }, { height });
      const { frame } = canvas;
      const { y, h } = cardBox(canvas);
      const [top, bottom] = [frame.top, frame.top + frame.row * frame.count];
      const own = rowMiddle(frame, canvas.at);
      assert.ok(y === top || (y > top && y + h <= bottom + 0.01), `${height}, token ${token}: from ${y} to ${y + h} of ${top} to ${bottom}`);
      assert.ok(y <= own && (own <= y + h || y + h >= bottom), "it stands beside its row");
    }
  }
});

test("the card takes the place of the words of its rows: nothing is printed twice, and the first bar is the longest", () => {
  const { canvas } = openCanvas({ token: 0 }, { height: 720 });
  const [texts, drawn, { y, h, x, w }] = [drawnTexts(canvas, "words"), shapes(canvas, "words"), cardBox(canvas)];
  for (const row of [0, 1, 2, 3]) {
    const middle = rowMiddle(canvas.frame, row);
    assert.equal(`word ${row}` in texts, middle < y - 9 || middle > y + h + 9, `row ${row}`);
  }
  assert.deepEqual([x, w], [canvas.frame.parts.words.x, canvas.frame.parts.words.w]);
  const [first, second] = [0, 1].map((i) => Number(drawn[`bar ${i}`].width));
  const { best } = canvas.data.words;
  assert.ok(first > 30 && Math.abs(second / first - best[1].share / best[0].share) < 0.05, `${first} ${second}`);
});

test("other sentences are offered, and the one that is seen is not", () => {
  const { canvas, sent } = openCanvas({}, { more: { sentence: "When in Rome, do as the [MASK] do." } });
  const html = canvas.chrome.actions.innerHTML;
  assert.deepEqual([...html.matchAll(/data-does="(example:\d)"/g)].map(([, does]) => does), ["example:1", "example:2", "example:3"]);
  canvas.chrome.click({ target: { closest: () => ({ dataset: { does: "example:1" } }) } });
  const { text: words, pair } = canvas.data.examples[1];
  assert.deepEqual(sent, [["example", { text: words, pair }]]);
});

test("buttons say what they do, and hold no foreign HTML", () => {
  assert.equal(escapeHtml('<a href="x">&'), "&lt;a href=&quot;x&quot;&gt;&amp;");
  assert.equal(writeButton("stop:1", "one", "x"), '<button type="button" data-does="stop:1" x>one</button>');
  const { canvas } = openCanvas();
  const press = (does) => canvas.chrome.click({ target: { closest: () => ({ dataset: { does } }) } });
  press("level:layer");
  assert.equal(canvas.place.level, "layer");
  press("head:1");
  assert.equal(canvas.place.head, 1);
  press("stop:3");
  assert.equal(canvas.place.stop, 3);
  press("end:");
  assert.equal(canvas.place.stop, 0);
  press("up:");
  assert.equal(canvas.place.level, "pass");
  press("quiet:");
  assert.deepEqual([canvas.quiet, canvas.chrome.quiet.attributes["aria-checked"]], [true, "true"]);
});

test("what is said of what is pointed at holds no HTML of the sentence", () => {
  const tokens = makeData().tokens.map((token) => ({ ...token, text: `<i>${token.text}` }));
  const { canvas } = openCanvas({}, { more: { tokens } });
  for (const target of [{ part: "ribbons.1", layer: 1, where: { row: 2 } }, { part: "words", where: { row: 2 }, word: 0 }]) {
    const said = tellPart(canvas, target);
    assert.match(said, /&lt;i&gt;cat/);
    assert.doesNotMatch(said, /<i>/);
  }
});

test("words that are as likely are said to tie, and none of them stands out", () => {
  const { words } = makeData();
  const show = (tied, shares, place = {}) => {
    const best = words.best.map((each, i) => ({ ...each, word: `w${i}`, share: shares[i] }));
    const top = words.top.map((each, i) => ({ ...each, tied: i === 0 ? tied : 1 }));
    const { canvas } = openCanvas(place, { more: { words: { top, best, tied } } });
    return [canvas, drawnTexts(canvas, "words"), shapes(canvas, "words")];
  };
  const bold = (drawn) => words.best.map((_, i) => drawn[`best ${i}`]["font-weight"]);
  const [tied, said, drawn] = show(1042, [0, 0, 0, 0, 0]);
  assert.deepEqual([said["words sub"], said["word 0"]], ["1,042 words tie at “the”", "1,042 tie"]);
  assert.equal(new Set(bold(drawn)).size, 1);
  assert.match(describe(tied, { part: "words", where: { row: 0 } }), /: 1,042 words tie at 16/);
  const [alone, clear, others] = show(1, [0.5, 0.2, 0.2, 0, 0]);
  assert.deepEqual([clear["words sub"], clear["word 0"]], ["the likeliest at each token", "c"]);
  assert.deepEqual(bold(others).map((weight) => weight === bold(others)[0]), [true, false, false, false, false]);
  assert.match(describe(alone, { part: "words", where: { row: 1 } }), /^the: c 15/);
});

test("what is not drawn of special tokens is their share", () => {
  const { canvas } = openCanvas();
  const ribbons = () => Object.keys(shapes(canvas, "ribbons")).filter((key) => /^ribbons\.1 \d$/.test(key));
  assert.deepEqual(ribbons(), ["ribbons.1 0", "ribbons.1 1", "ribbons.1 2", "ribbons.1 3"]);
  canvas.chrome.hush();
  assert.deepEqual(ribbons(), ["ribbons.1 1", "ribbons.1 2"]);
  const [first, , , last] = canvas.stages.get("ribbons.1").values;
  const share = (100 * (first + last)).toFixed(0);
  assert.equal(drawnTexts(canvas, "legend")["note 1"], `Without special tokens: ${share}\u00a0% of layer 1 is not drawn.`);
});

test("a ribbon is the mean of as many heads as a layer has", () => {
  const { canvas } = openCanvas({}, { more: { size: { ...makeData().size, heads: 5 } } });
  assert.match(Object.values(drawnTexts(canvas, "legend")).join("\n"), /Ribbons: attention of “the”, mean of 5 heads, opacity/);
});

test("what goes to rows out of sight is told whole, above them and below", () => {
  const outside = { ...makeData().outside, 1: { before: 0.125, after: 0.25 } };
  const { canvas } = openCanvas({ token: 0 }, { height: 161, more: { outside } });
  const stubs = () => ["above", "below"].map((side) => Number(shapes(canvas, "ribbons")[`ribbons.1 ${side}`]["data-outside"]));
  const weights = canvas.stages.get("ribbons.1").values;
  assert.equal(canvas.frame.count, 2);
  assert.deepEqual(stubs(), [0.125, 0.25 + weights[2] + weights[3]]);
  canvas.stage.send("wheel", { deltaX: 0, deltaY: canvas.frame.row });
  assert.deepEqual(stubs(), [0.125 + weights[0], 0.25 + weights[3]]);
});

test("a ribbon says which weight it is, of which layer and key", () => {
  const { canvas } = openCanvas();
  const { "ribbons.1 2": shape } = shapes(canvas, "ribbons");
  const weight = canvas.stages.get("ribbons.1").values[2];
  assert.deepEqual([shape["data-weight"], shape["data-layer"], shape["data-key"]], [String(weight), "1", "2"]);
  assert.equal(shape["fill-opacity"], String(weight));
  assert.equal(drawnTexts(canvas, "ribbons")["ribbons.1 share 2"], `${(100 * weight).toFixed(0)}\u00a0%`);
  assert.equal(ribbon(0, 100, 20, { y: 10, h: 4 }, { y: 50, h: 8 }),
    "M0 8H20C53.6 8 60 46 100 46L100 54C60 54 53.6 12 20 12H0Z");
});

test("the scales have their ends, each with its sign", () => {
  const { canvas } = openCanvas({ level: "head" });
  const texts = drawnTexts(canvas, "legend");
  assert.deepEqual([texts["low attention weight"], texts["high attention weight"]], ["0", "1.00"]);
  assert.deepEqual([texts["low Q"], texts["high Q"]], ["−2.50", "+2.50"]);
  assert.match(texts["note 1"], /Row “the”: what it asks, and what it is answered\./);
});

test("titles are as long as there is room for", () => {
  const titles = (place, wide) => drawnTexts(openCanvas(place, wide).canvas, "titles");
  assert.equal(titles({})["layer 1"], "Layer 1");
  const head = titles({ level: "head" });
  assert.deepEqual([head["title query 0"], head["title matrix 0"], head["key 2"]], ["Q · asks", "Attention weights", "cat"]);
  const layer = titles({ level: "layer" });
  const found = ["title output.0 0", "title output.0 1", "title weights 0", "head 1", "spine embedding"].map((key) => layer[key]);
  assert.deepEqual(found, ["Layer", "input", "Attention weights, 2 heads", "head 1", "embedding"]);
});

test("a text is as wide as its letters, and cut where there is no room", () => {
  openPage();
  assert.equal(measure("four", 12), 24);
  assert.equal(fit("four letters", 12, 72), "four letters");
  assert.equal(fit("four letters", 12, 36), "four …");
  assert.equal(fit("four letters", 12, 1), "f…");
});

test("the explained cell is ringed, its operands are outlined, all else is dimmed", () => {
  const cell = "encoder.layer.1.attention.self.probs[head=0,query=1,key=3]";
  const operands = [0, 1, 2, 3].map((key) => `encoder.layer.1.attention.self.scores[head=0,query=1,key=${key}]`);
  const { canvas } = openCanvas({ level: "head" }, { more: { cell, operands } });
  const marks = shapes(canvas, "marks");
  assert.equal(marks["cell matrix"]["data-ring"], cell);
  const { x, w } = canvas.frame.parts.matrix;
  assert.equal(Number(marks["cell matrix"].x), Math.round((x + 0.75 * w - 1.5) * 10) / 10);
  assert.deepEqual(canvas.lights, [
    { part: "matrix", row: 1, key: 3 }, { part: "query", row: 1 }, { part: "key", row: 3 }, { part: "matrix", row: 1 },
  ]);
  assert.deepEqual([canvas.fade("query"), canvas.fade("value")], [1, 0.7]);
  assert.ok("operand 0" in marks && "operand 1" in marks);
  const below = marks["cell matrix"]; // the key's row is below: the wire comes up to the cell
  const [, from, to] = /^M[\d.]+ ([\d.]+)H[\d.]+V([\d.]+)$/.exec(marks.wire.d).map(Number);
  assert.ok(from > to && Math.abs(to - (Number(below.y) + Number(below.height))) < 4);
});

test("many operands in one row are outlined together", () => {
  const cell = "encoder.layer.1.attention.output.LayerNorm[token=1,hidden=2]";
  const operands = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => `encoder.layer.1.attention.output.residual[token=1,hidden=${i}]`);
  const { canvas } = openCanvas({ level: "layer" }, { more: { cell, operands } });
  assert.deepEqual(canvas.lights.filter(({ part }) => part === "sum"), [{ part: "sum", row: 1 }]);
  const few = openCanvas({ level: "layer" }, { more: { cell, operands: operands.slice(2, 4) } }).canvas;
  assert.deepEqual(few.lights.filter(({ part }) => part === "sum"), [
    { part: "sum", row: 1, column: 2 }, { part: "sum", row: 1, column: 3 },
  ]);
});

test("the chosen component is marked wherever the residual stream is drawn", () => {
  const { canvas } = openCanvas({ component: 3 });
  const marked = Object.keys(shapes(canvas, "marks")).filter((key) => key.startsWith("component"));
  assert.deepEqual(marked, ["component embedding 0", "component output.0 0", "component output.1 0"]);
  const { x } = canvas.frame.parts.embedding;
  assert.equal(shapes(canvas, "marks")["component embedding 0"].x, String(x + 3 * 9 - 1));
});

test("the chosen token's row is a band, and its chip is filled", () => {
  const { canvas } = openCanvas({ token: 2 });
  const chips = shapes(canvas, "tokens");
  assert.equal(chips["chip 2"].fill, "var(--bvc-text)");
  assert.equal(chips["chip 0"]["stroke-dasharray"], "3 3"); // special
  assert.equal(chips["chip 1"].fill, "var(--bvc-surface)");
  assert.equal(Number(chips["chip 2"].y) + Number(chips["chip 2"].height) / 2, rowMiddle(canvas.frame, 2));
});

test("a token's number is its place in the sentence, also where a part of that is shown", () => {
  const tokens = makeData().tokens.map((token, row) => ({ ...token, index: 20 + row }));
  const { canvas } = openCanvas({ token: 21 }, { more: { tokens, window: { start: 20, stop: 24, total: 40 } } });
  const texts = drawnTexts(canvas, "tokens");
  assert.deepEqual([0, 3].map((row) => [texts[`token ${row}`], texts[`index ${row}`]]), [["[CLS]", "20"], ["[SEP]", "23"]]);
});

test("cells have the colours of their numbers", () => {
  const { canvas } = openCanvas();
  const { x } = canvas.frame.parts.embedding;
  const cell = canvas.painter.pen.filled.find(([left, top]) => left === x + 9 && top === 64 + 46 + 3);
  const stage = canvas.stages.get("embedding");
  assert.equal(cell[4], canvas.colors.shade("embedding", stage.values[8 + 1], stage.limit));
  assert.deepEqual(cell.slice(2, 4), [8, 40]);
});

test("what a change has moved is underlined, what it put says so", () => {
  const data = makeData();
  const bytes = new Uint8Array([...Buffer.from(data.bytes, "base64"), ...Array(32).fill(0)]);
  bytes[bytes.length - 32 + 9] = 1;
  const stages = data.stages.map((stage) => (stage.id === "embedding" ? { ...stage, mark: bytes.length - 32, put: bytes.length - 32 } : stage));
  const { canvas } = openCanvas({}, { more: { bytes, stages, changed: true, face: "difference" } });
  const mark = canvas.painter.pen.filled.find(([left, top, , high]) => left === 132 + 9 && high === 2 && top === 64 + 2 * 46 - 3 - 2);
  assert.equal(mark[4], data.colors.text);
  const stage = canvas.stages.get("embedding");
  canvas.chrome.read({ stage, where: { row: 1, column: 1 } });
  assert.match(text(canvas.chrome.readout.innerHTML), /difference.*put there by a change$/);
  assert.match(canvas.chrome.readout.innerHTML, /<span class="bvc-formula"><\/span>/); // no formula made it
  assert.match(drawnTexts(canvas, "legend")["note 1"], /opacity = size of the change/);
});

test("of one head, one neuron and one number the singular is written", () => {
  const data = makeData();
  const one = { ...data.size, heads: 1, neurons: 1 };
  const said = (place, more = {}) => {
    const { canvas } = openCanvas(place, { more: { size: one, ...more } });
    const drawn = ["titles", "legend", "picture"].flatMap((layer) => Object.values(drawnTexts(canvas, layer)));
    return [...drawn, text(canvas.chrome.title.innerHTML), text(canvas.player.line.innerHTML)].join("\n");
  };
  assert.match(said({}), /attention of “the”, the only head, opacity/);
  assert.match(said({ level: "layer" }), /Attention weights, 1 head$/m);
  assert.match(said({ level: "layer", strip: "neurons" }), /^All 1 number of each token/m);
  const fired = (active) => data.stops.map((stop) => (
    stop.worked.active === undefined ? stop : { ...stop, worked: { ...stop.worked, active, total: 16 } }
  ));
  const captions = [1, 2].map((active) => said({ stop: 9, level: "layer" }, { stops: fired(active) }));
  assert.match(captions[0], /1 of 16 neurons\nis above 0/);
  assert.match(captions[1], /2 of 16 neurons\nare above 0/);
  for (const place of [{}, { level: "layer" }, { level: "head" }, { stop: 7, level: "layer" }]) {
    assert.doesNotMatch(said(place), /(?<!layer |head |[\d.,])\b1 (heads|neurons|numbers|minutes)/);
  }
  const { canvas } = openCanvas({}, { more: { size: one } });
  const ribbon = tellPart(canvas, { part: "ribbons.0", layer: 0, where: { row: 1, key: 2 } });
  assert.match(ribbon, /: the only head of layer 0\. Click: /);
});

test("the readout says from how many numbers one is made and what uses it, and of a difference which way it went", () => {
  const read = (id, column, more = {}) => {
    const { canvas } = openCanvas({ level: "layer" }, { more });
    const stage = canvas.stages.get(id);
    canvas.chrome.read({ stage, where: { row: 1, column } });
    return [stage.values[stage.columns.length + column], text(canvas.chrome.readout.innerHTML)];
  };
  assert.match(read("query", 0)[1], /made from 17 numbers · used by 4 numbers$/); // the input, the weights, a bias; 4 keys
  assert.match(read("neurons.1", 0)[1], /made from 1 number · used by 8 numbers$/);
  assert.match(read("output.1", 0)[1], /made from 3 numbers$/);
  for (let column = 0; column < 8; column += 1) {
    const [value, said] = read("embedding", column, { changed: true, face: "difference" });
    assert.equal(said[0], value > 0 ? "+" : "\u2212", said);
    assert.match(read("embedding", column)[1], value > 0 ? /^\d/ : /^\u2212/);
  }
});

test("the residual stream passes around, and is added where the program adds it", () => {
  const { canvas } = openCanvas({ level: "layer" });
  const { parts } = canvas.frame;
  const lanes = shapes(canvas, "lanes");
  assert.ok("lane first" in lanes && "lane second" in lanes && "sum plus 1" in lanes && "sum2 plus 1" in lanes);
  assert.equal(Number(lanes["sum ring 1"].cx), Math.round(((parts.context.x + parts.context.w + parts.sum.x) / 2) * 10) / 10);
  assert.deepEqual([lanes["sum ring 1"].stroke, lanes["sum ring 2"].stroke], ["var(--bvc-text)", "var(--bvc-residual)"]);
  const alone = makeData().stages.map((stage) => (stage.id === "sum" ? { ...stage, reads: ["one"] } : stage));
  const changed = shapes(openCanvas({ level: "layer" }, { more: { stages: alone } }).canvas, "lanes");
  assert.ok(!("lane first" in changed) && "lane second" in changed && !("sum plus 1" in changed));
});

test("a tall window's picture is larger, up to a bound, and ends where the window ends", () => {
  const { canvas } = openCanvas({}, { page: { innerWidth: 1728, innerHeight: 1000 } });
  assert.equal(canvas.scale, 1.2);
  assert.equal(canvas.root.style.height, `${Math.floor(996 / 1.2)}px`);
  const { canvas: huge } = openCanvas({}, { page: { innerWidth: 4000, innerHeight: 3000 } });
  assert.equal(huge.scale, 1.35);
  const { canvas: low } = openCanvas({}, { page: { innerHeight: 300 } });
  assert.deepEqual([low.scale, low.root.style.height], [1, "480px"]);
});

test("a number of the picture can be asked for by its address", () => {
  const { canvas } = openCanvas();
  settle();
  assert.equal(canvas.root.readCell("embeddings.LayerNorm[token=0,hidden=0]"), canvas.stages.get("embedding").values[0]);
  assert.equal(canvas.root.readCell("none[token=0]"), undefined);
});

test("the page's style has the theme's colours, and each kind its own", () => {
  const { canvas } = openCanvas();
  const { colors } = canvas.data;
  for (const name of ["text", "faint", "line", "surface", "accent", "first", "second", "paper"]) {
    assert.equal(canvas.root.style[`--bvc-${name}`], colors[name], name);
  }
  assert.equal(canvas.root.style["--bvc-query"], "#0069A5");
});
