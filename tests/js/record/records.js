// The record: what each component draws, says and sends, file by file.

import { listReached, Shown } from "./component.js";
import { joinAlike, listChanges } from "./lines.js";
import { listPresses } from "./presses.js";
import { SCENES } from "./scenes.js";
import { PAGES } from "./scenes_pages.js";
import { SMALL } from "./scenes_small.js";
import { Visit } from "./visit.js";

export const RECORDED = new URL("../recorded/", import.meta.url);

const [THERE, PRESSED] = ["what is there", "what can be pressed"];
const CANVAS = { [THERE]: (scene) => new Visit(scene).list(), [PRESSED]: listPresses };
const OTHERS = { [THERE]: (scene) => new Shown(scene).list(), [PRESSED]: listReached };
/** @type {Record<string, { name: string, like?: string, presses?: boolean }[]>} the scenes of each file */
const FILES = { ...SCENES, ...SMALL, ...PAGES };
const known = new Map();

// The lines of a scene's part, worked out once.
function listLines(file, scene, part) {
  const name = `${file} ${scene.name} ${part}`;
  if (!known.has(name)) known.set(name, (file in SCENES ? CANVAS : OTHERS)[part](scene));
  return known.get(name);
}

function has(scene, part) {
  return part === THERE || Boolean(scene.presses);
}

// The scene that another one is compared with, null for none, and its file.
function findLike(file, { name, like }, part) {
  const [other, ...names] = like?.split(": ") ?? [];
  const named = FILES[other]?.find((scene) => scene.name === names.join(": "));
  if (like && !named) throw new ReferenceError(`There is no scene ${like}`);
  if (named && has(named, part)) return [other, named];
  const first = FILES[file].find((scene) => has(scene, part));
  return first.name === name ? null : [file, first];
}

// What was sent is written in its order, of all else only what is not as in another scene.
function recordPart(file, scene, part) {
  const [lines, like] = [listLines(file, scene, part), findLike(file, scene, part)];
  const [seen, sent] = [lines.filter((line) => !isSent(line)), lines.filter(isSent)];
  const before = like && listLines(like[0], like[1], part).filter((line) => !isSent(line));
  const title = like ? ` (what is not as in ${like[0]}: ${like[1].name})` : "";
  return [`# ${scene.name}: ${part}${title}`, ...joinAlike(before ? listChanges(before, seen) : seen), ...joinAlike(sent, 1), ""];
}

function isSent(line) {
  return line.startsWith("sent ");
}

function recordFile(file) {
  return FILES[file].flatMap((scene) => [THERE, PRESSED].flatMap((part) => (has(scene, part) ? recordPart(file, scene, part) : [])));
}

/** @type {Record<string, () => string[]>} the lines of each file */
export const RECORDS = Object.fromEntries(Object.keys(FILES).map((file) => [file, () => recordFile(file)]));
