// The pictures of what is collected from the values, and of the neurons.

// Share times value, token by token: each begins where the one before it ended.
function drawCollect(canvas, sketch, box, worked, time) {
  const { frame } = canvas;
  const { component, digits, values } = worked;
  const columns = placeFactors(canvas, box, worked);
  const hidden = values.reduce((all, value, i) => all + (isSeen(frame, i) ? 0 : value), worked.others);
  const rest = hidden ? `; out of sight: ${writeFixed(hidden, digits.terms)}` : "";
  const how = columns.share ? "each token’s share times its value, added from row to row" : "share · value, added";
  drawCaption(
    sketch, box, [[quote(canvas, canvas.place.token), "prediction"], ["collects", "value"]],
    `component ${component}: ${how}${rest}`
  );
  const ends = runSums([...values, worked.others]);
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  const [left, right] = [columns.end + 22, box.x + box.w - 22];
  const x = (value) => left + ((value - low) / (high - low || 1)) * (right - left);
  const bottom = frame.top + frame.row * frame.count;
  sketch.line("zero", x(0), frame.top + 4, x(0), bottom, { stroke: FAINT, "stroke-opacity": 0.6 });
  sketch.text("zero label", x(0), frame.top - 2, "0", { size: 12, mono: true, at: "middle", fill: FAINT });
  values.forEach((value, i) => {
    if (!isSeen(frame, i)) return;
    const shown = within(time, (0.8 * i) / values.length, (0.8 * (i + 1)) / values.length + 0.05);
    const start = i ? ends[i - 1] : 0;
    drawShare(canvas, sketch, i, { value, start, shown, x });
    drawFactors(canvas, sketch, i, { columns, worked, shown });
  });
  const total = { x: x(worked.sum), least: left, most: box.x + box.w, bottom, panel: box };
  drawTotal(canvas, sketch, worked, total, within(time, 0.85, 1), digits);
}

// Where share, value and their product end, one under the other; the product alone where there is no room.
function placeFactors(canvas, { x, w }, { digits, shares, values, component }) {
  const widest = (numbers, decimals) => Math.max(
    ...numbers.map((each) => measure(writeFixed(each, decimals), 12, true, 600))
  );
  const product = widest(values, digits.terms);
  const recorded = readColumn(canvas, component);
  const [share, value] = [widest(shares, digits.factors), widest(recorded ?? [0], digits.factors)];
  const all = share + value + product + 36;
  if (!recorded || w < all + 180) return { end: x + product };
  return { share: x + share, value: x + share + 18 + value, end: x + all };
}

// One component of the chosen head's values, row by row; null while they are on their way.
function readColumn(canvas, component) {
  const stage = stageOf(canvas, "value");
  const column = stage?.columns.indexOf(component) ?? -1;
  return column < 0 ? null : canvas.data.tokens.map((_, row) => readValue(stage, { row, column }));
}

// All shares together, and where the sum stands in the result.
function drawTotal(canvas, sketch, { sum, component }, { x, least, most, bottom, panel }, opacity, digits) {
  const { frame, data, place, at } = canvas;
  const style = { stroke: "var(--bvc-value)", "stroke-width": 2, opacity: cut(opacity) };
  sketch.line("sum", x, frame.top + 4, x, bottom + 4, style);
  const words = `Σ ${writeFixed(sum, digits.total)}`;
  const half = measure(words, 15, true, 650) / 2;
  const bold = { size: 15, mono: true, bold: 650, at: "middle", fill: "var(--bvc-value)", opacity };
  sketch.text("sum number", Math.max(least + half, Math.min(most - half, x)), bottom + 19, words, bold);
  ringColumn(canvas, sketch, component);
  const column = stageOf(canvas, "context")?.columns.indexOf(component + place.head * data.size.head_width) ?? -1;
  const paint = { stroke: "var(--bvc-text)", "stroke-width": 2, opacity };
  const cell = column < 0 ? null : ring(canvas, sketch, "result", "context", { row: at, column }, paint);
  if (opacity === 1) leadToCaption(sketch, cell, panel);
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
}

// The share and the recorded value that are multiplied, and what that makes.
function drawFactors(canvas, sketch, i, { columns, worked, shown }) {
  const { digits, shares, values, largest, component, of } = worked;
  const y = rowMiddle(canvas.frame, i) + 4.5;
  const style = { size: 12, mono: true, at: "end", opacity: shown };
  const faint = { ...style, fill: FAINT };
  const bold = of[i] === largest ? 600 : 400;
  sketch.text(`value ${i}`, columns.end, y, writeFixed(values[i], digits.terms), { ...style, bold });
  if (!columns.share) return;
  const factor = readColumn(canvas, component)[i];
  sketch.text(`share of ${i}`, columns.share, y, writeFixed(shares[i], digits.factors), faint);
  sketch.text(`times ${i}`, columns.share + 12, y, "·", faint);
  sketch.text(`factor ${i}`, columns.value, y, writeFixed(factor, digits.factors), faint);
  sketch.text(`is ${i}`, columns.value + 12, y, "=", faint);
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

// Neurons on the curve of the activation function, and in figures: the strongest, one that is damped, one shut off.
function drawNeurons(canvas, sketch, box, worked, time) {
  const { strongest, alone, active, total, damped, shut, function: name, curve } = worked;
  const words = [[`${writeCount(active)} of ${writeCount(total)} neurons`, "ffn"], ["are above 0"]];
  const maker = name || "put there by a change";
  drawCaption(sketch, box, words, `${maker} at ${quote(canvas, canvas.place.token)}: what goes in → what comes out`);
  const listed = listNeurons(strongest.slice(0, box.w < 420 ? 3 : 6), alone, damped, shut);
  const { chart, list } = placeNeurons(box, listed.length);
  const before = listed.map(({ neuron }) => neuron[1]);
  const [low, high] = [Math.min(-2, ...before) * 1.08, Math.max(2, ...before) * 1.08];
  const x = (value) => chart.x + ((value - low) / (high - low)) * chart.w;
  const y = (value) => chart.y + chart.h - ((value + 0.3) / (high + 0.3)) * chart.h;
  drawCurve(sketch, chart, { x, y, low, high, curve: curve.filter(([point]) => point >= low && point <= high) });
  const taken = [];
  listed.forEach((each, i) => {
    const shown = within(time, i * 0.09, 0.3 + i * 0.09);
    drawDot(sketch, i, each, { x, y, shown, taken });
    if (shown > 0) drawNeuron(sketch, i, each, { shown, list, most: Math.max(...listed.map(({ neuron }) => Math.abs(neuron[2]))) });
  });
}

// The strongest; then, unless it is one of these, what the activation function takes most from, and what it shuts off.
function listNeurons(strongest, alone, damped, shut) {
  const told = [[damped, "damped"], [shut, "shut off"]].filter(
    ([neuron]) => neuron && !strongest.some(([index]) => index === neuron[0])
  ).map(([neuron, role]) => ({ neuron, role }));
  const others = strongest.map((neuron, i) => ({ neuron, role: i || !alone ? "" : "strongest" }));
  return [...others, ...told];
}

function drawDot(sketch, i, { neuron: [, before, after], role }, { x, y, shown, taken }) {
  const [at, to] = [x(before), y(mix(0, after, shown))];
  const color = role ? "var(--bvc-ffn)" : "var(--bvc-paper)";
  const dot = { r: role ? 5.5 : 3.5, fill: color, stroke: role ? "var(--bvc-paper)" : "var(--bvc-ffn)" };
  sketch.put(`dot ${i}`, "circle", { cx: cut(at), cy: cut(to), ...dot, opacity: cut(shown, 3) });
  if (!role) return;
  const rise = { stroke: "var(--bvc-ffn)", "stroke-opacity": 0.5, "stroke-dasharray": "3 3" };
  sketch.line(`rise ${i}`, at, y(0), at, to, rise);
  const name = placeName(taken, measure(role, 13, false, 650), at, y(after), role === "shut off");
  sketch.text(`dot name ${i}`, name.x, name.y, role, {
    size: 13, bold: true, fill: "var(--bvc-ffn)", opacity: shown, halo: true,
  });
}

// Where a dot's name stands: the first place beside the dot that no other name has taken.
function placeName(taken, wide, x, y, first) {
  const around = [[x - 10 - wide, y + 4], [x - wide, y - 12], [x + 10, y + 4], [x + 4, y + 20]];
  const places = first ? [[x - 4, y - 12]] : around;
  const free = ([left, base]) => taken.every(
    (other) => Math.abs(other.y - base) > 15 || left > other.x + other.wide || left + wide < other.x
  );
  const [left, base] = places.find(free) ?? places[0];
  taken.push({ x: left, y: base, wide });
  return { x: left, y: base };
}

// The curve with the list beside it, or over it where there is little room.
function placeNeurons({ x, y, w, h }, count) {
  if (w < 420) {
    const chart = { x: x + 8, y: y + 60, w: w - 20, h: Math.max(40, h - 96 - 24 * count) };
    return { chart, list: { x, w, y: chart.y + chart.h + 40, pitch: Math.min(24, (h - chart.h - 116) / count) } };
  }
  const chart = { x: x + 8, y: y + 64, w: w * 0.54 - 8, h: h - 100 };
  const left = chart.x + chart.w + 34;
  return { chart, list: { x: left, w: x + w - left, y: chart.y + 10, pitch: Math.min(44, chart.h / count) } };
}

// curve: the points of the program's own function, none where a change put numbers in its place; the dashed line: what
// would come out of it unchanged.
function drawCurve(sketch, { x: left, w, y: top, h }, { x, y, low, high, curve }) {
  sketch.line("across", left, y(0), left + w, y(0), { stroke: "var(--bvc-line)" });
  sketch.line("up", x(0), top, x(0), top + h, { stroke: "var(--bvc-line)" });
  const same = { stroke: FAINT, "stroke-dasharray": "4 4" };
  sketch.line("same", x(0), y(0), x(high), y(high), same);
  if (curve.length) {
    sketch.path("curve", `M${curve.map(([point, value]) => `${cut(x(point))} ${cut(y(value))}`).join("L")}`, {
      stroke: "var(--bvc-ffn)", "stroke-width": 2,
    });
  }
  const small = { size: 12, fill: FAINT };
  sketch.text("least", left, top + h + 18, `in: ${writeShort(low)}`, small);
  sketch.text("none", x(0), top + h + 18, "0", { ...small, at: "middle" });
  sketch.text("most", left + w, top + h + 18, writeShort(high), { ...small, at: "end" });
  sketch.text("out", x(0) - 6, top + 4, `out: ${writeShort(high)}`, { ...small, at: "end" });
  const some = Math.max(1.2, high * 0.3);
  if (h > 180) sketch.text("same name", x(some) - 8, y(some) + 2, "dashed: unchanged", { ...small, at: "end" });
}

function drawNeuron(sketch, i, { neuron: [index, before, after], role }, { shown, list, most }) {
  const y = list.y + i * list.pitch;
  const bold = role ? 650 : 400;
  const small = { size: 12.5, mono: true, opacity: shown };
  sketch.text(`neuron ${i}`, list.x, y + 4.5, `${index}`, { ...small, size: 13, bold });
  sketch.text(`in ${i}`, list.x + 88, y + 4.5, writeShort(before), { ...small, at: "end", fill: FAINT });
  sketch.text(`becomes ${i}`, list.x + 92, y + 4.5, "→", { ...small, fill: FAINT });
  const number = writeShort(after);
  const end = Math.max(0, (Math.abs(after) / (most || 1)) * (list.w - 112 - measure(number, 12.5, true, 650)) * shown);
  sketch.box(`fired ${i}`, { x: list.x + 108, y: y - 6, w: Math.max(1.5, end), h: 12 }, {
    rx: 2, fill: "var(--bvc-ffn)", "fill-opacity": role ? 1 : 0.6,
  });
  sketch.text(`out ${i}`, list.x + 112 + end, y + 4.5, number, { ...small, bold });
}
