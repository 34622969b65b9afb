// The pictures of what is collected from the values, and of the neurons.

const CURVE = 60; // points of GELU's curve

// Share times value, token by token: each begins where the one before it ended.
function drawCollect(canvas, sketch, box, worked, time) {
  const { frame, data, colors } = canvas;
  const token = quote(canvas, canvas.place.token);
  drawCaption(sketch, box, [[token, "prediction"], ["collects", "value"]], box.w < 330 ? "share · value, added" : `component ${worked.component}: each token's share times its value, added from row to row`);
  const ends = runSums([...worked.values, worked.others]);
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  const left = box.x + (box.w < 330 ? 8 : 112);
  const right = box.x + box.w - 62;
  const x = (value) => left + ((value - low) / (high - low || 1)) * (right - left);
  sketch.line("zero", x(0), frame.top - 4, x(0), frame.top + frame.row * frame.count, { stroke: FAINT, "stroke-opacity": 0.5 });
  worked.values.forEach((value, i) => {
    if (!isSeen(frame, i)) return;
    const shown = within(time, (0.8 * i) / worked.values.length, (0.8 * (i + 1)) / worked.values.length + 0.05);
    drawPart(canvas, sketch, i, { value, start: i ? ends[i - 1] : 0, shown, x, share: worked.shares[i], left: box.x, wide: box.w >= 330 });
  });
  const done = within(time, 0.85, 1);
  const sum = x(worked.sum);
  sketch.line("sum", sum, frame.top - 4, sum, frame.top + frame.row * frame.count + 4, { stroke: "var(--bvc-value)", "stroke-width": 2, opacity: cut(done) });
  sketch.text("sum number", Math.max(left + 30, sum), frame.top + frame.row * frame.count + 19, `Σ ${writeNumber(worked.sum, 3)}`, { size: 15, mono: true, bold: 650, at: "middle", fill: "var(--bvc-value)", opacity: done });
  const column = stageOf(canvas, "context")?.columns.indexOf(worked.component + canvas.place.head * data.size.head_width);
  if (column >= 0) ring(canvas, sketch, "result", "context", { row: canvas.at, column }, { stroke: "var(--bvc-text)", "stroke-width": 2, opacity: done });
  ringColumn(canvas, sketch, worked.component, colors.ink("value"));
}

function drawPart({ frame, colors }, sketch, i, { value, start, shown, x, share, left, wide }) {
  const y = rowMiddle(frame, i);
  const high = Math.min(24, frame.row - 6);
  const end = start + value * shown;
  const from = Math.min(x(start), x(end));
  const paint = value < 0 ? { fill: colors.negative, "fill-opacity": 0.8 } : { fill: colors.cell("value") };
  sketch.box(`part ${i}`, { x: from, y: y - high / 2, w: Math.max(1.5, Math.abs(x(end) - x(start))), h: high }, { rx: 2, ...paint });
  if (shown >= 1) sketch.line(`on ${i}`, x(start + value), y + high / 2, x(start + value), y + frame.row - high / 2, { stroke: FAINT, "stroke-dasharray": "2 3" });
  const text = Math.abs(value) < 0.0005 ? "0.000" : writeNumber(value, 3);
  sketch.text(`value ${i}`, Math.max(x(start), x(end)) + 7, y + 4.5, text, { size: 12.5, mono: true, fill: Math.abs(value) < 0.01 ? FAINT : undefined, opacity: shown });
  if (!wide) return;
  const factor = share > 1e-4 ? value / share : null;
  sketch.text(`factors ${i}`, left, y + 4.5, `${writeShare(share)} · ${factor === null ? "v" : writeNumber(factor, 2)}`, { size: 12, mono: true, fill: FAINT, opacity: shown });
}

// The component that is collected, in the values of all rows.
function ringColumn(canvas, sketch, component, stroke) {
  const stage = stageOf(canvas, "value");
  const box = canvas.frame.parts.value;
  const column = stage?.columns.indexOf(component) ?? -1;
  const cell = column < 0 ? null : cellBox(canvas, "value", { row: Math.ceil(canvas.frame.first), column });
  if (cell) sketch.box("collected", { x: cell.x - 2, y: box.y, w: cell.w + 4, h: box.h }, { rx: 3, fill: "none", stroke, "stroke-width": 2 });
}

// The strongest neurons on the curve of the activation function, and in figures.
function drawNeurons(canvas, sketch, box, worked, time) {
  drawCaption(sketch, box, [[`${writeCount(worked.active)} of ${writeCount(worked.total)} neurons`, "ffn"], ["are above 0"]], `the ${worked.strongest.length} strongest at ${quote(canvas, canvas.place.token)}: what goes in, what comes out`);
  const narrow = box.w < 420;
  const chart = { x: box.x + 8, y: box.y + 64, w: narrow ? box.w - 20 : box.w * 0.56, h: (narrow ? box.h * 0.45 : box.h) - 100 };
  const values = worked.strongest.flatMap(([, before, after]) => [Math.abs(before), after]);
  const most = Math.max(2, ...values) * 1.08;
  const x = (value) => chart.x + ((value + most) / (2 * most)) * chart.w;
  const y = (value) => chart.y + chart.h - ((value + 0.3) / (most + 0.3)) * chart.h;
  drawCurve(sketch, chart, x, y, most);
  worked.strongest.forEach(([neuron, before, after], i) => {
    const shown = within(time, i * 0.1, 0.3 + i * 0.1);
    const at = mix(0, after, shown);
    sketch.line(`rise ${i}`, x(before), y(0), x(before), y(at), { stroke: "var(--bvc-ffn)", "stroke-opacity": 0.5, "stroke-dasharray": "3 3" });
    sketch.put(`dot ${i}`, "circle", { cx: cut(x(before)), cy: cut(y(at)), r: i ? 4 : 6, fill: "var(--bvc-ffn)", stroke: "var(--bvc-paper)" });
    const list = narrow ? { x: box.x, w: box.w, y: chart.y + chart.h + 40, pitch: Math.min(24, (box.h - chart.h - 130) / 8) } : { x: chart.x + chart.w + 34, w: box.w - chart.w - 42, y: chart.y + 10, pitch: Math.min(40, chart.h / 8) };
    drawNeuron(sketch, i, { neuron, before, after, shown, list, most });
  });
}

// 0.5 x (1 + erf(x / √2)), by Abramowitz and Stegun 7.1.26: the curve only; the dots are recorded numbers.
function gelu(value) {
  const far = Math.abs(value) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * far);
  const rest = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t * Math.exp(-far * far);
  return 0.5 * value * (1 + Math.sign(value) * (1 - rest));
}

function drawCurve(sketch, { x: left, w, y: top, h }, x, y, most) {
  sketch.line("across", left, y(0), left + w, y(0), { stroke: "var(--bvc-line)" });
  sketch.line("up", x(0), top, x(0), top + h, { stroke: "var(--bvc-line)" });
  const points = Array.from({ length: CURVE + 1 }, (_, i) => -most + (2 * most * i) / CURVE);
  sketch.path("curve", `M${points.map((point) => `${cut(x(point))} ${cut(y(gelu(point)))}`).join("L")}`, { stroke: "var(--bvc-ffn)", "stroke-width": 2 });
  const small = { size: 12, fill: FAINT };
  sketch.text("least", left, top + h + 18, `in: ${writeEnd(-most)}`, small);
  sketch.text("most", left + w, top + h + 18, writeEnd(most), { ...small, at: "end" });
  sketch.text("out", x(0) + 6, top + 10, `out: ${writeEnd(most)}`, small);
}

function drawNeuron(sketch, i, { neuron, before, after, shown, list, most }) {
  const y = list.y + i * list.pitch;
  sketch.text(`neuron ${i}`, list.x, y + 4.5, `${neuron}`, { size: 13, mono: true, bold: i ? 400 : 650, opacity: shown });
  sketch.text(`in ${i}`, list.x + 92, y + 4.5, `${writeNumber(before, 2)} →`, { size: 12.5, mono: true, at: "end", fill: FAINT, opacity: shown });
  const room = list.w - 150;
  sketch.box(`fired ${i}`, { x: list.x + 100, y: y - 6, w: Math.max(1.5, (Math.abs(after) / most) * room * shown), h: 12 }, { rx: 2, fill: "var(--bvc-ffn)" });
  sketch.text(`out ${i}`, list.x + 106 + (Math.abs(after) / most) * Math.max(0, room) * shown, y + 4.5, writeNumber(after, 2), { size: 12.5, mono: true, bold: i ? 400 : 650, opacity: shown });
}
