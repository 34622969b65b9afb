// Tokens, titles, the columns of a matrix, the likeliest words, and the scales with their ends.

const WORD_LINE = 24; // pixels of a line among the chosen row's words
const HEADING = { y: 20, under: 37, third: 54 };
const PHONE_HEADING = { y: 18, under: 34, third: 46 };

function drawTokens(canvas, sketch) {
  const { frame, data, at, pointed } = canvas;
  const box = frame.parts.tokens;
  if (box.w < 20) return;
  const size = Math.max(12, Math.min(15, frame.row * 0.62));
  for (const row of seenRows(frame, data.tokens.length)) {
    const token = data.tokens[row];
    if (rowTop(frame, row) < canvas.frame.ceiling - frame.row || !isSeen(frame, row)) continue;
    const chosen = token.index === canvas.place.token;
    const spoken = chosen || spokenKey(canvas) === row;
    const faint = token.pad ? 0.55 : canvas.lights && !spoken && !canvas.explained.cell ? 0.8 : 1;
    drawChip(canvas, sketch, row, {
      token, chosen, lit: pointed === row || spokenKey(canvas) === row, high: Math.min(30, frame.row - (frame.row > 24 ? 6 : 2)),
    });
    const fill = chosen ? "var(--bvc-surface)" : token.special ? "var(--bvc-faint)" : undefined;
    const number = box.w > 100 ? measure(token.index, 12, true) + 16 : 8;
    const text = fit(token.text, size, box.w - 16 - number, chosen ? 650 : 400);
    const y = rowMiddle(frame, row) + size / 3;
    sketch.text(`token ${row}`, box.x + 10, y, text, { size, bold: chosen, fill, opacity: faint });
    if (box.w > 100) {
      sketch.text(`index ${row}`, box.x + box.w - 12, y, token.index, {
        size: 12, at: "end", mono: true, fill: chosen ? fill : "var(--bvc-faint)", opacity: faint,
      });
    }
  }
}

function drawChip({ frame }, sketch, row, { token, chosen, lit, high }) {
  const { x, w } = frame.parts.tokens;
  const plain = token.second ? "var(--bvc-second)" : "var(--bvc-surface)";
  sketch.box(`chip ${row}`, { x: x + 0.5, y: rowMiddle(frame, row) - high / 2, w: w - 5, h: high }, {
    rx: token.piece ? 3 : Math.min(7, high / 3), fill: chosen ? "var(--bvc-text)" : lit ? "var(--bvc-first)" : plain,
    stroke: chosen ? "none" : lit ? "var(--bvc-faint)" : "var(--bvc-line)",
    "stroke-dasharray": token.special && !chosen ? "3 3" : undefined,
  });
}

function drawTitles(canvas, sketch) {
  const { place, frame } = canvas;
  const levels = place.stop ? "stop" : place.level;
  for (const [part, box] of Object.entries(frame.parts)) {
    const ribbons = part.startsWith("ribbons");
    if (box.a < 0.6 || ["tokens", "words", "panel", "collect"].includes(part)) continue;
    const shown = Math.min(1, (box.a - 0.6) / 0.4);
    if (ribbons && levels === "pass") titleBlock(canvas, sketch, Number(part.split(".")[1]), shown);
    if (ribbons || (levels === "pass" && part !== "embedding")) continue;
    if (box.w < 24) titleSpine(canvas, sketch, part, box, shown);
    else titlePart(canvas, sketch, part, box, shown);
  }
  if (frame.parts.matrix.a > 0.5 && frame.parts.matrix.w > 60) titleKeys(canvas, sketch);
  if (frame.parts.weights.a > 0.5 && place.level === "layer" && !place.stop) titleHeads(canvas, sketch);
}

function heading({ frame }) {
  return frame.phone ? PHONE_HEADING : HEADING;
}

function titleBlock(canvas, sketch, layer, opacity) {
  const { frame: { parts, phone }, hover } = canvas;
  const { y, third } = heading(canvas);
  const [from, to] = [parts[`ribbons.${layer}`], parts[`output.${layer}`]];
  const width = to.x + to.w - from.x;
  const names = [`Layer ${layer}`, `L ${layer}`, `${layer}`];
  const words = names.find((text) => measure(text, 13.5, false, 650) < width) ?? "";
  sketch.text(`layer ${layer}`, from.x, y, words, { size: 13.5, bold: true, opacity });
  const over = hover?.layer === layer || hover?.part?.endsWith(`.${layer}`);
  sketch.line(`rule ${layer}`, from.x, y + 11, to.x + to.w, y + 11,
    { stroke: over ? "var(--bvc-text)" : "var(--bvc-line)", "stroke-width": over ? 2 : 1, opacity: cut(opacity, 3) });
  const inside = [["attention", from], ["neurons", parts[`neurons.${layer}`]], ["output", to]];
  const colors = { attention: "attention", neurons: "ffn", output: "norm" };
  if (inside.some(([text, box]) => measure(text, 12) > box.w + (phone ? 30 : 6))) return;
  for (const [text, box] of inside) {
    sketch.text(`${text} ${layer}`, box.x + box.w / 2, third - (phone ? 1 : 2), text, {
      size: 12, at: "middle", fill: `var(--bvc-${colors[text]})`, opacity,
    });
  }
}

function titlePart(canvas, sketch, part, box, opacity) {
  const stage = stageOf(canvas, part) ?? canvas.stages.get(`head.${part}`) ?? canvas.stages.get(part);
  if (!stage) return;
  const { y, under } = heading(canvas);
  const { level, layer, stop } = canvas.place;
  const input = (!stop || [3, 7].includes(stop)) && level === "layer" && stage.layer !== layer && /output|embedding/.test(part);
  const names = input ? ["Layer input", "Input", "In"] : nameStage(stage, canvas);
  const room = findNext(canvas.frame, box) - box.x - 7;
  const words = names.find((name) => measure(name, 13.5, false, 650) <= room) ?? "";
  sketch.text(`title ${part}`, box.x, y, words, { size: 13.5, bold: true, fill: `var(--bvc-${stage.kind})`, opacity });
  if (level === "layer" && !stop && findStrip(canvas, part)) underlineTitle(canvas, sketch, part, box, words);
  if (part === "matrix" || (part === "embedding" && box.w < 70)) return;
  const more = part === "weights" ? "rows ask, columns answer · click a head" : tellColumns(canvas, stage, box.w);
  const text = measure(more, 12) <= room ? more : more.replace(/ of .*| numbers/, "");
  if (measure(text, 12) <= room) {
    sketch.text(`of ${part}`, box.x, under, text, {
      size: 12, fill: "var(--bvc-faint)", opacity,
    });
  }
}

// What can be pressed is underlined, as the crumbs are.
function underlineTitle(canvas, sketch, part, box, words) {
  const { y } = heading(canvas);
  const over = canvas.hover?.strip && canvas.hover.part === part;
  sketch.line(`underline ${part}`, box.x, y + 4, box.x + measure(words, 13.5, false, 650), y + 4, {
    stroke: over ? "var(--bvc-text)" : "var(--bvc-line)", "stroke-width": over ? 2 : 1,
  });
}

// Where the next part at the right begins.
function findNext({ parts, width }, box) {
  const others = Object.values(parts).filter(({ x, a, w }) => x > box.x && a > 0.5 && w > 1);
  return Math.min(width, ...others.map(({ x }) => x));
}

// Names of a stage from the longest to the shortest.
function nameStage({ id, title, short }, { data, place }) {
  const spoken = { query: "Q · asks", key: "K · offers", value: "V · hands over", context: "Result" };
  const own = id.startsWith("head.") && place.level === "head" ? spoken[id.slice(5)] : null;
  if (id === "weights") return [`Attention weights, ${data.size.heads} heads`, `${data.size.heads} heads`];
  if (id === "head.weights") return ["Attention weights: each row adds up to 1", title, "Weights"];
  if (id === "sum" || id === "sum2") return ["Residual sum", "Sum"];
  if (id === "context") return ["Heads merged", "Merged"];
  if (id.startsWith("output")) return ["Layer output", "Output", "Out"];
  if (/^head\.(query|key|value)$/.test(id)) return own ? [own, short] : [short];
  const capital = short[0].toUpperCase() + short.slice(1);
  return own ? [own] : [title, capital, capital.slice(0, 4)];
}

function titleSpine(canvas, sketch, part, box, opacity) {
  const { place, data } = canvas;
  const layer = part === "embedding" ? "E" : part.split(".")[1];
  const every = Math.ceil(14 / Math.max(box.w, 1));
  if (box.w < 3 || (layer !== "E" && Number(layer) % every)) return;
  const { third } = heading(canvas);
  const here = Number(layer) === place.layer;
  sketch.text(`spine ${part}`, box.x + box.w / 2, third, layer, {
    size: 12, at: "middle", mono: true, bold: here, fill: here ? undefined : "var(--bvc-faint)", opacity,
  });
  const after = place.layer + 1 + (place.level === "head" ? -1 : 0);
  const side = part === "embedding" ? "before" : layer === String(after) && after < data.size.layers - 1 ? "after" : "";
  const wide = (side === "before" ? place.layer : data.size.layers - after) * box.w;
  if (side && wide > 28) {
    sketch.text(`spines ${side}`, box.x, heading(canvas).y, side, {
      size: 12, fill: "var(--bvc-faint)", opacity,
    });
  }
}

// The keys over the columns of a head's matrix.
function titleKeys(canvas, sketch) {
  const { frame, data, hover, cursor } = canvas;
  const box = frame.parts.matrix;
  const wide = box.w / frame.count;
  const y = canvas.frame.ceiling - 1;
  const lit = [hover, cursor].find((each) => each?.part === "matrix")?.where.key;
  const keys = seenRows(frame, data.tokens.length).filter((key) => isSeen(frame, key));
  const flat = keys.every((key) => measure(data.tokens[key].text, 12) < wide - 4);
  for (const key of keys) {
    const { text } = data.tokens[key];
    const x = box.x + (key - frame.first + 0.5) * wide;
    const style = { size: 12, bold: key === lit ? 700 : 400, fill: key === lit ? undefined : "var(--bvc-faint)" };
    if (flat) sketch.text(`key ${key}`, x, y - 3, text, { ...style, at: "middle" });
    else sketch.text(`key ${key}`, x - 2, y, fit(text, 12, 44), { ...style, turn: -38 });
  }
}

function titleHeads(canvas, sketch) {
  const { place, hover, frame } = canvas;
  headBoxes(canvas).forEach(({ x, y, size }, head) => {
    const [chosen, over] = [head === place.head, hover?.part === "weights" && hover.where.head === head];
    const name = size > 44 ? `head ${head}` : `${head}`;
    const style = {
      size: 12, bold: chosen ? 650 : 400, fill: chosen || over ? undefined : "var(--bvc-faint)",
      opacity: frame.parts.weights.a,
    };
    sketch.text(`head ${head}`, x, y - 6, name, style);
    if (!chosen && !over) return;
    sketch.box(`head box ${head}`, { x: x - 3, y: y - 3, w: size + 5, h: size + 5 },
      { rx: 4, fill: "none", stroke: chosen ? "var(--bvc-text)" : "var(--bvc-faint)", "stroke-width": 1.5 });
  });
}
