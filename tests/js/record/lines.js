// What a component has drawn, as lines of text: one an element.

import { MONO, SANS } from "../../../bertviz_core/ui/components/canvas/letters.js";
import { writeHtml } from "./html.js";

const SHORT = 150; // characters of an element that has one line with all that is in it
const INLINE = ["b", "i", "s", "span", "small", "kbd", "path", "svg", "p", "dt", "dd"];
const NAMES = [[MONO, "mono"], [SANS, "sans"], ["var(--bvc-", "(--"], ["stroke=(--paper) stroke-width=5 stroke-linejoin=round paint-order=stroke", "halo"]];
/** @type {Record<string, string[]>} */
const PLACES = { // what is written without its name, in this order
  rect: ["x", "y", "width", "height"], line: ["x1", "y1", "x2", "y2"], circle: ["cx", "cy", "r"], text: ["x", "y", "font-size", "font-family"], path: ["d"],
};
const NEAR = 12; // lines that may stand between two that are written as one

// With as many digits as are worth comparing.
export function round(value) {
  const number = Number(value);
  return String(Number(Math.abs(number) < 1 ? number.toPrecision(3) : number.toFixed(2)));
}

// Of what is painted, not of what is said: there each digit counts.
function shorten(text) {
  const rounded = text.replace(/rgb\(\d+,\d+,\d+\)/g, writeColor).replace(/-?\d+\.\d{2,}(?:e-?\d+)?/g, round);
  return NAMES.reduce((short, [long, name]) => short.replaceAll(long, name), rounded);
}

function writeElement(element) {
  const tag = (begin) => begin.replace(/ ([\w:-]+)="([^"]*)"/g, (given, name) => (/^(title|aria-.*)$/.test(name) ? given : shorten(given)));
  return writeHtml(element).replace(/<[^>]*>/g, tag);
}

// An element and all in it; without: the selector of what is left out.
export function listElements(element, without = "none", deep = 0) {
  const indent = " ".repeat(deep);
  if (element.matches(without)) return [];
  const html = writeElement(element);
  const [begin] = /^<[^>]*>/.exec(html);
  const plain = element.querySelectorAll("*").every(({ tagName }) => INLINE.includes(tagName));
  const whole = html.replace(/<\/\w+>$/, "");
  if (plain && (whole.length < SHORT || !element.children.length)) return [indent + whole, ...listPens(element, indent)];
  const inside = element.childNodes.flatMap((each) => (typeof each === "string" ? listText(each, deep) : listElements(each, without, deep + 1)));
  return [indent + begin, ...listPens(element, indent), ...inside];
}

function listText(text, deep) {
  return text.trim() ? [`${" ".repeat(deep + 1)}“${text}”`] : [];
}

// Shapes of a layer of the picture, each with its key: where it stands, what it says, and how it is painted.
export function listShapes(layer, sketch) {
  return [...sketch.shown].map(([key, { element }]) => `${layer} ${key}: ${writeShape(element)}`);
}

function writeShape({ tagName, attributes, textContent }) {
  const named = PLACES[tagName] ?? [];
  const where = named.map((name) => attributes[name]).join(" ");
  const others = Object.entries(attributes).filter(([name]) => !named.includes(name)).map(([name, value]) => `${name}=${value}`);
  return [tagName, shorten(where), ...(textContent ? [`“${textContent}”`] : []), shorten(others.join(" "))].join(" ").trimEnd();
}

function listPens({ pen }, indent) {
  return pen ? listDrawn(pen).map((line) => `${indent} ${line}`) : [];
}

// What was drawn on a canvas: cells of a row that are as wide, one beside the other, have one line.
export function listDrawn({ drawn }) {
  const [rows, lines] = [[], []];
  for (const { does, given, color, depth } of drawn) {
    if (does === "fillRect") addCell(rows, given, { color: writeColor(color), depth: round(depth) });
    else lines.push(`${does} ${given.map(writeGiven).join(" ")}${does === "roundRect" ? ` ${writeColor(color)} ${round(depth)}` : ""}`);
  }
  return [...lines, ...rows.map(writeRow), ...rows.filter(({ depth }) => depth !== "1").map((row) => `depth ${placeRow(row)}: ${row.depth}`)];
}

function addCell(rows, [x, y, w, h], { color, depth }) {
  const here = `y ${round(y)} w ${round(w)} h ${round(h)}`;
  const row = rows.findLast((each) => each.here === here && each.depth === depth);
  const [last, before] = [row?.xs.at(-1), row?.xs.at(-2)];
  const goesOn = row && (before === undefined ? x > last && x - last < 2 * w + 4 : Math.abs(x - last - (last - before)) < 0.02);
  if (!goesOn) return rows.push({ here, depth, xs: [x], colors: [color] });
  row.xs.push(x);
  return row.colors.push(color);
}

function placeRow({ here, xs }) {
  return `${here} x ${round(xs[0])}${xs.length > 1 ? ` +${round(xs[1] - xs[0])}` : ""}`;
}

function writeRow(row) {
  return `cells ${placeRow(row)}: ${row.colors.join(" ")}`;
}

function writeGiven(given) {
  if (typeof given === "number") return round(given);
  return given?.data ? `image ${[...new Uint32Array(given.data.buffer)].map((each) => each.toString(16)).join(" ")}` : "";
}

function writeColor(color) {
  const channels = /^rgb\((\d+),(\d+),(\d+)\)$/.exec(color)?.slice(1);
  return channels ? `#${channels.map((each) => Number(each).toString(16).padStart(2, "0")).join("")}` : color;
}

// Lines that stand near each other and differ in numbers, colours and quoted words alone become one, with all of these: {0 1 2}.
export function joinAlike(lines, near = NEAR) {
  const groups = [];
  for (const line of lines) {
    const words = line.split(/(#[\da-f]{6}|−?\d+(?:\.\d+)?|“[^”]*”)/);
    const form = words.filter((_, i) => i % 2 === 0).join("#");
    const known = groups.slice(-near).find((each) => each.form === form);
    if (known) known.all.push(words);
    else groups.push({ form, all: [words] });
  }
  return groups.map(({ all }) => all[0].map((word, i) => joinWord(word, i, all)).join(""));
}

function joinWord(word, i, all) {
  const given = all.map((words) => words[i]);
  if (i % 2 === 0 || given.every((each) => each === word)) return word;
  const pitch = round(Number(given[1]) - Number(word));
  const even = given.length > 3 && given.every((each, k) => Math.abs(Number(each) - Number(word) - k * Number(pitch)) < 0.02);
  return even ? `{${word} +${pitch} to ${given.at(-1)}}` : `{${given.join(" ")}}`;
}

// What differs from lines of before: what is gone, and what has come or has become another thing.
export function listChanges(before, after) {
  const now = new Set(after.map(nameLine));
  const gone = listMore(before, after).filter((line) => !now.has(nameLine(line)));
  return [...gone.map((line) => `- ${nameLine(line)}`), ...listMore(after, before).map((line) => `+ ${line}`)];
}

// The lines that are not among others, or there not as often.
export function listMore(lines, others) {
  const left = new Map();
  for (const line of others) left.set(line, (left.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    return count <= 0;
  });
}

// What a line is about: of an element how it is named, of others what stands before the colon, or all of it.
function nameLine(line) {
  const [, element] = /^\s*(<[^>]*)/.exec(line) ?? [];
  if (element) return /^<\w+| (?:class|data-does|aria-label)="[^"]*"/g[Symbol.match](element).join("");
  return /^(.*?): /.exec(line)?.[1] ?? line;
}
