// Where everything stands. Each part has a place at every level, of no width where it is not shown, so that going from
// one level to another is one continuous movement.

const PHONE = 640; // pixels of width up to which one stage is shown at a time
const NARROW = 1100; // up to which there is less beside the layers: the drawer is open
const EDGE = 8;
const ROW = { least: 15, most: 46 };
const PHONE_ROW = { least: 26, most: 44 };
const PHONE_STOP_ROW = { least: 17, most: 44 };
const STUBS = 14; // pixels over and under the rows for what goes to tokens out of sight
const RAIL = 18; // pixels at the right for the rail of a long sentence,
const SLANT = 22; // or on a phone for the slanted name of the last key
const FOLDED = { least: 4, most: 18, blank: 8 }; // pixels of a cell of a strip that is seen whole, and between its rows
const KEY_CELL = 24; // pixels that a cell of a head's matrix has at least
const INNER = ["query", "key", "weights", "matrix", "value", "collect", "context", "added", "sum", "norm"];
const BLOCK = { ribbons: 4.6, neurons: 2.45, output: 2.3 };
const CROWDED = 90; // pixels of a layer below which only the chosen one is drawn with all that it holds

// What is drawn at a level, from left to right: [{id, width | flex, gap}], hidden ones without either.
function listColumns(scene) {
  const { level, stop, strip } = scene.place;
  if (strip) return listWhole(scene);
  if (scene.phone) return listPhone(scene);
  if (stop) return listStop(scene);
  return { pass: listPass, layer: listLayer, head: listHead }[level](scene);
}

function arrange(scene) {
  const columns = listColumns(scene);
  const phone = scene.phone;
  const { least, most } = !phone ? ROW : scene.place.stop ? PHONE_STOP_ROW : PHONE_ROW;
  const [head, legend] = phone ? [52, 30] : [64, 38];
  const stubs = scene.total * least > scene.height - head - legend || scene.total > scene.rows ? STUBS : 0;
  const top = head + stubs;
  const room = scene.height - top - legend - stubs;
  const fold = scene.place.strip ? foldRows(scene, room) : { lines: 1, least, most };
  const count = Math.max(1, Math.min(scene.rows, Math.floor(room / fold.least), limitKeys(scene)));
  const row = Math.min(fold.most, Math.floor((room / count) * 4) / 4);
  const { width, height } = scene;
  const frame = {
    top, ceiling: top - 4, stubs, row, count, first: chooseFirst(scene, count), width, height, phone, lines: fold.lines,
  };
  const sized = columns.map((column) => ({ ...column, width: column.width?.call?.(null, frame) ?? column.width }));
  const beside = Math.max(scene.total > count ? RAIL : 0, phone && hasKeys(scene.place) ? SLANT : 0);
  frame.parts = lineUp(sized, EDGE, width - EDGE - beside, frame);
  frame.lifted = scene.covered ? lift(scene, frame) : 0;
  frame.top -= frame.lifted;
  return frame;
}

// A strip that is seen whole: each row's numbers in as many lines as make the cells largest. lines: in a row; least,
// most: pixels of a row.
function foldRows({ width, rows, numbers, phone }, room) {
  const wide = width - (phone ? 110 : 160);
  let fold;
  for (let side = FOLDED.most; side >= FOLDED.least; side -= 0.5) {
    const lines = Math.ceil(numbers / Math.floor(wide / side));
    fold = { lines, least: lines * side + FOLDED.blank, most: lines * FOLDED.most + FOLDED.blank };
    if (fold.least * rows <= room) break;
  }
  return fold;
}

// Whether a matrix with a column for each key is drawn.
function hasKeys({ level, stop }) {
  return level === "head" && (!stop || [4, 5, 6].includes(stop));
}

// Keys of a head are columns too: no more rows than there is room for as columns.
function limitKeys({ place, phone, width }) {
  if (!hasKeys(place)) return Infinity;
  return Math.max(4, Math.floor((phone ? width - 84 : (width - 300) * 0.5) / KEY_CELL));
}

// The first row that is drawn: the one that was rolled to, or as far as can be the one from before, with the chosen token
// among the rows, and the one that is spoken of beside it if both fit. The rows of the explained cell come before either.
function chooseFirst({ rows, at, beside, first, rolled, spoken }, count) {
  const middle = Math.abs(at - beside) < count ? Math.floor((at + beside) / 2) : at;
  const wanted = first ?? middle - Math.floor(count / 2);
  const seen = bring(bring(wanted, [at], count), spoken, count);
  return Math.max(0, Math.min(rows - count, rolled ? wanted : seen));
}

// The first row, moved on as little as can be so that these rows are drawn; the first of them where not all fit.
function bring(first, rows, count) {
  const [one] = rows;
  if (one === undefined) return first;
  const [low, high] = [Math.min(...rows), Math.max(...rows)];
  const [from, to] = high - low < count ? [low, high] : [one, one];
  return Math.max(Math.min(first, from), to - count + 1);
}

// How far the rows go up so that the explained one is seen above a sheet that covers the lower part of the picture.
function lift({ covered, shown }, { top, row, first }) {
  return Math.max(0, top + (shown - first + 1) * row - covered);
}

function lineUp(columns, left, right, { top, row, count }) {
  const shown = columns.filter(isShown);
  const fixed = shown.reduce((all, { width = 0, gap = 0 }, i) => all + width + (i < shown.length - 1 ? gap : 0), 0);
  const parts = shown.reduce((all, { flex = 0 }) => all + flex, 0);
  const unit = Math.max(0, (right - left - fixed) / (parts || 1));
  const boxes = {};
  let x = left;
  for (const column of columns) {
    const w = isShown(column) ? column.width ?? column.flex * unit : 0;
    boxes[column.id] = { x, w, y: top, h: row * count, a: isShown(column) ? 1 : 0 };
    if (isShown(column)) x += w + (column.gap ?? 0);
  }
  return boxes;
}

function isShown({ width, flex }) {
  return width !== undefined || flex !== undefined;
}

function hide(...ids) {
  return ids.map((id) => ({ id }));
}

// Every layer is in each list: what a list does not show of a layer stands in it without a width.
function listLayers({ size, place }, show) {
  return Array.from({ length: size.layers }, (_, i) => show(i, i === place.layer)).flat();
}

function hideBlock(i) {
  return hide(`ribbons.${i}`, `neurons.${i}`);
}

function listPass(scene) {
  const { narrow, size, words, width } = scene;
  const gap = narrow || size.layers > 8 ? 8 : 14;
  const [chips, embedding, most] = narrow ? [92, 44, WORD.least + CARD.gap + CARD.narrow] : [112, 72, WORD.most + CARD.wide];
  const roomFor = (answer) => width - chips - embedding - (words ? answer : 0) - 60 - gap * size.layers;
  const isTight = (answer) => roomFor(answer) / size.layers < CROWDED;
  const answer = isTight(most) ? CARD.narrow : most;
  const [room, crowded] = [roomFor(answer), isTight(answer)];
  const chosen = Math.min(151, room / 3);
  return [
    { id: "tokens", width: chips, gap: 12 }, { id: "embedding", width: embedding, gap: 16 },
    ...listLayers(scene, (i) => listBlock(i, i === scene.open, crowded ? chosen : 0, gap)),
    ...(words ? [{ id: "words", width: answer }] : hide("words")), ...hide("panel", "sum2"),
  ];
}

// A layer from its attention to its output. wide: pixels of the chosen one where the others have less; 0: all alike.
function listBlock(i, here, wide, gap) {
  const total = BLOCK.ribbons + BLOCK.neurons + BLOCK.output;
  const of = (name) => (wide && here ? { width: ((wide - 10) * BLOCK[name]) / total } : { flex: BLOCK[name] });
  const inner = here ? hide(...INNER) : [];
  if (wide && !here) {
    return [{ id: `ribbons.${i}`, flex: 4.6, gap: 2 }, ...hide(`neurons.${i}`), { id: `output.${i}`, flex: 1.8, gap }];
  }
  return [
    { id: `ribbons.${i}`, ...of("ribbons"), gap: 5 }, ...inner, { id: `neurons.${i}`, ...of("neurons"), gap: 5 },
    { id: `output.${i}`, ...of("output"), gap },
  ];
}

// The stages before and after the chosen layer, as thin spines.
function listSpines({ size, place, narrow }, from, to, last = 12) {
  const ids = [];
  for (let i = from; i < to; i++) ids.push(i < 0 ? "embedding" : `output.${i}`);
  const pitch = Math.min(narrow ? 12 : 21, (narrow ? 70 : 150) / Math.max(size.layers, 1));
  return ids.flatMap((id, i) => {
    const layer = Number(id.split(".")[1] ?? -1);
    const gap = i === ids.length - 1 ? last : pitch * 0.24;
    const inner = layer < 0 || layer === place.layer ? [] : hideBlock(layer);
    return [...inner, { id, width: pitch * 0.76, gap, spine: true }];
  });
}

// One strip of a layer alone over the whole width.
function listWhole(scene) {
  const { place, phone } = scene;
  const { part } = namePart(scene, place.strip);
  const alone = (id) => (id === part ? { id, flex: 1 } : { id });
  return [{ id: "tokens", width: phone ? 84 : 112, gap: 12 }, ...listAll(scene, 0).map(alone)];
}

function listLayer(scene) {
  const { place: { layer }, size, narrow, words } = scene;
  const input = layer ? `output.${layer - 1}` : "embedding";
  const [gap, wide, plus] = narrow ? [7, 16, 28] : [15, 26, 38];
  const strips = (list) => list.map(([id, flex, after]) => ({ id, flex, gap: after }));
  return [
    { id: "tokens", width: narrow ? 84 : 112, gap: 12 }, ...listSpines(scene, -1, layer - 1),
    ...(layer ? hideBlock(layer - 1) : []), ...hide(`ribbons.${layer}`),
    ...strips([[input, 3.6, wide], ["query", 4, gap], ["key", 4, gap], ["value", 4, wide - 6]]), ...hide(
      "matrix", "collect"
    ),
    ...strips([["weights", narrow ? 19 : 26, wide - 6], ["context", 5.4, plus]]), ...hide("added"),
    ...strips([["sum", 4.4, gap], ["norm", 4.4, wide], [`neurons.${layer}`, 4.4, plus], ["sum2", 4.4, gap],
      [`output.${layer}`, 4.4, 16]]),
    ...listSpines(scene, layer + 1, size.layers, 16), ...hide("panel"),
    ...(words && !narrow ? [{ id: "words", width: CARD.wide }] : hide("words")),
  ];
}

function listHead(scene) {
  const { place: { layer }, size, narrow, width } = scene;
  const gap = narrow ? 16 : 30;
  const room = width - (narrow ? 84 : 112) - Math.min(150, 21 * size.layers) - 60;
  const matrix = ({ row, count }) => Math.min(row * count * 1.15, Math.max(KEY_CELL * count, room * 0.42));
  const strip = (frame) => Math.max(36, Math.min(160, (room - matrix(frame) - 4 * gap - (narrow ? 40 : 70)) / 4));
  return [
    { id: "tokens", width: narrow ? 84 : 112, gap: 12 }, ...listSpines(scene, -1, layer, 18), ...hide(
      `ribbons.${layer}`
    ),
    { id: "query", width: strip, gap }, { id: "key", width: strip, gap: gap + (narrow ? 0 : 12) }, ...hide("weights"),
    { id: "matrix", width: matrix, gap }, { id: "value", width: strip, gap: 2 }, { id: "collect", flex: 1, gap: 2 },
    { id: "context", width: strip, gap: 16 }, ...hide("added", "sum", "norm", `neurons.${layer}`, "sum2", "panel"),
    ...listSpines(scene, layer, size.layers, 0), ...hide("words"),
  ];
}
