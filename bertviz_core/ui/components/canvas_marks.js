// What is ringed and outlined: the cell that the drawer explains, its operands where they are, what is pointed at.

const MANY = 3; // more operands than this in one row or column are outlined together
const SOURCES = {
  query: ["input"], key: ["input"], value: ["input"], sum: ["input", "context"], norm: ["sum"], neurons: ["norm"],
  sum2: ["norm", "neurons"], output: ["sum2"],
};
const SCORES = /attention\.self\.(probs|scores|scaled|products)\[/;

// A stage's name, as the server writes it, as parts of the picture.
function namePart({ place, frame }, id) {
  const name = id.replace("head.", "");
  if (name === "input") return { part: place.layer ? `output.${place.layer - 1}` : "embedding" };
  if (name === "scores" || (name === "weights" && frame?.parts.matrix.w > 2)) return { part: "matrix" };
  return { part: ["neurons", "output", "ribbons"].includes(name) ? `${name}.${place.layer}` : name };
}

// What keeps its full colour while all else is dimmed; null where nothing is spoken of. [{part, row?, column?, key?}]
function findLights(canvas) {
  if (canvas.focus) return [namePart(canvas, canvas.focus)];
  const { cell, operands } = canvas.explained;
  if (cell) {
    const found = listExplained(canvas, cell, operands);
    return found && [...found, ...findComponent(canvas, canvas.place.component)];
  }
  return canvas.place.stop ? listStopLights(canvas) : null;
}

function listExplained(canvas, cell, operands) {
  const rings = findDrawn(canvas, cell);
  const regions = listRegions(canvas, cell, operands);
  if (/^cls\.predictions/.test(cell)) {
    const { data: { size, words } } = canvas;
    return words ? [{ part: "words" }, { part: `output.${size.layers - 1}`, row: canvas.at }] : null;
  }
  return rings.length || regions.length ? [...rings.map(({ part, where }) => ({ part, ...where })), ...regions] : null;
}

// Where a cell stands in the picture: [{part, where}].
function findDrawn(canvas, address) {
  return canvas.stages.find(address).flatMap(({ stage, where }) => {
    const part = partOf(canvas, stage);
    const box = part && canvas.frame.parts[part];
    return box && box.a > 0.4 && box.w > 1 ? [{ part, where }] : [];
  });
}

// The operands of the explained cell, as rows, columns or single cells of parts.
function listRegions(canvas, cell, operands) {
  const [shown] = findDrawn(canvas, cell);
  if (shown && SCORES.test(cell) && "key" in shown.where) {
    const { row, key, head } = shown.where;
    const own = { part: shown.part, row, ...(head === undefined ? {} : { head }) };
    return [{ part: "query", row }, { part: "key", row: key }, own];
  }
  const groups = new Map(listSources(canvas, shown).map((part) => [part, []]));
  for (const { part, where } of operands.flatMap((address) => findDrawn(canvas, address))) {
    groups.set(part, [...(groups.get(part) ?? []), where]);
  }
  const gathered = (cells) => (cells.length ? gather(cells) : [{ row: shown.where.row }]);
  return [...groups].flatMap(([part, cells]) => gathered(cells).map((region) => ({ part, ...region })));
}

// The stages from whose rows a cell is made, where its own operands are not all drawn.
function listSources(canvas, shown) {
  if (!shown || shown.where.key !== undefined) return [];
  const sources = SOURCES[shown.part.split(".")[0]] ?? [];
  const own = stageOf(canvas, shown.part)?.layer === canvas.place.layer;
  const parts = own ? sources.map((id) => namePart(canvas, id).part) : [];
  return parts.filter((part) => canvas.frame.parts[part]?.w > 1);
}

function gather(cells) {
  for (const name of ["row", "column"]) {
    if (cells.length > MANY && cells.every((cell) => cell[name] === cells[0][name])) {
      const { head } = cells[0];
      return [{ [name]: cells[0][name], ...(head === undefined ? {} : { head }) }];
    }
  }
  return cells;
}

function listStopLights(canvas) {
  const { data, place, at } = canvas;
  const stop = data.stops[place.stop - 1];
  if (!stop) return null;
  const key = spokenKey(canvas);
  if (place.stop === 3) {
    const input = namePart(canvas, "input");
    return [{ ...input, row: at }, { ...input, row: key }, { part: "query", row: at }, { part: "key", row: key }, {
      part: "value", row: key,
    }];
  }
  if (place.stop === 4) {
    return [{ part: "query", row: at }, { part: "key", row: key }, { part: "matrix", row: at }];
  }
  if (place.stop === 5) return [{ part: "matrix", row: at }];
  return stop.lights.map((id) => namePart(canvas, id));
}

function drawMarks(canvas, sketch) {
  const { hover, cursor, explained } = canvas;
  drawChosenRow(canvas, sketch);
  drawComponent(canvas, sketch);
  if (explained.cell) drawExplained(canvas, sketch);
  if (hover?.stage) drawPointed(canvas, sketch, "hover", hover);
  if (cursor && canvas.stage.matches(":focus-visible")) drawCursor(canvas, sketch);
}

// The chosen row of a head's matrix, with its weights printed where there is room.
function drawChosenRow(canvas, sketch) {
  const { frame, at, place, colors } = canvas;
  const box = frame.parts.matrix;
  const stage = stageOf(canvas, "matrix");
  if (box.a < 0.5 || box.w < 60 || !isSeen(frame, at)) return;
  sketch.box("chosen row", { x: box.x - 2.5, y: rowTop(frame, at) - 2, w: box.w + 3.5, h: frame.row + 2.5 },
    { rx: 4, fill: "none", stroke: "var(--bvc-attention)", "stroke-width": 1.5, opacity: cut(box.a, 3) });
  if (!stage || place.stop === 4) return;
  for (const key of seenRows(frame, canvas.data.tokens.length)) {
    const weight = readValue(stage, { row: at, key });
    if (!isSeen(frame, key) || Math.abs(weight) < 0.005) continue;
    const { x, w } = matrixCell(frame, box, { row: at, key });
    const words = writeCellPercent(weight);
    if (measure(words, 12, true, 600) > w) continue;
    const fill = colors.readable("attention", Math.abs(weight), "zero");
    const style = { size: 12, mono: true, bold: 600, at: "middle", fill, opacity: box.a };
    sketch.text(`weight ${key}`, x + w / 2, rowMiddle(frame, at) + 4.5, words, style);
  }
}

function drawExplained(canvas, sketch) {
  const { cell, operands } = canvas.explained;
  listRegions(canvas, cell, operands).forEach((region, i) => drawRegion(canvas, sketch, `operand ${i}`, region));
  for (const { part, where } of findDrawn(canvas, cell)) {
    ring(canvas, sketch, `cell ${part}`, part, where, {
      stroke: "var(--bvc-text)", "stroke-width": 2.5, "data-ring": cell,
    });
    if (part === "matrix") drawWire(canvas, sketch, where);
  }
  if (/^cls\.predictions/.test(cell)) {
    drawRegion(canvas, sketch, "operand row", {
      part: `output.${canvas.data.size.layers - 1}`, row: canvas.at,
    });
  }
}

function drawRegion(canvas, sketch, key, region) {
  const { frame } = canvas;
  const box = frame.parts[region.part];
  const stage = stageOf(canvas, region.part);
  if (!stage || !box || box.a < 0.5 || box.w < 2) return;
  const paint = { fill: "none", stroke: `var(--bvc-${stage.kind})`, "stroke-width": 2, rx: 4 };
  if (region.part === "weights") return;
  if (region.row !== undefined && region.column === undefined && region.key === undefined) {
    if (region.part === "matrix" || !isSeen(frame, region.row)) return;
    const row = rowBox(frame, region.part, region.row);
    return sketch.box(key, { x: row.x - 2.5, y: row.y + 0.5, w: row.w + 5, h: row.h - 1 }, paint);
  }
  if (region.column !== undefined && region.row === undefined) {
    return columnBoxes(canvas, region.part, region.column).forEach(({ x, y, w, h }, i) => {
      sketch.box(`${key} ${i}`, { x: x - 2, y, w: w + 4, h }, paint);
    });
  }
  return ring(canvas, sketch, key, region.part, region, paint);
}

function ring(canvas, sketch, key, part, where, paint) {
  const box = cellBox(canvas, part, where);
  if (!box) return null;
  sketch.box(key, { x: box.x - 1.5, y: box.y - 1.5, w: box.w + 3, h: box.h + 3 }, { rx: 3, fill: "none", ...paint });
  return box;
}

// From the key's row, where the operand is, to its column.
function drawWire({ frame }, sketch, { row, key }) {
  const { key: from, matrix } = frame.parts;
  const cell = matrixCell(frame, matrix, { row, key });
  if (from.a < 0.5 || from.w < 8 || key === row || !isSeen(frame, key)) return;
  const [y, x] = [rowMiddle(frame, key), cell.x + cell.w / 2];
  const end = key < row ? cell.y - 2 : cell.y + cell.h + 2;
  sketch.path("wire", `M${cut(from.x + from.w + 3)} ${cut(y)}H${cut(x)}V${cut(end)}`, {
    stroke: "var(--bvc-key)", "stroke-width": 1.5, opacity: 0.75,
  });
}

// A cell that is pointed at; a component of the residual stream also in every other stage of that width.
function drawPointed(canvas, sketch, name, { part, stage, where }) {
  ring(canvas, sketch, name, part, where, { stroke: "var(--bvc-text)", "stroke-width": 1.5 });
  if (!isOfStream(canvas, stage)) return;
  for (const twin of findComponent(canvas, stage.columns[where.column])) {
    if (twin.part !== part) {
      ring(canvas, sketch, `${name} ${twin.part}`, twin.part, { row: where.row, column: twin.column }, {
        stroke: "var(--bvc-text)", "stroke-width": 1,
      });
    }
  }
}

// Where a component of the residual stream is drawn, none being null: [{part, column}].
function findComponent(canvas, component) {
  return Object.keys(canvas.frame.parts).flatMap((part) => {
    const stage = part.startsWith("ribbons") ? null : stageOf(canvas, part);
    const column = stage && isOfStream(canvas, stage) ? stage.columns.indexOf(component) : -1;
    return column < 0 ? [] : [{ part, column }];
  });
}

// A column of a strip: one box over all rows, or one in each row of a strip that is seen whole.
function columnBoxes(canvas, part, column) {
  const { frame, data } = canvas;
  const cells = seenRows(frame, data.tokens.length).flatMap((row) => cellBox(canvas, part, { row, column }) ?? []);
  if (isWhole(canvas, part)) return cells;
  return cells.slice(0, 1).map((cell) => ({ ...cell, y: frame.parts[part].y, h: frame.parts[part].h }));
}

// The chosen component, in all rows of every stage that has it.
function drawComponent(canvas, sketch) {
  const { frame, place: { component } } = canvas;
  for (const { part, column } of findComponent(canvas, component)) {
    columnBoxes(canvas, part, column).forEach(({ x, y, w, h }, i) => {
      sketch.box(`component ${part} ${i}`, { x: x - 1, y, w: w + 2, h }, {
        rx: 2, fill: "none", stroke: "var(--bvc-text)", "stroke-width": 1.25, opacity: cut(frame.parts[part].a, 3),
        "data-component": component,
      });
    });
  }
}

function drawCursor(canvas, sketch) {
  const { part, where } = canvas.cursor;
  const paint = { stroke: "var(--bvc-accent)", "stroke-width": 2.5, "stroke-dasharray": "4 2" };
  const { strip, stage } = canvas.cursor;
  const { x, w } = canvas.frame.parts[part];
  const box = strip ? { x, w, y: 4, h: heading(canvas).under } : stage ? cellBox(canvas, part, where) : null;
  const round = box ?? rowBox(canvas.frame, part, where.row);
  sketch.box("cursor", { x: round.x - 2, y: round.y - 2, w: round.w + 4, h: round.h + 4 }, {
    rx: 4, fill: "none", ...paint,
  });
}
