// The pictures of what is collected from the values, and of the neurons.

const CURVE = 60; // points of GELU's curve

// Share times value, token by token: each begins where the one before it ended.
function drawCollect(canvas, sketch, box, worked, time) {
  const { frame } = canvas;
  const wide = box.w >= 330;
  const how = wide ? `component ${worked.component}: each token's share times its value, added from row to row`
    : "share · value, added";
  drawCaption(sketch, box, [[quote(canvas, canvas.place.token), "prediction"], ["collects", "value"]], how);
  const ends = runSums([...worked.values, worked.others]);
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  const [left, right] = [box.x + (wide ? 112 : 8), box.x + box.w - 62];
  const x = (value) => left + ((value - low) / (high - low || 1)) * (right - left);
  const bottom = frame.top + frame.row * frame.count;
  sketch.line("zero", x(0), frame.top - 4, x(0), bottom, { stroke: FAINT, "stroke-opacity": 0.5 });
  worked.values.forEach((value, i) => {
    if (!isSeen(frame, i)) return;
    const shown = within(time, (0.8 * i) / worked.values.length, (0.8 * (i + 1)) / worked.values.length + 0.05);
    const start = i ? ends[i - 1] : 0;
    drawShare(canvas, sketch, i, { value, start, shown, x });
    if (wide) drawFactors(canvas, sketch, i, { x: box.x, share: worked.shares[i], component: worked.component, shown });
  });
  drawTotal(canvas, sketch, worked, { x: x(worked.sum), least: left + 30, bottom }, within(time, 0.85, 1));
}

// All shares together, and where the sum stands in the result.
function drawTotal(canvas, sketch, { sum, component }, { x, least, bottom }, opacity) {
  const { frame, data, place, at } = canvas;
  const style = { stroke: "var(--bvc-value)", "stroke-width": 2, opacity: cut(opacity) };
  sketch.line("sum", x, frame.top - 4, x, bottom + 4, style);
  const bold = { size: 15, mono: true, bold: 650, at: "middle", fill: "var(--bvc-value)", opacity };
  sketch.text("sum number", Math.max(least, x), bottom + 19, `Σ ${writeNumber(sum, 3)}`, bold);
  ringColumn(canvas, sketch, component);
  const column = stageOf(canvas, "context")?.columns.indexOf(component + place.head * data.size.head_width) ?? -1;
  const paint = { stroke: "var(--bvc-text)", "stroke-width": 2, opacity };
  if (column >= 0) ring(canvas, sketch, "result", "context", { row: at, column }, paint);
}

function drawShare({ frame, colors }, sketch, i, { value, start, shown, x }) {
  const y = rowMiddle(frame, i);
  const high = Math.min(24, frame.row - 6);
  const end = start + value * shown;
  const bar = {
    x: Math.min(x(start), x(end)), y: y - high / 2, w: Math.max(1.5, Math.abs(x(end) - x(start))), h: high,
  };
  const fill = value < 0 ? colors.negative : colors.cell("value");
  sketch.box(`part ${i}`, bar, { rx: 2, fill, "fill-opacity": value < 0 ? 0.8 : 1 });
  const on = { stroke: FAINT, "stroke-dasharray": "2 3", opacity: cut(shown) };
  sketch.line(`on ${i}`, x(end), y + high / 2, x(end), y + frame.row - high / 2, on);
  const style = { size: 12.5, mono: true, fill: Math.abs(value) < 0.01 ? FAINT : undefined, opacity: shown };
  sketch.text(`value ${i}`, Math.max(x(start), x(end)) + 7, y + 4.5, writeNumber(value, 3), style);
}

// The share and the recorded value that are multiplied.
function drawFactors(canvas, sketch, i, { x, share, component, shown }) {
  const stage = stageOf(canvas, "value");
  const column = stage?.columns.indexOf(component) ?? -1;
  const factor = column < 0 ? "v" : writeNumber(readValue(stage, { row: i, column }), 2);
  const style = { size: 12, mono: true, fill: FAINT, opacity: shown };
  sketch.text(`factors ${i}`, x, rowMiddle(canvas.frame, i) + 4.5, `${writeShare(share)} · ${factor}`, style);
}

// The component that is collected, in the values of all rows.
function ringColumn(canvas, sketch, component) {
  const stage = stageOf(canvas, "value");
  const box = canvas.frame.parts.value;
  const column = stage?.columns.indexOf(component) ?? -1;
  const cell = column < 0 ? null : cellBox(canvas, "value", { row: Math.ceil(canvas.frame.first), column });
  if (cell) {
    sketch.box("collected", { x: cell.x - 2, y: box.y, w: cell.w + 4, h: box.h }, {
      rx: 3, fill: "none", stroke: "var(--bvc-value)", "stroke-width": 2,
    });
  }
}

// The strongest neurons on the curve of the activation function, and in figures.
function drawNeurons(canvas, sketch, box, worked, time) {
  const { strongest, active, total } = worked;
  const words = [[`${writeCount(active)} of ${writeCount(total)} neurons`, "ffn"], ["are above 0"]];
  const token = quote(canvas, canvas.place.token);
  drawCaption(sketch, box, words, `the ${strongest.length} strongest at ${token}: what goes in, what comes out`);
  const { chart, list } = placeNeurons(box, strongest.length);
  const most = Math.max(2, ...strongest.flatMap(([, before, after]) => [Math.abs(before), after])) * 1.08;
  const x = (value) => chart.x + ((value + most) / (2 * most)) * chart.w;
  const y = (value) => chart.y + chart.h - ((value + 0.3) / (most + 0.3)) * chart.h;
  const known = strongest.every(([, before, after]) => Math.abs(gelu(before) - after) < 0.01);
  drawCurve(sketch, chart, x, y, most, known);
  strongest.forEach(([neuron, before, after], i) => {
    const shown = within(time, i * 0.1, 0.3 + i * 0.1);
    const [at, to] = [x(before), y(mix(0, after, shown))];
    const rise = { stroke: "var(--bvc-ffn)", "stroke-opacity": 0.5, "stroke-dasharray": "3 3" };
    sketch.line(`rise ${i}`, at, y(0), at, to, rise);
    const dot = { r: i ? 4 : 6, fill: "var(--bvc-ffn)", stroke: "var(--bvc-paper)" };
    sketch.put(`dot ${i}`, "circle", { cx: cut(at), cy: cut(to), ...dot });
    drawNeuron(sketch, i, { neuron, before, after, shown, list, most });
  });
}

// The curve with the list beside it, or over it where there is little room.
function placeNeurons({ x, y, w, h }, count) {
  if (w < 420) {
    const chart = { x: x + 8, y: y + 64, w: w - 20, h: h * 0.45 - 100 };
    return { chart, list: { x, w, y: chart.y + chart.h + 40, pitch: Math.min(24, (h - chart.h - 130) / count) } };
  }
  const chart = { x: x + 8, y: y + 64, w: w * 0.56, h: h - 100 };
  const left = chart.x + chart.w + 34;
  return { chart, list: { x: left, w: x + w - left, y: chart.y + 10, pitch: Math.min(40, chart.h / count) } };
}

// 0.5 x (1 + erf(x / √2)), by Abramowitz and Stegun 7.1.26: for the curve only, the dots are recorded numbers. A
// checkpoint may have another activation function: then the dots stand without a curve.
function gelu(value) {
  const far = Math.abs(value) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * far);
  const sum = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592].reduce((all, each) => all * t + each);
  const rest = sum * t * Math.exp(-far * far);
  return 0.5 * value * (1 + Math.sign(value) * (1 - rest));
}

function drawCurve(sketch, { x: left, w, y: top, h }, x, y, most, known) {
  sketch.line("across", left, y(0), left + w, y(0), { stroke: "var(--bvc-line)" });
  sketch.line("up", x(0), top, x(0), top + h, { stroke: "var(--bvc-line)" });
  const points = Array.from({ length: CURVE + 1 }, (_, i) => -most + (2 * most * i) / CURVE);
  if (known) {
    sketch.path("curve", `M${points.map((point) => `${cut(x(point))} ${cut(y(gelu(point)))}`).join("L")}`, {
      stroke: "var(--bvc-ffn)", "stroke-width": 2,
    });
  }
  const small = { size: 12, fill: FAINT };
  sketch.text("least", left, top + h + 18, `in: ${writeEnd(-most)}`, small);
  sketch.text("most", left + w, top + h + 18, writeEnd(most), { ...small, at: "end" });
  sketch.text("out", x(0) + 6, top + 10, `out: ${writeEnd(most)}`, small);
}

function drawNeuron(sketch, i, { neuron, before, after, shown, list, most }) {
  const y = list.y + i * list.pitch;
  sketch.text(`neuron ${i}`, list.x, y + 4.5, `${neuron}`, {
    size: 13, mono: true, bold: i ? 400 : 650, opacity: shown,
  });
  sketch.text(`in ${i}`, list.x + 92, y + 4.5, `${writeNumber(before, 2)} →`, {
    size: 12.5, mono: true, at: "end", fill: FAINT, opacity: shown,
  });
  const room = list.w - 150;
  sketch.box(
    `fired ${i}`, { x: list.x + 100, y: y - 6, w: Math.max(1.5, (Math.abs(after) / most) * room * shown), h: 12 },
    { rx: 2, fill: "var(--bvc-ffn)" }
  );
  sketch.text(
    `out ${i}`, list.x + 106 + (Math.abs(after) / most) * Math.max(0, room) * shown, y + 4.5, writeNumber(after, 2),
    { size: 12.5, mono: true, bold: i ? 400 : 650, opacity: shown }
  );
}
