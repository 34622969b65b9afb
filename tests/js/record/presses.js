// All of the canvas that can be pointed at or pressed, each in a fresh copy of its scene, and what comes of it.

import { round } from "./lines.js";
import { nameElement, Visit } from "./visit.js";

const KEYS = [
  "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Ctrl ArrowLeft", "Ctrl ArrowRight", "Shift ArrowLeft", "Shift ArrowRight",
  "PageUp", "PageDown", "Home", "End", "Enter", "Escape", "[", "]", "{", "}", " ", "?", "x",
];
const STOPS = ["1", "6", "10"]; // that are pressed; the others are no others
const SOON = 100; // milliseconds after which what was chosen has been sent

/** @type {Record<string, ((scene: import("./scenes.js").Scene) => string[])[]>} what is tried of a scene */
const TRIED = {
  all: [listPointed, listSpoken, listClicked, listButtons, listKeys], acts: [listSpoken, listClicked, listButtons, listKeys], words: [listSpoken],
};

export function listPresses(scene) {
  return TRIED[scene.presses].flatMap((list) => list(scene));
}

// What the words of a stop's sentence are about: what keeps its colour while one of them is pointed at.
function listSpoken(scene) {
  const { parent, canvas } = new Visit(scene);
  return parent.querySelectorAll("[data-part]").map((word) => {
    word.send("pointerover");
    return `at the word “${word.textContent}”: ${JSON.stringify(canvas.lights)} row ${canvas.pointed}`;
  });
}

// The middle of each cell and of each shape that is drawn.
function listPoints({ canvas: { painter, sketches, frame } }) {
  const cells = painter.pen.drawn.filter(({ does }) => does === "fillRect").map(({ given: [x, y, w, h] }) => [x + w / 2, y + h / 2]);
  const shapes = Object.values(sketches).flatMap(({ shown }) => [...shown.values()].map(({ element }) => element)).flatMap(findMiddle);
  const titles = Object.values(frame.parts).filter(({ a, w }) => a > 0.5 && w > 1).map(({ x, w }) => [x + w / 2, frame.top - 12]);
  const all = [...cells, ...titles, ...shapes].map((point) => point.map((each) => Math.round(each * 2) / 2));
  return [...new Map(all.map((point) => [point.join(), point])).values()];
}

function findMiddle({ tagName, attributes: { x, y, width, height, cx, cy } }) {
  const numbers = { rect: [Number(x) + width / 2, Number(y) + height / 2], text: [Number(x), y - 4], circle: [Number(cx), Number(cy)] };
  return numbers[tagName] ? [numbers[tagName]] : [];
}

// The points of a scene, one after the other, each with what is told of it; the picture is not drawn for each.
function pointAtAll(scene, tell) {
  const visit = new Visit(scene);
  const points = listPoints(visit);
  visit.canvas.draw = () => {};
  return points.map((point) => {
    visit.point(point);
    return tell(point, visit);
  });
}

// What stands at a point, as it is told under the picture.
function listPointed(scene) {
  const lines = pointAtAll(scene, (point, visit) => {
    const { hover, stage, at } = visit.canvas;
    if (![at, at + 1].includes(hover?.where?.row ?? at)) return ""; // of rows the chosen one and the next
    return hover && `at ${point.map(round).join(" ")} ${tellTarget(hover)}, ${stage.style.cursor}: ${visit.find(".bvc-readout").textContent}`;
  });
  return [...new Set(lines.filter(Boolean)), `at ${lines.filter((line) => line === null).length} more points: nothing`];
}

function tellTarget(target) {
  if (!target) return "nothing";
  const { part, where, layer, word, strip, stage } = target;
  const said = Object.entries({ stage: stage?.id, ...where, layer, word, strip }).filter(([, value]) => value !== undefined);
  return [part, ...said.map(([name, value]) => `${name} ${value}`)].join(" ");
}

// One press on each kind of what can be pointed at.
function listClicked(scene) {
  const kinds = new Map();
  pointAtAll(scene, (point, { canvas: { hover, at } }) => {
    const { part, where: { row, head } = {}, layer, word, strip } = hover ?? {};
    const kind = JSON.stringify([part, row === at, head, layer, word, strip]);
    if (!kinds.has(kind)) kinds.set(kind, { point, told: tellTarget(hover) });
  });
  return [...kinds.values()].map(({ point, told }) => `press ${told}: ${tryOut(scene, (fresh) => fresh.click(point))}`);
}

function listButtons(scene) {
  const all = new Visit(scene).parent.querySelectorAll("button");
  return all.flatMap((button, i) => {
    const [does, value] = (button.dataset.does ?? "").split(":");
    if (does === "stop" && !STOPS.includes(value)) return [];
    return [`press ${nameElement(button)}: ${tryOut(scene, (fresh) => {
      const same = fresh.parent.querySelectorAll("button")[i];
      same.focus();
      same.click();
    })}`];
  });
}

function listKeys(scene) {
  return KEYS.map((key) => `key ${key}: ${tryOut(scene, (fresh) => {
    if (document.activeElement === document.body) fresh.enter();
    fresh.type(key);
  })}`);
}

// What is another thing after something was done.
function tryOut(scene, act) {
  const visit = new Visit(scene);
  const before = look(visit);
  visit.sent = [];
  act(visit);
  visit.skip(SOON);
  const now = look(visit);
  const changed = Object.keys(now).filter((name) => now[name] !== before[name]).map((name) => `${name} ${now[name]}`);
  return [...changed, ...visit.listSent().filter((line) => !line.startsWith('sent ["lit",null'))].join("; ") || "nothing";
}

function look({ canvas, find, parent }) {
  const said = Object.fromEntries(Object.entries(canvas.place).map(([name, value]) => [name, JSON.stringify(value)]));
  const { group, first, cursor, quiet, player: { playing, speed, time } } = canvas;
  return {
    ...said, group, first, cursor: cursor && tellTarget(cursor), quiet, playing, speed, time: round(time),
    focus: nameElement(document.activeElement), says: find.call({ parent }, ".bvc-live").textContent.slice(0, 60),
    help: find.call({ parent }, ".bvc-help").open,
  };
}
