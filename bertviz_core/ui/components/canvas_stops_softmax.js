// The pictures of both softmaxes, over keys and over words; and how the best word came by its logit.

const LABEL = 15; // pixels from a share's label to the next

// Scores become powers of e, these stack to the denominator and become shares.
function drawDivide(canvas, sketch, box, worked, time) {
  const { frame, data } = canvas;
  const rows = worked.of.map((_, i) => i).filter((i) => isSeen(frame, i));
  const items = rows.map((i) => ({
    name: data.tokens[i].text, faint: data.tokens[i].special, score: worked.scores[i], term: worked.exponentials[i],
    share: worked.shares[i], y: rowMiddle(frame, i),
  }));
  const hidden = worked.shares.reduce((all, share, i) => all + (isSeen(frame, i) ? 0 : share), worked.others);
  drawSoftmax(sketch, box, {
    items, others: { name: "out of sight", share: hidden }, denominator: worked.denominator, kind: "attention",
    titles: ["key", "score"], top: frame.top, high: frame.row * frame.count, row: frame.row, digits: worked.digits,
    decimals: 2,
  }, time);
}

// The best word's logit, and the last softmax: over the whole vocabulary.
function drawAnswer(canvas, sketch, box, worked, time) {
  if (!worked.words) return drawEnd(canvas, sketch, box, worked);
  const wide = box.w >= 700;
  const part = wide ? Math.min(390, box.w * 0.4) : box.w;
  drawLogit(canvas, sketch, { ...box, w: part }, worked, wide, time);
  const right = wide ? { ...box, x: box.x + part + 40, w: box.w - part - 40 } : box;
  const top = wide ? canvas.frame.top : box.y + 92;
  const high = canvas.frame.top + canvas.frame.row * canvas.frame.count - top;
  const pitch = Math.min(48, high / (worked.words.length + 1));
  const at = (i) => ({ y: top + (i + 0.5) * pitch });
  const items = worked.words.map(([name, score, term, share], i) => ({ name, score, term, share, ...at(i) }));
  const rest = worked.denominator - items.reduce((all, { term }) => all + term, 0);
  const others = {
    name: `${writeCount(worked.total - items.length)} others`, share: worked.others, term: rest, ...at(items.length),
  };
  return drawSoftmax(sketch, right, {
    items, others, denominator: worked.denominator, kind: "prediction", titles: ["word", "logit"], top, high,
    row: pitch, digits: worked.digits, decimals: worked.logit.digits.total,
  }, wide ? within(time, 0.35, 1) : time);
}

// Without an LM head the pass ends here.
function drawEnd(canvas, sketch, box, { width, component, value }) {
  const words = `the pass ends with ${width} numbers for each piece; the largest, component ${component}: ${
    writeNumber(value)
  }`;
  drawCaption(sketch, box, [["No LM head", "norm"]], words);
  const cell = ringSpoken(canvas, sketch, `output.${canvas.data.size.layers - 1}`);
  leadToCaption(sketch, cell, box);
}

// The LM head's vector times the word's row, product by product, and the word's bias.
function drawLogit(canvas, sketch, box, { words: [[word]], logit }, wide, time) {
  const { terms, width, product, bias, value, digits, adds_up: whole } = logit;
  drawCaption(
    sketch, box, [[`“${word}”:`, "prediction"], [`${width} products`, "norm"]],
    wide ? "the LM head’s vector times the word’s row" : "LM head’s vector times the word’s row, + bias = logit"
  );
  const sum = `${writeFixed(product, digits.terms)} ${writeOperation({ sign: "+", operand: bias }, digits.terms)}`;
  const outcome = `${sum} ${writeOutcome(whole, value, digits)}`;
  if (!wide) return sketch.text("outcome", box.x, box.y + 60, outcome, { size: 15, mono: true, bold: 600 });
  const landed = drawLogitSum(canvas, sketch, box, logit, time);
  drawProduct(sketch, box, terms, landed, { digits: digits.terms, kinds: ["norm", "embedding", "prediction"] });
  return drawOutcome(
    sketch, box, outcome, "dot product + bias = logit; softmax makes shares of all logits", within(time, 0.35, 0.45)
  );
}

// The largest products one by one, all others as one, and the bias; gives how many of the former have landed.
function drawLogitSum(canvas, sketch, box, { terms, rest, width, bias, digits }, time) {
  const more = width - terms.length;
  const parts = [
    ...terms.map(([, , , each]) => ({ value: each })), ...(more ? [{ value: rest, wide: 58 }] : []),
    { value: bias, wide: 38 },
  ];
  const landed = Math.round(within(time, 0, 0.4) * parts.length);
  const { starts, bottom } = drawWaterfall(canvas, sketch, box, {
    parts, landed, digits: digits.total, kind: "prediction",
  });
  const names = [[0, `${terms.length} largest`], ...(more ? [[terms.length, `${more} more`]] : []), [
    parts.length - 1, "bias",
  ]];
  for (const [i, name] of names) {
    const style = { size: 12, fill: FAINT, opacity: within(time, 0.3, 0.4) };
    const room = starts[i ? i + 1 : terms.length] - starts[i];
    sketch.text(`part ${i}`, starts[i], bottom + 22, fit(name, 12, room), style);
  }
  return Math.min(landed, terms.length);
}

// softmax: items from top to bottom, others together as one more block; digits: decimals of terms and their sum;
// decimals: of the scores.
function drawSoftmax(sketch, box, softmax, time) {
  const { items, others, top, high, row, kind } = softmax;
  const motion = { grow: within(time, 0, 0.3), fly: within(time, 0.35, 0.75), name: within(time, 0.78, 0.95) };
  const place = placeSoftmax(box);
  const most = Math.max(...items.map(({ term }) => term), 1e-9);
  const longest = Math.max(20, place.stack - place.bar - 58) / most;
  titleSoftmax(sketch, box, softmax, place, motion, within(time, 0.55, 0.75));
  const stack = [...items, ...(others.share > 0.0005 ? [{ ...others, others: true }] : [])];
  const ends = runSums(stack.map(({ share }) => share * high));
  stack.forEach((item, i) => {
    const tall = item.share * high;
    const power = {
      item, stacked: top + ends[i] - tall, tall, place, longest, row, kind, narrow: box.w < 340, decimals:
        softmax.decimals, digits: softmax.digits,
    };
    if (item.others) drawOthers(sketch, power, motion);
    else drawPower(sketch, i, power, motion);
  });
  drawShares(sketch, box, softmax, { place, stack, ends, opacity: motion.name });
}

function titleSoftmax(sketch, { w }, { titles, denominator, top, kind, digits }, place, { name }, stacked) {
  const head = (key, x, text, style) => sketch.text(key, x, top - 10, text, { size: 13, bold: true, ...style });
  if (w >= 340) head("key", place.score - 60, titles[0], { fill: FAINT, at: "end" });
  if (w >= 340) head("score", place.score, titles[1], { fill: FAINT, at: "end" });
  head("powers", place.bar, w < 480 ? "e^(…−max)" : `e^(${titles[1]} − max)`, { fill: `var(--bvc-${kind})` });
  const total = `Σ ${writeFixed(denominator, digits.total)}`;
  head("total", place.stack + place.wide, total, { opacity: stacked, at: "end" });
  head("share", place.stack + place.wide + 12, "share", { fill: `var(--bvc-${kind})`, opacity: name });
}

// The columns of a softmax, as far as there is room for them.
function placeSoftmax({ x, w }) {
  if (w < 340) return { score: x + 34, bar: x + 42, wide: 36, stack: x + w - 104 };
  if (w < 480) return { score: x + 116, bar: x + 126, wide: 42, stack: x + w - 118 };
  return { score: x + 150, bar: x + 168, wide: 56, stack: x + w - 170 };
}

// The largest shares, as many as there is room for, each at its block, or as near as the others let it; by name if all
// names have room.
function drawShares(sketch, box, { top, high }, { place, stack, ends, opacity }) {
  if (!opacity) return;
  const left = place.stack + place.wide;
  const bySize = stack.map((item, i) => ({ item, i })).filter(({ item }) => item.share >= 0.012).sort(
    (a, b) => b.item.share - a.item.share
  );
  const named = bySize.slice(0, Math.floor(high / LABEL)).sort((a, b) => a.i - b.i).map(
    ({ item, i }) => ({ item, i, middle: top + ends[i] - (item.share * high) / 2 })
  );
  const room = box.x + box.w - left - 14;
  const byName = named.every(({ item }) => item.others || measure(nameShare(item), 13, false, 650) <= room);
  const heights = spread(named.map(({ middle }) => middle), top + LABEL / 2, top + high - LABEL / 2);
  named.forEach(({ item, i, middle }, place) => {
    const y = heights[place];
    const label = byName && measure(nameShare(item), 13, false, 650) <= room ? nameShare(item) : item.others
      ? `rest ${writePercent(item.share)}` : writePercent(item.share);
    sketch.path(`to ${i}`, `M${cut(left + 1)} ${cut(middle)}L${cut(left + 10)} ${cut(y)}`, {
      stroke: FAINT, opacity: cut(opacity, 3),
    });
    sketch.text(`share ${i}`, left + 13, y + 4.5, label, { size: 13, bold: item.share > 0.1, opacity });
  });
}

// Heights that are at least a label apart, in the same order, none before `least` or beyond `most`.
function spread(heights, least, most) {
  const down = heights.reduce((all, y) => [...all, Math.max(y, all.length ? all.at(-1) + LABEL : least)], []);
  return down.reduceRight((all, y) => [Math.min(y, all.length ? all[0] - LABEL : most), ...all], []);
}

function nameShare({ name, share }) {
  return `${name} ${writePercent(share)}`;
}

function drawPower(sketch, i, { item, stacked, tall, place, longest, row, kind, narrow, decimals, digits }, motion) {
  const fill = `var(--bvc-${kind})`;
  const high = Math.min(26, row - 8);
  const wide = Math.max(1, item.term * longest * motion.grow);
  const up = item.y - high / 2;
  nameRow(sketch, i, item, place, narrow);
  sketch.text(`score ${i}`, place.score, item.y + 4.5, writeFixed(item.score, decimals), {
    size: 12.5, mono: true, at: "end",
  });
  sketch.box(`power ${i}`, { x: place.bar, y: up, w: wide, h: high }, { rx: 2, fill, "fill-opacity": 0.16 });
  sketch.box(`flying ${i}`, {
    x: mix(place.bar, place.stack, motion.fly), y: mix(up, stacked, motion.fly),
    w: mix(wide, place.wide, motion.fly), h: mix(high, Math.max(0.8, tall - 1.5), motion.fly),
  }, { rx: 2, fill, "fill-opacity": cut(0.35 + 0.65 * item.share, 3) });
  if (motion.grow > 0.9) nameTerm(sketch, i, place.bar + wide + 7, item, digits);
}

function nameRow(sketch, i, { name, faint, y }, place, narrow) {
  if (narrow) return;
  sketch.text(`name ${i}`, place.score - 60, y + 4.5, fit(name, 14, 86), {
    size: 14, at: "end", fill: faint ? FAINT : undefined,
  });
}

function nameTerm(sketch, i, x, { y, term }, digits) {
  sketch.text(`term ${i}`, x, y + 4.5, writeFixed(term, digits.terms), { size: 12, mono: true, fill: FAINT });
}

// All that is not listed, as one block of the stack, and in the list where it has a place there.
function drawOthers(sketch, { item, stacked, tall, place, kind, narrow, digits }, { grow, fly }) {
  sketch.box("others", { x: place.stack, y: stacked, w: place.wide, h: Math.max(0.8, tall - 1.5) }, {
    rx: 2, fill: `var(--bvc-${kind})`, "fill-opacity": 0.14, opacity: cut(fly, 3),
  });
  if (item.y === undefined || grow < 0.9) return;
  if (!narrow) sketch.text("others name", place.score, item.y + 4.5, item.name, { size: 13, at: "end", fill: FAINT });
  nameTerm(sketch, "of others", place.bar + 7, item, digits);
}
