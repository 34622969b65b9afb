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
    `component ${worked.component} of each, added, then normalized over all components`
  );
  let sum = 0;
  const steps = worked.rows.map(([name, row, value]) => ({
    name, note: `row ${row}`, from: sum, to: (sum += value), shown: value, kind: "embedding",
  }));
  steps.push({ name: "sum", from: 0, to: worked.sum, kind: "residual", whole: true });
  steps.push({
    name: "normalized", note: "on its own scale", from: 0, to: worked.normalized, kind: "embedding", whole: true,
    fresh: true,
  });
  drawSteps(sketch, box, steps, time);
}

// What passes around, what attention added, and the four steps of LayerNorm, at one component.
function drawAdd(canvas, sketch, box, worked, time) {
  drawCaption(
    sketch, box, [["What was there", "norm"], ["+", "residual"], ["what was found", "value"]],
    `component ${worked.component} of ${quote(canvas, canvas.place.token)}: added, then normalized`
  );
  const { skip, sum, mean, deviation, gamma, beta, value } = worked;
  const [centered, normal] = [sum - mean, (sum - mean) / deviation];
  const scaled = normal * gamma;
  const step = (name, from, to, kind, operand) => ({
    name, from, to, kind, whole: operand === undefined && from === 0 && name !== "input",
    shown: operand === "own" ? worked.added : to,
    note: typeof operand === "number" ? writeNumber(operand, 3) : "",
  });
  drawSteps(sketch, box, [
    step("input", 0, skip, "norm"), step("attention", skip, sum, "value", "own"), step("sum", 0, sum, "residual"),
    step("− mean", sum, centered, "residual", mean), step("÷ σ", centered, normal, "residual", deviation),
    step("× γ", normal, scaled, "residual", gamma), step("+ β", scaled, value, "residual", beta), step(
      "result", 0, value, "norm"
    ),
  ], time);
}

// Steps that lead from one number to the next, side by side: bars from where the last one ended. whole: from zero.
function drawSteps(sketch, box, steps, time) {
  const pitch = Math.min(150, box.w / steps.length);
  const wide = Math.min(84, pitch * 0.62);
  const common = scaleSteps(box, steps.filter(({ fresh }) => !fresh));
  const together = steps.filter(({ fresh }) => !fresh).length;
  sketch.line("zero", box.x, common(0), box.x + pitch * (together - 1) + wide, common(0), {
    stroke: FAINT, "stroke-opacity": 0.5,
  });
  steps.forEach((step, i) => {
    const shown = within(time, i / steps.length, (i + 0.9) / steps.length);
    const y = step.fresh ? scaleSteps(box, [step]) : common;
    const last = i === steps.length - 1 || steps[i + 1].fresh;
    if (shown > 0) {
      drawStep(sketch, i, step, {
        x: box.x + i * pitch, wide, pitch, y, shown, bottom: box.y + box.h - 54, last,
      });
    }
  });
}

// From a number to its height on the scale of these steps.
function scaleSteps(box, steps) {
  const [top, bottom] = [box.y + 76, box.y + box.h - 70];
  const ends = steps.flatMap(({ from, to }) => [from, to, 0]);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  return (value) => top + ((high - value) / (high - low || 1)) * (bottom - top);
}

function drawStep(sketch, i, step, { x, wide, pitch, y, shown, bottom, last }) {
  const { name, note, from, to, shown: value = to, kind, whole } = step;
  const now = mix(from, to, shown);
  const [up, down] = [Math.min(y(from), y(now)), Math.max(y(from), y(now))];
  const below = to < 0 && from <= 0;
  sketch.box(`step ${i}`, { x, y: up, w: wide, h: Math.max(2, down - up) }, {
    rx: 2, fill: `var(--bvc-${to < from && !whole ? "residual" : kind})`, "fill-opacity": whole ? 0.35 : 0.95,
    stroke: whole ? `var(--bvc-${kind})` : undefined,
  });
  if (!last) sketch.line(`on ${i}`, x + wide, y(now), x + pitch, y(now), { stroke: FAINT, "stroke-dasharray": "2 3" });
  const place = {
    at: "middle", mono: true, size: pitch < 60 ? 12 : whole ? 14.5 : 13, bold: whole ? 600 : 400, opacity: shown,
  };
  const number = writeNumber(value, pitch < 60 ? 2 : 3);
  sketch.text(`number ${i}`, x + wide / 2, below ? down + 16 : up - 6, number, place);
  const label = { size: pitch < 70 ? 12 : 13, at: "middle", opacity: shown };
  sketch.text(`name ${i}`, x + wide / 2, bottom + 34, pitch < 60 ? fit(name, 12, pitch - 4) : name, {
    ...label, bold: whole, fill: `var(--bvc-${kind})`,
  });
  if (note) sketch.text(`note ${i}`, x + wide / 2, bottom + 50, note, { ...label, size: 12, fill: FAINT });
}
