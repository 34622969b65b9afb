// Parts of the picture: which stage each of them draws now, and where its cells stand.

const LEAST = { residual: 4, head: 2.1, spine: 3.6 }; // pixels that a cell is wide at least
const TITLE = 20; // pixels over each small matrix
const STOPS_AT_COMPONENT = [2, 7, 9]; // of the walk
const ONE_HEAD = ["query", "key", "value", "context"];

// The strip of a layer that a part draws, and that can be seen whole; null for any other part.
function findStrip(canvas, part) {
  return canvas.data.whole.find((strip) => namePart(canvas, strip).part === part) ?? null;
}

function isWhole(canvas, part) {
  return canvas.place.strip !== null && findStrip(canvas, part) === canvas.place.strip;
}

// The stage that a part draws; null while the numbers of the chosen layer and head are on their way.
function stageOf(canvas, part) {
  const { stages, place } = canvas;
  const whole = isWhole(canvas, part) ? stages.get(`whole.${place.strip}`) : null;
  const layer = part === "embedding" ? null : part.includes(".") ? Number(part.split(".")[1]) : place.layer;
  if (whole && whole.layer === layer) return whole;
  const inHead = place.level === "head" || [3, 4, 5, 6].includes(place.stop);
  let name = part;
  if (part === "matrix") name = place.stop === 4 ? "head.scores" : "head.weights";
  else if (part === "context") name = inHead && place.stop !== 7 ? "head.context" : "context";
  else if (ONE_HEAD.includes(part)) name = `head.${part}`;
  const stage = stages.get(name) ?? stages.get(part);
  if (!stage) return null;
  const ofLayer = !part.includes(".") && part !== "embedding";
  if (ofLayer && stage.layer !== place.layer) return null;
  if (name === "head.context") return isOfHead(stage, place.head, canvas.data.size.head_width) ? stage : null;
  const head = stage.axes.find(([axis]) => axis === "head")?.[1];
  return head === undefined || head === "{head}" || Number(head) === place.head ? stage : null;
}

function isOfHead({ columns }, head, width) {
  return Math.floor(columns[0] / width) === head;
}

// The part that draws a stage now.
function partOf(canvas, stage) {
  return Object.keys(canvas.frame.parts).find((part) => stageOf(canvas, part) === stage);
}

// The component that is spoken of: at a stop the one whose numbers it works out, else the chosen one; null for none.
function spokenComponent({ data, place }) {
  const worked = STOPS_AT_COMPONENT.includes(place.stop) ? data.stops[place.stop - 1]?.worked : null;
  return worked?.component ?? place.component;
}

// The places of a strip's columns that are spoken of: that of the explained cell, that of the component.
function spokenColumns(canvas, stage) {
  const own = canvas.stages.find(canvas.explained.cell).filter((found) => found.stage === stage);
  const component = isOfStream(canvas, stage) ? stage.columns.indexOf(spokenComponent(canvas)) : -1;
  return [...new Set([component, ...own.map(({ where }) => where.column)])].filter((column) => column >= 0);
}

// Which places among a strip's columns are drawn where it is this wide; what is spoken of among them: at a stop they are
// moved on so far that it stands in their middle, else it takes the last places. Of a strip that is seen whole, and of
// a head, all are.
function drawnColumns(canvas, stage, width) {
  const { level, strip } = canvas.place;
  const ofHead = stage.columns.length <= canvas.data.size.head_width && ONE_HEAD.includes(stage.id.replace("head.", ""));
  if (strip || (ofHead && level === "head")) return stage.columns.map((_, i) => i);
  const least = ofHead ? LEAST.head : LEAST.residual;
  const count = Math.max(1, Math.min(stage.columns.length, Math.floor(width / least)));
  const spoken = spokenColumns(canvas, stage);
  const last = stage.columns.length - count;
  const start = canvas.place.stop ? Math.max(0, Math.min(last, (spoken[0] ?? 0) - Math.floor(count / 2))) : 0;
  const columns = Array.from({ length: count }, (_, i) => start + i);
  const beyond = spoken.filter((column) => !columns.includes(column)).slice(0, count).sort((a, b) => a - b);
  columns.splice(count - beyond.length, beyond.length, ...beyond);
  return columns;
}

// Whether a stage is of the residual stream's width and components.
function isOfStream(canvas, stage) {
  return stage.total === canvas.data.size.width && !stage.id.endsWith("context") && stage.size.length === 2;
}

// Which components a strip draws, in words.
function tellColumns(canvas, stage, width) {
  const drawn = drawnColumns(canvas, stage, width);
  const whole = stage.id === "head.context" ? stage.columns.length : stage.total;
  if (drawn.length === whole) return `${writeCount(whole)} numbers`;
  if (stage.kind === "ffn") return `${drawn.length} of ${writeCount(stage.total)}`;
  const indices = drawn.map((place) => stage.columns[place]);
  const run = indices.findIndex((index, i) => index !== indices[0] + i);
  if (run < 0) return `${indices[0]}–${indices.at(-1)} of ${stage.total}`;
  const [last, own] = [indices[run - 1], indices[run]];
  const told = run === indices.length - 1 ? `${indices[0]}–${last}, ${own}` : indices.length;
  return `${told} of ${stage.total}`;
}

function rowTop({ top, row, first }, i) {
  return top + (i - first) * row;
}

function rowMiddle(frame, i) {
  return rowTop(frame, i) + frame.row / 2;
}

// The rows that are seen, with those that are on their way in or out.
function seenRows({ first, count }, rows) {
  const from = Math.max(0, Math.floor(first));
  return Array.from({ length: Math.min(rows, Math.ceil(first + count)) - from }, (_, i) => from + i);
}

function isSeen({ first, count }, i) {
  return i >= first - 0.01 && i < first + count - 0.01;
}

// Blank above and below a row's cells.
function rowInset({ row }) {
  return row > 30 ? 3 : row > 20 ? 2 : 1;
}

// The small matrices of a layer's heads: [{x, y, size}], as large as there is room for.
function headBoxes({ frame, data }) {
  return (frame.heads ??= packHeads(frame.parts.weights, data.size.heads));
}

function packHeads(weights, heads) {
  let best = { side: 0 };
  for (let across = 1; across <= heads; across++) {
    const down = Math.ceil(heads / across);
    const side = Math.min((weights.w - 12 * (across - 1)) / across, weights.h / down - TITLE);
    if (side > best.side) best = { side, across, down };
  }
  const { side, across, down } = best;
  if (side < 1) return Array(heads).fill({ x: weights.x, y: weights.y, size: 0 });
  const step = Math.min((weights.w + 12) / across, side + 40);
  return Array.from({ length: heads }, (_, i) => ({
    x: weights.x + (i % across) * step, y: weights.y + TITLE + Math.floor(i / across) * (weights.h / down), size: side,
  }));
}

// How the cells of a strip stand. columns: the places of its columns; box(row, i): of the i-th of them in a row;
// find(row, x, y): the place of the column that is drawn at a point, undefined for none.
function layStrip(canvas, part, stage, box) {
  const { frame } = canvas;
  const columns = drawnColumns(canvas, stage, box.w);
  const whole = isWhole(canvas, part);
  const [lines, numbers] = whole ? [frame.lines, stage.total] : [1, columns.length];
  const across = Math.ceil(numbers / lines);
  const inset = whole ? FOLDED.blank / 2 : rowInset(frame);
  const [w, h] = [box.w / across, (frame.row - 2 * inset) / lines];
  const top = (row) => rowTop(frame, row) + inset;
  return {
    columns, w, h,
    box: (row, i) => {
      const n = whole ? stage.columns[columns[i]] : i;
      return { x: box.x + (n % across) * w, y: top(row) + Math.floor(n / across) * h, w, h };
    },
    find: (row, x, y) => {
      const [right, down] = [(x - box.x) / w, (y - top(row)) / h].map(Math.floor);
      const n = Math.max(0, Math.min(lines - 1, down)) * across + Math.max(0, Math.min(across - 1, right));
      return whole ? columns.find((column) => stage.columns[column] === n) : columns[n];
    },
  };
}

// The box of one cell, null where it is not drawn.
function cellBox(canvas, part, where) {
  const { frame } = canvas;
  const box = frame.parts[part];
  const stage = stageOf(canvas, part);
  if (!box || !stage || box.a < 0.4 || !isSeen(frame, where.row)) return null;
  if (part === "weights") return smallCell(canvas, where);
  if (part === "matrix") return isSeen(frame, where.key) ? matrixCell(frame, box, where) : null;
  const strip = layStrip(canvas, part, stage, box);
  const place = strip.columns.indexOf(where.column);
  return place < 0 ? null : strip.box(where.row, place);
}

function matrixCell(frame, box, { row, key }) {
  const w = box.w / frame.count;
  return { x: box.x + (key - frame.first) * w, y: rowTop(frame, row), w: w - 1.5, h: frame.row - 1.5 };
}

function smallCell(canvas, { head, row, key }) {
  const { first, count } = canvas.frame;
  const { x, y, size } = headBoxes(canvas)[head];
  const side = size / count;
  if (!isSeen(canvas.frame, key)) return null;
  return { x: x + (key - first) * side, y: y + (row - first) * side, w: side, h: side };
}

// A whole row of a part.
function rowBox({ parts, ...frame }, part, i) {
  const { x, w } = parts[part];
  return { x, w, y: rowTop(frame, i), h: frame.row };
}
