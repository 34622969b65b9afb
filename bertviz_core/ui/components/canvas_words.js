// The answer, as bars at the chosen row; and the scales with their ends.

function drawWords(canvas, sketch) {
  const { data, frame } = canvas;
  const box = frame.parts.words;
  if (!data.words || box.a < 0.05 || box.w < 60) return;
  const { y, third } = heading(canvas);
  const depth = box.a * canvas.fade("words");
  sketch.text("words", box.x, y, "Words", { size: 13.5, bold: true, opacity: depth });
  sketch.line("words rule", box.x, y + 11, box.x + box.w, y + 11, {
    stroke: "var(--bvc-line)", opacity: cut(depth, 3),
  });
  if (box.w > 140) {
    sketch.text("words sub", box.x, third - 2, "the likeliest at each token", {
      size: 12, fill: "var(--bvc-faint)", opacity: depth,
    });
  }
  const card = cardBox(canvas);
  for (const row of seenRows(frame, data.tokens.length)) {
    const at = rowMiddle(frame, row);
    if (!isSeen(frame, row) || (at > card.y - 14 && at < card.y + card.h + 12)) continue;
    drawWord(
      sketch, `word ${row}`, data.words.top[row], { x: box.x + 10, w: box.w - 20, y: at + 5 },
      { opacity: depth, fill: isPointed(canvas, { row }) ? undefined : "var(--bvc-faint)" }
    );
  }
  drawCard(canvas, sketch, card, depth);
}

// Whether a row's word is pointed at, or one of the chosen row's.
function isPointed({ hover }, { row, word }) {
  return hover?.part === "words" && (word === undefined ? hover.where.row === row : hover.word === word);
}

function drawWord(sketch, key, { word, share }, { x, w, y }, paint) {
  const number = writeShare(share);
  sketch.text(key, x, y, fit(word, 13.5, w - 8 - measure(number, 12, true)), { size: 13.5, ...paint });
  sketch.text(`${key} share`, x + w, y, number, { size: 12, mono: true, at: "end", ...paint });
}

// Where the five likeliest words of the chosen row stand.
function cardBox({ frame, at, data }) {
  const { x, w } = frame.parts.words;
  const h = WORD_LINE * data.words.best.length + 16;
  const bottom = frame.top + frame.row * frame.count;
  return { x, w, h, y: Math.max(frame.top, Math.min(bottom - h, rowMiddle(frame, at) - 20)) };
}

function drawCard(canvas, sketch, { x, y, w, h }, opacity) {
  const { data: { words: { best } }, explained } = canvas;
  const shown = { opacity: cut(opacity, 3) };
  sketch.box("card", { x, y, w, h }, { rx: 10, fill: "var(--bvc-surface)", stroke: "var(--bvc-line)", ...shown });
  const widest = Math.max(...best.map(({ word }) => measure(word, 15, false, 650)));
  const most = Math.max(0.15, best[0].share);
  best.forEach(({ word, share, address }, i) => {
    const line = { x, w, y: y + 8 + i * WORD_LINE, longest: Math.min(w * 0.46, widest + 10), opacity };
    drawBest(sketch, i, { word, share, part: share / most }, line);
    const ringed = { x: x + 3, y: line.y, w: w - 6, h: WORD_LINE };
    const ring = address === explained.cell ? "var(--bvc-text)" : isPointed(canvas, { word: i }) && "var(--bvc-faint)";
    if (ring) sketch.box(`ring ${i}`, ringed, { rx: 6, fill: "none", stroke: ring, "stroke-width": 2 });
  });
}

// One of the likeliest words: its share as a bar and in figures.
function drawBest(sketch, i, { word, share, part }, { x, y, w, longest, opacity }) {
  const [size, bold, fill] = i ? [14, 400, "var(--bvc-faint)"] : [15, 700, undefined];
  sketch.text(`best ${i}`, x + 10, y + 17, fit(word, size, longest, bold), { size, bold, opacity });
  const room = w - longest - 22 - measure("> 99.9 %", 12, true, 700);
  const bar = { x: x + longest + 8, y: y + 7, w: Math.max(1.5, room * part), h: 10 };
  const paint = { rx: 2, fill: "var(--bvc-prediction)", "fill-opacity": i ? 0.5 : 1, opacity: cut(opacity, 3) };
  if (room > 6) sketch.box(`bar ${i}`, bar, paint);
  sketch.text(`share ${i}`, x + w - 8, y + 16.5, writeShare(share), { size: 12, mono: true, at: "end", bold, fill, opacity });
}

// The scales that the level uses: [part, name].
function listScales(canvas) {
  const { place, frame, data: { size } } = canvas;
  if (place.strip) return [[namePart(canvas, place.strip).part]];
  const { layer, level, stop } = place;
  const before = layer ? `output.${layer - 1}` : "embedding";
  const ofStop = {
    2: [["embedding", "embedding"]], 3: [[before, "layer input"], ["query"], ["key"], ["value"]],
    7: [["sum", "attention output, sum"], ["norm", "layer input, LayerNorm"]],
    9: [[`output.${size.layers - 1}`, "layer output"]],
  };
  const inner = [
    ["matrix"], ["weights"], ["query"], ["key"], ["value"], ["sum"], [`output.${layer}`, "LayerNorm"],
    [`neurons.${layer}`, "neurons"],
  ];
  const outer = [[`output.${layer}`, "embedding, output"], [`neurons.${layer}`, "neurons"]];
  const wanted = ofStop[stop] ?? (level === "pass" && !stop ? outer : inner);
  return wanted.filter(([part]) => {
    const box = frame.parts[part];
    return box && box.a > 0.5 && box.w > 3 && !(part === "weights" && frame.parts.matrix.a > 0.5);
  });
}

function drawLegend(canvas, sketch) {
  const { frame, place } = canvas;
  const base = frame.top + frame.row * frame.count + frame.stubs + (frame.phone ? 20 : 17);
  let x = EDGE;
  for (const [part, name] of listScales(canvas)) {
    const stage = stageOf(canvas, part);
    if (stage && x < frame.width - (frame.phone ? 100 : 200)) {
      x = drawScale(
        canvas, sketch, stage, name ?? stage.short, x, base
      );
    }
  }
  if (frame.phone || place.stop) return;
  if (place.level === "layer" && !place.strip) x = drawLaneKey(canvas, sketch, x, base);
  drawNote(canvas, sketch, x, base);
}

function drawScale({ colors, frame }, sketch, { kind, limit, signed }, name, x, y) {
  const [low, high] = [signed ? writeEnd(-limit) : "0", writeEnd(limit)];
  const [before, wide] = [measure(low, 12, true) + 6, frame.phone ? 40 : 56];
  const small = { size: 12, mono: true, fill: "var(--bvc-faint)" };
  sketch.text(`low ${name}`, x, y, low, small);
  for (let i = 0; i < 16; i++) {
    const value = signed ? (i / 7.5 - 1) * limit : (i / 15) * limit;
    sketch.box(`scale ${name} ${i}`, { x: x + before + (i * wide) / 16, y: y - 10, w: wide / 16 + 0.3, h: 11 }, {
      fill: colors.shade(kind, value, limit),
    });
  }
  const after = x + before + wide + 6;
  sketch.text(`high ${name}`, after, y, high, small);
  const start = after + measure(high, 12, true) + 7;
  sketch.text(`of ${name}`, start, y, name, { size: 12.5, fill: "var(--bvc-faint)" });
  return start + measure(name, 12.5) + (frame.phone ? 12 : 22);
}

function writeEnd(value) {
  return (value < 0 ? "−" : "") + String(Number(Math.abs(value).toPrecision(2)));
}

function drawLaneKey({ colors, frame }, sketch, x, y) {
  const words = "residual: passes around, then is added";
  if (x + 50 + measure(words, 12.5) > frame.width) return x;
  sketch.line("lane key", x, y - 5, x + 34, y - 5, {
    stroke: colors.cell("residual"), "stroke-opacity": 0.5, "stroke-width": 5, "stroke-linecap": "round",
  });
  sketch.text("lane words", x + 44, y, words, { size: 12.5, fill: "var(--bvc-faint)" });
  return x + 60 + measure(words, 12.5);
}

// Beside the scales, or under them, what is drawn and what is not.
function drawNote(canvas, sketch, x, y) {
  const room = canvas.frame.width - EDGE;
  let [at, line] = [x, y];
  tellNote(canvas).forEach((sentence, i) => {
    const width = measure(sentence, 12.5) + 5;
    if (at + width > room && line === y) [at, line] = [EDGE, y + 17];
    if (at + width <= room) sketch.text(`note ${i}`, at, line, sentence, { size: 12.5, fill: "var(--bvc-faint)" });
    at += width;
  });
}

function tellNote(canvas) {
  const { data, frame: { parts }, place, quiet } = canvas;
  const { token } = canvas;
  const special = quiet ? [tellQuiet(canvas)] : [];
  const marks = data.changed ? ["Underlined cells were changed."] : [];
  if (place.level === "head") return [`Row ${token}: what it asks, and what it is answered.`, ...marks];
  if (place.strip) return marks;
  if (place.level === "layer") return ["The title of a strip opens all of it.", ...marks];
  const told = (part) => {
    const stage = stageOf(canvas, part);
    return stage ? tellColumns(canvas, stage, parts[part].w) : "";
  };
  const size = data.face === "difference" ? "size of the change" : "weight";
  const own = `neurons.${place.layer}`;
  const neurons = parts[own].w > 4 ? `; neurons: ${told(own)}, strongest at ${token} first` : "";
  return [
    `Ribbons: attention of ${token}, mean of ${data.size.heads} heads, opacity = ${size}.`, ...special,
    `Components drawn: embedding ${told("embedding")}, output ${told(`output.${place.layer}`)}${neurons}.`, ...marks,
    "Zoom in for all.",
  ];
}

function tellQuiet({ data, stages, place }) {
  const { values } = stages.get(`ribbons.${place.layer}`);
  const share = data.tokens.reduce((all, { special }, i) => all + (special ? values[i] : 0), 0);
  return `Without special tokens: ${writeShare(share)} of layer ${place.layer} is not drawn.`;
}
