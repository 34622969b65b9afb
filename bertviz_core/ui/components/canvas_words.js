// The answer: the likeliest word of each row, and beside them those of the chosen one, as bars; and the scales.

const CARD = { wide: 146, narrow: 118, gap: 8 }; // pixels: with bars and without, and left of it
const WORD = { least: 60, numbered: 104, most: 134 }; // of the column of words; from `numbered` on with their shares

function drawWords(canvas, sketch) {
  const { data, frame } = canvas;
  const box = frame.parts.words;
  if (!data.words || box.a < 0.05 || box.w < 60) return;
  const { y, third } = heading(canvas);
  sketch.text("words", box.x, y, "Words", { size: 13.5, bold: true, opacity: box.a });
  sketch.line("words rule", box.x, y + 11, box.x + box.w, y + 11, {
    stroke: "var(--bvc-line)", opacity: cut(box.a, 3),
  });
  const { w } = listWords(canvas);
  const sub = [
    ...(w ? ["the likeliest at each token"] : []), `the likeliest at ${canvas.token}`, "the likeliest",
  ].find((text) => measure(text, 12) < box.w);
  sketch.text("words sub", box.x, third - 2, sub ?? "", { size: 12, fill: "var(--bvc-faint)", opacity: box.a });
  if (w) for (const row of seenRows(frame, data.tokens.length)) drawWord(canvas, sketch, row, { x: box.x, w });
  drawCard(canvas, sketch, cardBox(canvas), box.a);
}

// Beside the card, as wide as there is room: a column of the likeliest word of each row, of no width without any.
function listWords({ frame }) {
  const { x, w } = frame.parts.words;
  const column = w - CARD.wide >= WORD.most ? WORD.most : w - CARD.narrow;
  return { x, w: column >= WORD.least ? column - CARD.gap : 0 };
}

// Whether a row's word is pointed at, or one of the chosen row's.
function isPointed({ hover }, { row, word }) {
  return hover?.part === "words" && (word === undefined ? hover.where.row === row : hover.word === word);
}

function drawWord(canvas, sketch, row, { x, w }) {
  if (!isSeen(canvas.frame, row)) return;
  const { word, share } = canvas.data.words.top[row];
  const lit = row === canvas.at || isPointed(canvas, { row });
  const paint = { opacity: canvas.frame.parts.words.a, fill: lit ? undefined : "var(--bvc-faint)" };
  const number = writePercent(share);
  const wide = w > WORD.numbered ? measure(number, 12, true) + 8 : 0;
  const size = Math.min(13.5, Math.max(12, canvas.frame.row * 0.6));
  const y = rowMiddle(canvas.frame, row) + 5;
  sketch.text(`word ${row}`, x, y, fit(word, size, w - wide), { size, ...paint });
  if (wide) sketch.text(`word ${row} share`, x + w, y, number, { size: 12, mono: true, at: "end", ...paint });
}

// Where the five likeliest words of the chosen row stand.
function cardBox(canvas) {
  const { frame, at, data } = canvas;
  const { x, w } = frame.parts.words;
  const column = listWords(canvas).w;
  const left = column ? column + CARD.gap : 0;
  const h = WORD_LINE * data.words.best.length + 16;
  const bottom = frame.top + frame.row * frame.count;
  return { x: x + left, w: w - left, h, y: Math.max(frame.top, Math.min(bottom - h, rowMiddle(frame, at) - 20)) };
}

function drawCard(canvas, sketch, { x, y, w, h }, opacity) {
  const { data: { words: { best } }, explained } = canvas;
  const shown = { opacity: cut(opacity, 3) };
  sketch.box("card", { x, y, w, h }, { rx: 10, fill: "var(--bvc-surface)", stroke: "var(--bvc-line)", ...shown });
  const widest = Math.max(...best.map(({ word }) => measure(word, 15, false, 650)));
  const most = Math.max(0.15, best[0].share);
  const number = Math.max(...best.map(({ share }) => measure(writePercent(share), 12, true, 700)));
  const longest = Math.min(w - number - 26, widest + 2);
  best.forEach(({ word, share, address }, i) => {
    const line = { x, w, y: y + 8 + i * WORD_LINE, longest, number };
    drawBest(sketch, i, { word, share, part: share / most }, line, opacity);
    const ringed = { x: x + 3, y: line.y, w: w - 6, h: WORD_LINE };
    const ring = address === explained.cell ? "var(--bvc-text)" : isPointed(canvas, { word: i }) && "var(--bvc-faint)";
    if (ring) sketch.box(`ring ${i}`, ringed, { rx: 6, fill: "none", stroke: ring, "stroke-width": 2 });
  });
}

// One of the likeliest words: its share as a bar, where there is room, and in figures.
function drawBest(sketch, i, { word, share, part }, { x, y, w, longest, number }, opacity) {
  const [size, bold, fill] = i ? [14, 400, "var(--bvc-faint)"] : [15, 700, undefined];
  sketch.text(`best ${i}`, x + 10, y + 17, fit(word, size, longest, bold), { size, bold, opacity });
  const room = w - longest - number - 34;
  const bar = { x: x + longest + 18, y: y + 7, w: Math.max(1.5, room * part), h: 10 };
  const paint = { rx: 2, fill: "var(--bvc-prediction)", "fill-opacity": i ? 0.5 : 1, opacity: cut(opacity, 3) };
  if (room > 12) sketch.box(`bar ${i}`, bar, paint);
  const style = { size: 12, mono: true, at: "end", bold, fill, opacity };
  sketch.text(`share ${i}`, x + w - 8, y + 16.5, writePercent(share), style);
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
  const outer = [["embedding"], [`output.${canvas.open}`, "output"], [`neurons.${canvas.open}`, "neurons"]];
  const wanted = ofStop[stop] ?? (level === "pass" && !stop ? outer : inner);
  return wanted.filter(([part]) => {
    const box = frame.parts[part];
    return box && box.a > 0.5 && box.w > 3 && !(part === "weights" && frame.parts.matrix.a > 0.5);
  });
}

// The line that the scales stand on.
function legendLine({ top, row, count, stubs, phone }) {
  return top + row * count + stubs + (phone ? 20 : 17);
}

// The scales, and after them what is drawn and what is not; the first line ends where the switch begins.
function drawLegend(canvas, sketch) {
  const { frame, place } = canvas;
  const base = legendLine(frame);
  const end = frame.width - EDGE;
  const ends = frame.phone ? [end] : [end - canvas.chrome.switchWidth, end];
  let [x, line] = [EDGE, 0];
  const put = (wide, draw) => {
    if (x + wide > ends[line] && line + 1 < ends.length) [x, line] = [EDGE, line + 1];
    if (x + wide > ends[line]) return;
    draw(x, base + 17 * line);
    x += wide + (frame.phone ? 9 : 20);
  };
  for (const [part, name] of listScales(canvas)) {
    const stage = stageOf(canvas, part);
    const words = name ?? stage?.short;
    if (stage) put(measureScale(canvas, stage, words), (...at) => drawScale(canvas, sketch, stage, words, ...at));
  }
  if (frame.phone || place.stop) return;
  tellNote(canvas).forEach((sentence, i) => put(measure(sentence, 12.5), (...at) => {
    sketch.text(`note ${i}`, ...at, sentence, { size: 12.5, fill: "var(--bvc-faint)" });
    x -= 14;
  }));
}

// Its two ends, each with its sign.
function writeEnds({ limit, signed }) {
  return signed ? [writeShort(-limit), `+${writeShort(limit)}`] : ["0", writeShort(limit)];
}

function measureScale({ frame }, stage, name) {
  const ends = writeEnds(stage).reduce((all, end) => all + measure(end, 12, true), 0);
  return ends + scaleWidth(frame) + 19 + measure(name, 12.5);
}

function scaleWidth({ phone }) {
  return phone ? 24 : 48;
}

function drawScale({ colors, frame }, sketch, stage, name, x, y) {
  const { kind, limit, signed } = stage;
  const [low, high] = writeEnds(stage);
  const [before, wide] = [measure(low, 12, true) + 6, scaleWidth(frame)];
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
  sketch.text(`of ${name}`, after + measure(high, 12, true) + 7, y, name, { size: 12.5, fill: "var(--bvc-faint)" });
}

function tellNote(canvas) {
  const { data, frame: { parts }, place, quiet, token } = canvas;
  const marks = data.changed ? ["Underlined numbers were changed."] : [];
  const signs = "Grey is negative.";
  if (place.strip) return [signs, ...marks];
  if (place.level === "head") return [signs, `Row ${token}: what it asks, and what it is answered.`, ...marks];
  const every = writeCount(data.size.width);
  if (place.level === "layer") return [signs, `Click a strip's title to see all ${every} of its numbers.`, ...marks];
  const told = (part) => {
    const stage = stageOf(canvas, part);
    return stage ? tellColumns(canvas, stage, parts[part].w) : "";
  };
  const size = data.face === "difference" ? "size of the change" : "weight";
  const own = `neurons.${canvas.open}`;
  const neurons = parts[own].w > 4 ? `; neurons ${told(own)}, strongest at ${token} first` : "";
  return [
    signs, ...(quiet ? [tellQuiet(canvas)] : []),
    `Ribbons: attention of ${token}, mean of ${data.size.heads} heads, opacity = ${size}.`,
    `Drawn: embedding ${told("embedding")}, output ${told(`output.${canvas.open}`)}${neurons}.`, ...marks,
    `For all ${every}, click a layer, in it a strip's title.`,
  ];
}

function tellQuiet({ data, stages, place }) {
  const { values } = stages.get(`ribbons.${place.layer}`);
  const share = data.tokens.reduce((all, { special }, i) => all + (special ? values[i] : 0), 0);
  return `Without special tokens: ${writePercent(share)} of layer ${place.layer} is not drawn.`;
}
