// The pictures of the stops: each comes about in `time`, 0 to 1, from the numbers that the server worked out.

const FAINT = "var(--bvc-faint)";

function drawStopPicture(canvas, sketch) {
  const { place, data, frame, player } = canvas;
  const stop = data.stops[place.stop - 1];
  const { x, w, a } = frame.parts.panel;
  const draw = [
    drawCut, drawLookUp, drawOffer, drawCompare, drawDivide, drawCollect, drawAdd, drawNeurons, drawAnswer,
  ][place.stop - 1];
  if (stop && a > 0.6 && w > 120) {
    draw(
      canvas, sketch, { x, w, y: 4, h: frame.top + frame.row * frame.count - 4 }, stop.worked, player.time
    );
  }
}

// Two lines over a picture: what it shows, in the colours of what is spoken of, and how it is read.
function drawCaption(sketch, { x, y, w }, words, under) {
  let at = x;
  words.forEach(([text, kind], i) => {
    const shown = fit(text, 17, x + w - at, 650);
    sketch.text(`caption ${i}`, at, y + 17, shown, {
      size: 17, bold: true, fill: kind ? `var(--bvc-${kind})` : undefined,
    });
    at += measure(shown, 17, false, 650) + 5;
  });
  sketch.text("under", x, y + 37, fit(under, 13.5, w), { size: 13.5, fill: FAINT });
}

function quote(canvas, index) {
  const token = canvas.data.tokens[index - canvas.data.window.start];
  return token ? `“${token.text}”` : `token ${index}`;
}

// The text, cut; and each piece as an entry of the vocabulary, at its place among all entries.
function drawCut(canvas, sketch, box, worked, time) {
  const narrow = box.w < 420;
  const { pieces, total, vocabulary } = worked;
  const entry = narrow ? "" : `each an entry of the vocabulary of ${writeCount(vocabulary)}`;
  drawCaption(sketch, box, [[`${total} pieces${narrow ? "" : ","}`, "prediction"], [entry]], "");
  const [left, right] = [box.x + 74, box.x + box.w - 70];
  const start = measureCut(worked, box);
  pieces.forEach(([index, text, id], i) => {
    const row = index - canvas.data.window.start;
    if (!isSeen(canvas.frame, row)) return;
    const fall = within(time, 0.1 + (0.6 * i) / pieces.length, 0.4 + (0.6 * i) / pieces.length);
    const bold = row === canvas.at;
    if (!narrow) drawPiece(sketch, i, { x: start(i), end: start(i + 1), text, bold, shown: within(time, 0, 0.15) });
    const tick = left + ((right - left) * id) / vocabulary;
    const from = narrow ? null : { x: start(i), y: 40 };
    drawEntry(canvas, sketch, i, { text, id, row, bold, fall, left, right, tick, from });
  });
  const style = { size: 12, fill: FAINT, opacity: time };
  sketch.text("axis start", left, canvas.frame.top - 4, "entry 0", style);
  if (narrow) return;
  sketch.text("axis end", right, canvas.frame.top - 4, writeCount(vocabulary - 1), { ...style, at: "end" });
}

// A piece falls to its place among the entries of the vocabulary.
function drawEntry({ frame }, sketch, i, { text, id, row, bold, fall, left, right, tick, from }) {
  const y = rowMiddle(frame, row);
  const end = { x: Math.min(tick + 9, right + 6), y };
  const { x, y: top } = from ?? end;
  sketch.line(`axis ${i}`, left, y, right, y, { stroke: "var(--bvc-line)", opacity: cut(fall) });
  sketch.text(`id ${i}`, left - 22, y + 4.5, id, { size: 13, mono: true, at: "end", bold, opacity: fall });
  const fill = bold ? "var(--bvc-text)" : FAINT;
  sketch.box(`tick ${i}`, { x: tick - 1.5, y: y - 8, w: 3, h: 16 }, { rx: 1, fill, opacity: cut(fall) });
  const words = from ? text : fit(text, 14, 60);
  const style = { size: 14.5, bold, opacity: fall };
  sketch.text(`piece ${i}`, mix(x, end.x, fall), mix(top, end.y, fall) + 5 * fall, words, style);
}

// A piece in the line of the text, and the cut behind it.
function drawPiece(sketch, i, { x, end, text, bold, shown }) {
  sketch.text(`word ${i}`, x + 3, 40, fit(text, 14.5, end - x), { size: 14.5, bold });
  sketch.line(`cut ${i}`, end - 2, 26, end - 2, 26 + 20 * shown, { stroke: FAINT, "stroke-dasharray": "3 2" });
}

// Where each piece stands while the text is still one line.
function measureCut({ pieces }, { x, w }) {
  const ends = [];
  let at = 0;
  for (const [, text] of pieces) ends.push((at += measure(text, 14.5) + 10));
  const scale = Math.min(1, w / at);
  return (i) => x + (i ? ends[i - 1] : 0) * scale;
}

// Three rows of tables, added at one component and normalized.
function drawLookUp(canvas, sketch, box, worked, time) {
  const token = quote(canvas, canvas.place.token);
  drawCaption(
    sketch, box, [[token, "prediction"], ["looks up three rows", "embedding"]],
    `component ${worked.component} of each, added, then normalized`
  );
  const groups = listLookedUp(worked);
  const chart = placeSteps(box, groups);
  drawSteps(canvas, sketch, chart, worked.digits, time);
  const cell = ringSpoken(canvas, sketch, "embedding");
  if (!cell || time < 1) return;
  const from = { x: chart.x(groups.flat().length - 1) + chart.wide + 4, y: chart.scales[1](worked.normalized) };
  drawLeader(sketch, canvas.frame.parts.embedding.x - 16, from, overCell(cell));
}

// The rows that are added; then, on a scale of its own, what LayerNorm makes of the sum.
function listLookedUp({ rows, sum, normalized }) {
  const ends = runSums(rows.map(([, , operand]) => operand));
  const added = rows.map(([name, row, operand], i) => ({
    name, note: `row ${row}`, sign: "+", operand, from: i ? ends[i - 1] : 0, to: ends[i], kind: "embedding",
    reached: i === rows.length - 1 ? "sum" : "",
  }));
  const norm = { name: "LayerNorm", note: "see stop 7", kind: "embedding", leap: true, reached: "result" };
  return [added, [{ name: "sum", from: 0, to: sum, kind: "residual" }, { ...norm, from: sum, to: normalized }]];
}

// What passes around, what attention added, and the four steps of LayerNorm, at one component.
function drawAdd(canvas, sketch, box, worked, time) {
  const { component, digits, residual, adds_up: whole } = worked;
  const found = ["what was found", "value"];
  const how = `${residual ? "added" : "without the residual"}, ${whole ? "" : "changed, "}then normalized`;
  const rounded = digits.exact ? "" : "; last digits are rounded";
  drawCaption(
    sketch, box, [...(residual ? [["What was there", "norm"], ["+", "residual"]] : [["Only", "residual"]]), found],
    `component ${component} of ${quote(canvas, canvas.place.token)}: ${how}${rounded}`
  );
  drawSteps(canvas, sketch, placeSteps(box, [listNormalized(worked)]), digits, time);
  const input = canvas.place.layer ? `output.${canvas.place.layer - 1}` : "embedding";
  const cells = [input, "added", "sum", "norm"].map((part) => ringSpoken(canvas, sketch, part));
  leadToCaption(sketch, cells.at(-1), box);
}

function listNormalized({ mean, centered, deviation, normal, gamma, scaled, beta, value, ...worked }) {
  const { sum } = worked;
  return [
    ...listSum(worked),
    { name: "mean", sign: "−", operand: mean, from: sum, to: centered, kind: "norm" },
    { name: "σ", sign: "÷", operand: deviation, from: centered, to: normal, kind: "norm", leap: true },
    { name: "γ", sign: "×", operand: gamma, from: normal, to: scaled, kind: "norm", leap: true },
    { name: "β", sign: "+", operand: beta, from: scaled, to: value, kind: "norm", reached: "result" },
  ];
}

// What is added to the sum, with what a change put there in its place.
function listSum({ residual, skip, added, sum, adds_up: whole }) {
  const start = residual ? skip : 0;
  const end = whole ? sum : start + added;
  const attention = { name: "attention", sign: "+", operand: added, from: start, to: end, kind: "value" };
  const change = { name: "a change", from: end, to: sum, kind: "residual", leap: true, reached: "sum" };
  return [
    ...(residual ? [{ name: "input", from: 0, to: skip, kind: "norm" }] : []),
    ...(whole ? [{ ...attention, reached: "sum" }] : [attention, change]),
  ];
}

// The cell of the component that is spoken of, boxed at the chosen row of a strip.
function ringSpoken(canvas, sketch, part) {
  const column = stageOf(canvas, part)?.columns.indexOf(spokenComponent(canvas)) ?? -1;
  if (column < 0) return null;
  const paint = { stroke: "var(--bvc-text)", "stroke-width": 2, "data-spoken": part };
  return ring(canvas, sketch, `spoken ${part}`, part, { row: canvas.at, column }, paint);
}

// From a cell of the strip beside a picture to the line that says which component is enlarged.
function leadToCaption(sketch, cell, { x, y }) {
  if (cell) drawLeader(sketch, x - 20, overCell(cell), { x: x - 5, y: y + 33 });
}

// Where a line reaches a cell: between its row and the one before, so that it crosses no other cell.
function overCell({ x, y, w }) {
  return { x: x + w / 2, y: y - 3 };
}

// A line with a dot at its end: sideways to `bend`, up or down, and on.
function drawLeader(sketch, bend, from, to) {
  const way = `M${cut(from.x)} ${cut(from.y)}H${cut(bend)}V${cut(to.y)}H${cut(to.x)}`;
  sketch.path("leader", way, { stroke: "var(--bvc-text)", "stroke-width": 1.25, "stroke-linejoin": "round" });
  sketch.put("leader end", "circle", { cx: cut(to.x), cy: cut(to.y), r: 2.5, fill: "var(--bvc-text)" });
}

// The row of the key that a stop compares with the chosen token, which is lit as well; null where there is none.
function spokenKey(canvas) {
  return [3, 4].includes(canvas.place.stop) ? findBeside(canvas) : null;
}

// The row of the key that the stops inside of a head tell of; the chosen token's own at all others.
function findBeside({ data, place, at }) {
  const inHead = place.stop >= 3 && place.stop <= 6 && data.stops.length;
  return inHead ? data.stops[3].worked.key - data.window.start : at;
}
