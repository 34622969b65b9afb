// The pictures of the stops inside of one head: ask and offer, compare; and both softmaxes, over keys and over words.

// The chosen token's query, and the key and value of the token that it is compared with, number for number.
function drawOffer(canvas, sketch, box, worked, time) {
  const { at, data } = canvas;
  const { key } = data.stops[3].worked;
  const other = key - data.window.start;
  drawCaption(
    sketch, box, [["Ask", "query"], ["offer", "key"], ["hand over", "value"]],
    "one vector each, number for number; its length stands beside it"
  );
  const rows = [
    ["query", at, `${quote(canvas, canvas.place.token)} asks`], ["key", other, `${quote(canvas, key)} offers`],
    ["value", other, `${quote(canvas, key)} hands over`],
  ];
  const high = (box.h - 70) / 3;
  rows.forEach(([part, row, title], i) => {
    const stage = stageOf(canvas, part);
    const top = box.y + 66 + i * high;
    const shown = within(time, i * 0.25, 0.5 + i * 0.25);
    sketch.text(`title ${part}`, box.x, top + 14, title, {
      size: 14, bold: true, fill: `var(--bvc-${part})`, opacity: shown,
    });
    sketch.text(`length ${part}`, box.x + box.w, top + 14, `length ${writeNumber(worked[part], 2)}`, {
      size: 13, mono: true, at: "end", opacity: shown,
    });
    if (stage && data.tokens[row]) {
      drawVector(
        canvas, sketch, part, { x: box.x, y: top + 22, w: box.w, h: high - 34 }, stage, row, shown
      );
    }
  });
}

// A row of a stage as bars up and down from zero.
function drawVector({ colors }, sketch, name, { x, y, w, h }, stage, row, shown) {
  const width = w / stage.columns.length;
  const values = stage.columns.map((_, column) => readValue(stage, { row, column }));
  const most = Math.max(...values.map(Math.abs), 1e-9);
  const zero = y + h / 2;
  sketch.line(`zero ${name}`, x, zero, x + w, zero, { stroke: "var(--bvc-line)" });
  values.forEach((value, i) => {
    const high = (Math.abs(value) / most) * (h / 2) * shown;
    const bar = { x: x + i * width, y: value < 0 ? zero : zero - high, w: Math.max(0.5, width - 1.5) };
    sketch.box(`${name} ${i}`, { ...bar, h: Math.max(0.5, high) }, {
      rx: 1, fill: value < 0 ? colors.negative : colors.cell(stage.kind), "fill-opacity": value < 0 ? 0.8 : 1,
    });
  });
}

// The products of a query and a key land, the largest first, and the sum runs along.
function drawCompare(canvas, sketch, box, worked, time) {
  const { terms, key } = worked;
  const asking = [[`${quote(canvas, canvas.place.token)} asks,`, "query"], [`${quote(canvas, key)} offers`, "key"]];
  drawCaption(sketch, box, asking, `${terms.length} products, largest first; the sum runs along`);
  const landed = Math.min(terms.length, Math.round(time * 1.12 * terms.length));
  const ends = runSums(terms.map((term) => term[3]));
  const [top, bottom] = [box.y + 96, box.y + box.h - 62];
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  const y = (value) => top + ((high - value) / (high - low || 1)) * (bottom - top);
  const wide = Math.min(44, box.w * 0.12);
  const pitch = (box.w - wide - 12) / terms.length;
  sketch.line("zero", box.x, y(0), box.x + box.w, y(0), { stroke: FAINT, "stroke-opacity": 0.5 });
  ends.forEach((end, i) => {
    const term = {
      below: terms[i][3] < 0, start: i ? ends[i - 1] : 0, end, last: i === landed - 1 && landed < terms.length,
    };
    drawTerm(canvas, sketch, i, { ...term, x: box.x + i * pitch, w: Math.max(1, pitch - 2), y, landed, bottom });
  });
  const run = landed ? ends[landed - 1] : 0;
  drawRunning(sketch, { x: box.x + box.w - wide, wide, y, run, from: box.x + landed * pitch });
  drawProduct(sketch, box, terms, landed);
  drawScore(sketch, box, worked, within(time, 0.9, 1));
  const component = landed < terms.length ? terms[landed - 1]?.[0] : undefined;
  if (landed) markOperands(canvas, sketch, key - canvas.data.window.start, component);
}

// The sum becomes the score.
function drawScore(sketch, { x, y, w, h }, { sum, scale, score }, opacity) {
  const words = `${writeNumber(sum, 2)} / √${Math.round(scale ** 2)} = ${writeNumber(score, 2)}`;
  sketch.text("scaled", x, y + h - 20, words, { size: 17, mono: true, bold: 600, opacity });
  const note = fit("the attention score; the next stop makes shares of the scores", 13, w);
  sketch.text("scaled note", x, y + h - 2, note, { size: 13, fill: FAINT, opacity });
}

function runSums(values) {
  let sum = 0;
  return values.map((value) => (sum += value));
}

function drawTerm({ colors }, sketch, i, { below, start, end, last, x, w, y, landed, bottom }) {
  if (i >= landed) return sketch.box(`term ${i}`, { x, y: bottom + 10, w, h: 3 }, { fill: "var(--bvc-line)" });
  const bar = { x, w, y: Math.min(y(start), y(end)), h: Math.max(1.5, Math.abs(y(start) - y(end))) };
  return sketch.box(`term ${i}`, bar, {
    rx: 1.5, fill: below ? colors.negative : colors.cell("attention"), "fill-opacity": below ? 0.8 : 1,
    stroke: last ? "var(--bvc-text)" : undefined, "stroke-width": 1.5,
  });
}

function drawRunning(sketch, { x, wide, y, run, from }) {
  sketch.line("running", from, y(run), x, y(run), { stroke: "var(--bvc-attention)", "stroke-dasharray": "2 3" });
  sketch.box("sum", { x, y: Math.min(y(0), y(run)), w: wide, h: Math.max(2, Math.abs(y(0) - y(run))) },
    { rx: 3, fill: "var(--bvc-attention)", "fill-opacity": 0.3, stroke: "var(--bvc-attention)", "stroke-width": 1.5 });
  sketch.text("sum number", x + wide / 2, run >= 0 ? y(run) - 7 : y(run) + 17, writeNumber(run, 2), {
    size: 15, mono: true, at: "middle", bold: 600,
  });
}

// The product that lands, in figures.
function drawProduct(sketch, { x, y, w }, terms, landed) {
  if (!landed) return;
  const [component, query, key, product] = terms[landed - 1];
  const parts = [
    [writeNumber(query, 2), "query"], ["·", null], [writeNumber(key, 2), "key"], ["=", null],
    [writeNumber(product, 2), "attention"],
  ];
  let at = x;
  parts.forEach(([text, kind], i) => {
    sketch.text(`product ${i}`, at, y + 70, text, {
      size: 15, mono: true, fill: kind ? `var(--bvc-${kind})` : undefined, bold: i === 4 ? 650 : 400,
    });
    at += measure(text, 15, true) + 9;
  });
  sketch.text("landed", x + w, y + 70, `${w < 400 ? "" : `component ${component} · `}${landed} of ${terms.length}`, {
    size: 13, at: "end", fill: FAINT,
  });
}

// Both factors of the product are ringed where they stand.
function markOperands(canvas, sketch, other, column) {
  const paint = { stroke: "var(--bvc-text)", "stroke-width": 2 };
  ring(canvas, sketch, "score", "matrix", { row: canvas.at, key: other }, paint);
  if (column === undefined) return;
  ring(canvas, sketch, "asked", "query", { row: canvas.at, column }, paint);
  ring(canvas, sketch, "offered", "key", { row: other, column }, paint);
}

// Scores become powers of e, these stack to the denominator and become shares.
function drawDivide(canvas, sketch, box, worked, time) {
  const { frame, data } = canvas;
  const items = worked.of.map((index, i) => ({
    name: data.tokens[i].text, faint: data.tokens[i].special, score: worked.scores[i], term: worked.exponentials[i],
    share: worked.shares[i], y: rowMiddle(frame, i), shown: isSeen(frame, i),
  }));
  drawSoftmax(
    canvas, sketch, box,
    {
      items, others: worked.others, denominator: worked.denominator, kind: "attention", titles: ["key", "score"],
      top: frame.top, high: frame.row * frame.count, row: frame.row,
    },
    time
  );
}

// The last softmax: over the whole vocabulary.
function drawAnswer(canvas, sketch, box, worked, time) {
  if (!worked.words) {
    return drawCaption(
      sketch, box, [["No LM head", "norm"]],
      `the pass ends with ${worked.width} numbers for each piece; the largest is ${writeNumber(worked.value)}`
    );
  }
  const { top, row, count } = canvas.frame;
  const high = row * count;
  const pitch = Math.min(48, high / (worked.words.length + 1));
  const items = worked.words.map(([name, score, term, share], i) => ({
    name, score, term, share, y: top + (i + 0.5) * pitch, shown: true,
  }));
  const others = `${writeCount(worked.total - items.length)} others`;
  drawSoftmax(
    canvas, sketch, box,
    {
      items, others: worked.others, othersName: others, denominator: worked.denominator, kind: "prediction",
      titles: ["word", "logit"], top, high, row: pitch,
    },
    time
  );
  return undefined;
}

function drawSoftmax(canvas, sketch, box, softmax, time) {
  const { items, others, othersName = "outside the rows", top, high, row, kind } = softmax;
  const motion = { grow: within(time, 0, 0.3), fly: within(time, 0.35, 0.75), name: within(time, 0.78, 0.95) };
  const place = placeSoftmax(box);
  const longest = Math.max(20, place.stack - place.bar - 52);
  titleSoftmax(sketch, box, softmax, place, motion, within(time, 0.55, 0.75));
  const at = place.stack + place.wide + 12;
  let [used, free] = [0, top - 20];
  const rest = others > 0.0005 ? [{ name: othersName, share: others, others: true }] : [];
  [...items, ...rest].forEach((item, i) => {
    const [stacked, tall] = [top + used, item.share * high];
    used += tall;
    const power = { item, stacked, tall, place, longest, row, kind, narrow: box.w < 340 };
    if (item.others) drawOthers(sketch, power, motion.fly);
    else if (item.shown) drawPower(sketch, i, power, motion);
    const label = Math.min(top + high - 3, stacked + tall / 2 + 5);
    if (!motion.name || item.share < 0.012 || label <= free + 15) return;
    free = label;
    const style = { size: 13, bold: item.share > 0.1, opacity: motion.name };
    sketch.text(`share ${i}`, at, label, nameShare(item, box.x + box.w - at), style);
  });
}

function titleSoftmax(sketch, { w }, { titles, denominator, top, kind }, place, { name }, stacked) {
  const head = (key, x, text, style) => sketch.text(key, x, top - 10, text, { size: 13, bold: true, ...style });
  if (w >= 340) head("key", place.score - 60, titles[0], { fill: FAINT, at: "end" });
  if (w >= 340) head("score", place.score, titles[1], { fill: FAINT, at: "end" });
  head("powers", place.bar, w < 480 ? "e^(…−max)" : `e^(${titles[1]} − max)`, { fill: `var(--bvc-${kind})` });
  head("total", place.stack, `Σ ${writeNumber(denominator, 2)}`, { opacity: stacked });
  head("share", place.stack + place.wide + 12, "share", { fill: `var(--bvc-${kind})`, opacity: name });
}

// The columns of a softmax, as far as there is room for them.
function placeSoftmax({ x, w }) {
  if (w < 340) return { score: x + 34, bar: x + 42, wide: 42, stack: x + w - 104 };
  if (w < 480) return { score: x + 116, bar: x + 126, wide: 42, stack: x + w - 118 };
  return { score: x + 150, bar: x + 168, wide: 56, stack: x + w - 170 };
}

// Name and share, or the share alone where there is no room for the name.
function nameShare({ name, share, others }, room) {
  const words = `${name} ${writeShare(share)}`;
  if (measure(words, 13, false, 650) <= room) return words;
  return others ? `rest ${writeShare(share)}` : writeShare(share);
}

function drawPower(sketch, i, { item, stacked, tall, place, longest, row, kind, narrow }, { grow, fly }) {
  const fill = `var(--bvc-${kind})`;
  const high = Math.min(26, row - 8);
  const wide = Math.max(1, item.term * longest * grow);
  const up = item.y - high / 2;
  if (!narrow) {
    sketch.text(`name ${i}`, place.score - 60, item.y + 4.5, fit(item.name, 14, 84), {
      size: 14, at: "end", fill: item.faint ? FAINT : undefined,
    });
  }
  sketch.text(`score ${i}`, place.score, item.y + 4.5, writeNumber(item.score, 2), {
    size: 12.5, mono: true, at: "end",
  });
  sketch.box(`power ${i}`, { x: place.bar, y: up, w: wide, h: high }, { rx: 2, fill, "fill-opacity": 0.16 });
  sketch.box(`flying ${i}`, {
    x: mix(place.bar, place.stack, fly), y: mix(up, stacked, fly), w: mix(wide, place.wide, fly),
    h: mix(high, Math.max(0.8, tall - 1.5), fly),
  },
    { rx: 2, fill, "fill-opacity": cut(0.35 + 0.65 * item.share, 3) });
  const number = item.term < 0.0005 ? writeNumber(item.term, 3) : item.term.toFixed(3);
  if (grow > 0.9) {
    sketch.text(`term ${i}`, place.bar + wide + 7, item.y + 4.5, number, {
      size: 12, mono: true, fill: FAINT,
    });
  }
}

// All that is not listed, as one block of the stack.
function drawOthers(sketch, { stacked, tall, place, kind }, fly) {
  sketch.box("others", { x: place.stack, y: stacked, w: place.wide, h: Math.max(0.8, tall - 1.5) }, {
    rx: 2, fill: `var(--bvc-${kind})`, "fill-opacity": 0.14, opacity: cut(fly, 3),
  });
}
