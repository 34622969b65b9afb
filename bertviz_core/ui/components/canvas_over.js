// What is drawn over the cells, layer by layer: ribbons, lanes, the tokens, titles, words, marks, a stop's picture.

const LAYERS = {
  ribbons: drawRibbons, lanes: drawLanes, tokens: drawTokens, titles: drawTitles, words: drawWords, legend: drawLegend,
  picture: drawStopPicture, marks: drawMarks,
};
const STRONG = 0.095; // from this weight on a ribbon's share is printed

function openLayers(svg) {
  const clip = svg.appendChild(document.createElementNS(SVG, "clipPath"));
  clip.id = "bvc-rows";
  clip.append(document.createElementNS(SVG, "rect"));
  return Object.fromEntries(Object.keys(LAYERS).map((name) => [name, new Sketch(svg)]));
}

// Rows that have gone up under their titles are cut off.
function clipRows({ frame, sketches, root }) {
  const rect = root.querySelector("#bvc-rows rect");
  Object.entries({ x: 0, y: frame.ceiling, width: frame.width, height: frame.height }).forEach(
    (each) => rect.setAttribute(...each)
  );
  for (const name of ["ribbons", "lanes", "tokens", "words", "marks"]) {
    write(sketches[name].group, "clip-path", frame.lifted ? "url(#bvc-rows)" : null);
  }
}

function drawOver(canvas) {
  clipRows(canvas);
  for (const [name, draw] of Object.entries(LAYERS)) {
    const sketch = canvas.sketches[name];
    sketch.begin();
    draw(canvas, sketch);
    sketch.end();
  }
}

// Attention, from the rows of the stage before to the chosen row: of every layer the mean over its heads.
function drawRibbons(canvas, sketch) {
  const { frame, data } = canvas;
  for (let layer = 0; layer < data.size.layers; layer++) {
    const box = frame.parts[`ribbons.${layer}`];
    const stage = canvas.stages.get(`ribbons.${layer}`);
    if (!box || !stage || box.a < 0.05 || box.w < 8) continue;
    const weights = Array.from(stage.values);
    const marked = weights.map((_, row) => isMarked(stage, { row }));
    drawBundle(canvas, sketch, { name: `ribbons.${layer}`, box, weights, marked, outside: data.outside[layer], layer });
  }
  drawCollected(canvas, sketch);
}

// Of the chosen head: how much of each token's value goes into the result.
function drawCollected(canvas, sketch) {
  const { frame, at, explained, place } = canvas;
  const box = frame.parts.collect;
  const stage = canvas.stages.get("head.weights");
  const elsewhere = explained.cell && !/context/.test(explained.cell);
  if (box.a < 0.05 || box.w < 8 || stage?.layer !== place.layer || elsewhere || !canvas.data.tokens[at]) return;
  const weights = Array.from({ length: canvas.data.tokens.length }, (_, key) => readValue(stage, { row: at, key }));
  const marked = weights.map((_, key) => isMarked(stage, { row: at, key }));
  const outside = canvas.data.outside.head;
  drawBundle(canvas, sketch, { name: "collect", box, weights, marked, outside, layer: place.layer });
}

// marked: of which of the weights a change has moved.
function drawBundle(canvas, sketch, { name, box, weights, marked, outside, layer }) {
  const { frame, data } = canvas;
  const rows = seenRows(frame, weights.length);
  const answering = canvas.hover?.where?.key ?? canvas.pointed;
  const depth = box.a * canvas.fade(name);
  const hidden = sumHidden(weights, frame, outside);
  const stack = stackEnds(canvas);
  drawStub(canvas, sketch, `${name} above`, box, { weight: hidden.before, end: stack(hidden.before), depth, side: -1 });
  for (const key of rows) {
    const weight = weights[key];
    const end = stack(weight);
    if (canvas.quiet && data.tokens[key].special) continue;
    const from = { y: rowMiddle(frame, key), h: Math.min(frame.row - 8, 24) };
    sketch.path(`${name} ${key}`, ribbon(box.x, box.x + box.w, Math.min(28, box.w * 0.42), from, end), {
      ...paintRibbon(canvas, weight, depth), "data-weight": weight, "data-layer": layer,
      "data-key": key + data.window.start, stroke: answering === key ? "var(--bvc-attention)" : undefined,
    });
  }
  drawStub(canvas, sketch, `${name} below`, box, { weight: hidden.after, end: stack(hidden.after), depth, side: 1 });
  printShares(canvas, sketch, { name, box, weights, marked, depth, rows, layer });
}

// Where ribbons end at the chosen row: one on the other, together as high as the row.
function stackEnds({ frame, at }) {
  const row = Math.max(frame.first - 0.7, Math.min(frame.first + frame.count - 0.3, at));
  let used = rowTop(frame, row) + 3;
  return (weight) => {
    const h = Math.abs(weight) * (frame.row - 6);
    used += h;
    return { y: used - h / 2, h };
  };
}

function paintRibbon({ colors }, weight, depth) {
  const color = weight < 0 ? colors.negative : colors.ink("attention");
  return { fill: color, "fill-opacity": Math.abs(weight), opacity: cut(depth, 3) };
}

// What goes to rows that are not seen: above and below.
function sumHidden(weights, { first, count }, outside = { before: 0, after: 0 }) {
  const sum = (from, to) => weights.slice(from, to).reduce((all, weight) => all + weight, 0);
  const start = Math.round(first);
  return { before: outside.before + sum(0, start), after: outside.after + sum(start + Math.round(count)) };
}

// A ribbon to tokens out of sight ends in a stub at the edge of the rows.
function drawStub({ frame, colors }, sketch, key, box, { weight, end, depth, side }) {
  if (Math.abs(weight) < 0.004) return;
  const edge = side < 0 ? frame.top - 4 : frame.top + frame.row * frame.count + 3;
  sketch.path(key, ribbon(box.x, box.x + box.w, Math.min(28, box.w * 0.42), { y: edge, h: 7 }, end), {
    fill: colors.ink("attention"), "fill-opacity": Math.abs(weight), opacity: cut(depth, 3), "data-outside": weight,
  });
  if (Math.abs(weight) < STRONG / 2 || box.w < 44) return;
  const words = `${side < 0 ? "↑" : "↓"}${writePercent(Math.abs(weight))}`;
  printShare(sketch, `${key} share`, box.x + 2, edge + (side < 0 ? 1 : 9) - 4.5, words, box.a);
}

// The strongest weights, printed where their ribbons begin, on paper: read alike on all of them. Those that a change
// has moved are underlined as cells are.
function printShares(canvas, sketch, { name, box, weights, marked, depth, rows, layer }) {
  if (box.w < 36 || depth < 0.05) return;
  const shown = rows.filter((key) => !(canvas.quiet && canvas.data.tokens[key].special) && isSeen(canvas.frame, key));
  const order = shown.sort((a, b) => weights[b] - weights[a]).slice(0, box.w > 60 ? 4 : 2);
  for (const key of order) {
    const weight = weights[key];
    if (weight < STRONG) break;
    const words = writePercent(weight);
    if (measure(words, 12, true, 600) > box.w - 4) continue;
    const [x, y] = [box.x + 2, rowMiddle(canvas.frame, key)];
    printShare(sketch, `${name} share ${key}`, x, y, words, box.a);
    if (!marked[key]) continue;
    sketch.line(`${name} share ${key} mark`, x + 3, y + 7, x + 3 + measure(words, 12, true, 600), y + 7, {
      stroke: "var(--bvc-text)", "stroke-width": 2, opacity: cut(box.a, 3), "data-changed": layer,
      "data-key": key + canvas.data.window.start,
    });
  }
}

function printShare(sketch, key, x, y, words, opacity) {
  sketch.box(`${key} tag`, { x, y: y - 7.5, w: measure(words, 12, true, 600) + 6, h: 15 }, {
    rx: 4, fill: "var(--bvc-paper)", "fill-opacity": 0.8, opacity: cut(opacity, 3),
  });
  sketch.text(key, x + 3, y + 4.5, words, { size: 12, mono: true, bold: 600, opacity });
}

// The residual stream at the level of a layer: what passes around attention and around the neurons, and is then added.
function drawLanes(canvas, sketch) {
  const { frame: { parts }, place: { layer, level, stop } } = canvas;
  const input = parts[layer ? `output.${layer - 1}` : "embedding"];
  const shown = parts.sum.a * (parts.weights.a || (stop === 7 ? 1 : 0));
  if (level === "layer" && !stop && shown > 0.05 && parts.query.w > 2 && !canvas.frame.phone) {
    if (joins(canvas, "sum")) {
      drawLane(canvas, sketch, "first", middle(input, parts.query), middle(parts.context, parts.sum), shown);
    }
    if (joins(canvas, "sum2")) drawLane(
      canvas, sketch, "second", middle(parts.norm, parts[`neurons.${layer}`]),
      middle(parts[`neurons.${layer}`], parts.sum2), shown
    );
  }
  if (level === "layer" && !stop && !canvas.frame.phone) drawWires(canvas, sketch, input, shown);
  const first = ["sum", parts.added.w ? "added" : "context"];
  const second = ["sum2", `neurons.${layer}`];
  for (const [to, from] of [first, second]) {
    if (parts[to].a > 0.05 && parts[to].w > 4 && !canvas.place.strip && joins(canvas, to)) {
      drawSums(
        canvas, sketch, to, middle(parts[from], parts[to]), parts[to].a
      );
    }
  }
}

// Whether the program makes a stage from several tensors. A sum without its residual, or the output of a layer that is
// skipped, is a copy of one.
function joins({ stages }, name) {
  return (stages.get(name)?.reads.length ?? 2) > 1;
}

// Along the chosen row, from stage to stage.
function drawWires(canvas, sketch, input, opacity) {
  const { frame, at, place: { layer } } = canvas;
  if (!isSeen(frame, at) || opacity < 0.05) return;
  const { query, context, sum, norm, sum2, [`neurons.${layer}`]: neurons, [`output.${layer}`]: output } = frame.parts;
  const pairs = [
    [input, query, "norm"], [context, sum, "value"], [sum, norm, "residual"], [norm, neurons, "norm"],
    [neurons, sum2, "ffn"], ...(joins(canvas, `output.${layer}`) ? [[sum2, output, "residual"]] : []),
  ];
  const y = rowMiddle(frame, at);
  for (const [from, to, kind] of pairs) {
    sketch.line(`wire ${cut(to.x)}`, from.x + from.w + 1, y, to.x - 1, y, {
      stroke: `var(--bvc-${kind})`, "stroke-width": 2, opacity: cut(opacity, 3),
    });
  }
}

function middle(left, right) {
  return (left.x + left.w + right.x) / 2;
}

function drawLane({ frame, colors }, sketch, key, from, to, opacity) {
  const over = frame.top - 5;
  const bottom = frame.top + frame.row * (frame.count - 0.5);
  const [x, end] = [cut(from), cut(to)];
  const way = `M${x} ${cut(bottom)}V${over + 6}q0 -6 6 -6H${end - 6}q6 0 6 6V${cut(bottom)}`;
  sketch.path(`lane ${key}`, way, {
    stroke: colors.cell("residual"), "stroke-opacity": 0.5, "stroke-width": 5, "stroke-linejoin": "round",
    opacity: cut(opacity, 3),
  });
  nameLane(sketch, key, x, end, over + 4, opacity);
}

// What passes around is called by its name on its own line.
function nameLane(sketch, key, from, to, y, opacity) {
  const words = ["residual connection", "residual"].find((name) => measure(name, 12) < to - from - 14);
  if (!words) return;
  sketch.text(`lane name ${key}`, from + 12, y, words, { size: 12, fill: "var(--bvc-residual)", opacity, halo: true });
}

// A plus at every row, where what passed around is added.
function drawSums({ frame, at, data }, sketch, key, x, opacity) {
  const radius = Math.min(9, frame.row / 2 - 2);
  for (const row of seenRows(frame, data.tokens.length)) {
    if (!isSeen(frame, row)) continue;
    const y = rowMiddle(frame, row);
    const stroke = row === at ? "var(--bvc-text)" : "var(--bvc-residual)";
    sketch.put(`${key} ring ${row}`, "circle", {
      cx: cut(x), cy: cut(y), r: radius, fill: "var(--bvc-surface)", stroke, "stroke-width": row === at ? 2 : 1.3,
      opacity: cut(opacity, 3),
    });
    const arm = radius * 0.45;
    const plus = `M${cut(x - arm)} ${cut(y)}h${cut(2 * arm)}M${cut(x)} ${cut(y - arm)}v${cut(2 * arm)}`;
    sketch.path(`${key} plus ${row}`, plus,
      { stroke, "stroke-width": 1.4, opacity: cut(opacity, 3) });
  }
}
