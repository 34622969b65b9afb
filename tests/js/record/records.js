// The record: what each component draws, says and sends, file by file.

import { joinAlike, listChanges } from "./lines.js";
import { listPresses } from "./presses.js";
import { SCENES } from "./scenes.js";
import { Visit } from "./visit.js";

export const RECORDED = new URL("../recorded/", import.meta.url);

/** @type {Record<string, (scene: import("./scenes.js").Scene) => string[]>} what is recorded of a scene */
const PARTS = { "what is there": (scene) => new Visit(scene).list(), "what can be pressed": listPresses };
const known = new Map();

// The lines of a scene's part, worked out once.
function listLines(file, scene, part) {
  const name = `${file} ${scene.name} ${part}`;
  if (!known.has(name)) known.set(name, PARTS[part](scene));
  return known.get(name);
}

function has(scene, part) {
  return part === "what is there" || Boolean(scene.presses);
}

// The scene that another one is compared with, null for none, and its file.
function findLike(file, { name, like }, part) {
  const [other, ...names] = like?.split(": ") ?? [];
  const named = SCENES[other]?.find((scene) => scene.name === names.join(": "));
  if (named && has(named, part)) return [other, named];
  const first = SCENES[file].find((scene) => has(scene, part));
  return first.name === name ? null : [file, first];
}

function recordPart(file, scene, part) {
  const [lines, like] = [listLines(file, scene, part), findLike(file, scene, part)];
  const title = `# ${scene.name}: ${part}`;
  if (!like) return [title, ...joinAlike(lines), ""];
  const before = listLines(like[0], like[1], part);
  return [`${title} (what is not as in ${like[0]}: ${like[1].name})`, ...joinAlike(listChanges(before, lines)), ""];
}

function recordScenes(file) {
  return SCENES[file].flatMap((scene) => Object.keys(PARTS).flatMap((part) => (has(scene, part) ? recordPart(file, scene, part) : [])));
}

/** @type {Record<string, () => string[]>} the lines of each file */
export const RECORDS = Object.fromEntries(Object.keys(SCENES).map((file) => [`canvas-${file}`, () => recordScenes(file)]));
