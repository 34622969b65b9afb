// How a class answered: on the sentence itself where answers are its tokens, else in rows.

import { make, nameAnswer, readShown } from "./parts.js";

/** @import { Counts, Question, Told } from "./types.d.ts" */

const MOST_TOKENS = 24, MOST_ROWS = 12, ROOM_UP = 44, ROOM_DOWN = 104, ROOM_BELOW = 140;
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** Whether answers are tokens of a sentence that is short enough to stand on one line. @param {Question} question */
export const isOnSentence = (question) => question.kind === "pick" && question.tokens.length <= MOST_TOKENS && question.answers.every((each) => each.token !== null);

/**
 * @param {Question} question
 * @param {Counts | undefined} counts none while answers come in
 * @param {Told | undefined} told once the answer is
 */
export function drawAnswers(question, counts, told) {
  if (isOnSentence(question)) return drawSentence(question, /** @type {number[] | undefined} */ (counts), told);
  return question.kind === "number" ? drawNumbers(/** @type {[string, number, boolean][] | undefined} */ (counts), told)
    : drawRows(question, /** @type {number[] | undefined} */ (counts), told);
}

/** @param {Question} question @param {number[] | undefined} counts @param {Told | undefined} told */
function drawSentence(question, counts, told) {
  const most = Math.max(...(counts ?? []), 1), shown = told?.shown.map(readShown) ?? [];
  const was = readShown(told?.was ?? ""), longest = Math.max(...[...shown, was].filter(Number.isFinite).map(Math.abs), 0);
  const columns = question.tokens.map((token, position) => {
    const i = question.answers.findIndex((each) => each.token === position), key = told && i === told.key;
    const count = counts?.[i] ?? 0, value = Math.abs(shown[i] ?? Number.NaN);
    const up = i < 0 || !counts ? [] : [count ? make("b", {}, String(count)) : null, make("i", { style: `height: calc((100% - ${ROOM_UP}px) * ${count / most})` })];
    const down = i < 0 || !told?.shown[i] ? [] : [
      make("i", { style: `height: ${longest && Number.isFinite(value) ? ROOM_DOWN * value / longest : 0}px` }), make("span", {}, told.shown[i].replace(/\s%$/, ""))];
    return make("div", { class: `column ${key ? "key" : ""} ${stands(counts, i, told) ? "" : "aside"}`, role: "listitem", "aria-label": describe(token, i < 0 ? null : count, counts, told?.shown[i]) },
      make("div", { class: "up" }, ...up),
      make("span", { class: nameChip(question, position) }, token),
      told && make("div", { class: "down" }, ...down));
  });
  const narrow = question.tokens.length > 14 ? "narrow" : "";
  const line = told && longest > 0 && Number.isFinite(was) && make("i", { class: "was", style: `bottom: ${ROOM_BELOW - ROOM_DOWN * Math.abs(was) / longest}px` });
  return make("div", { class: `axis ${told ? "told" : counts ? "" : "asked"} ${narrow}`, role: "list", "aria-label": "Answers by token" }, ...columns, line);
}

/** Whether an answer is left in the spotlight: the answer, once it is told, and what was chosen most beside it.
 * @param {Counts | undefined} counts @param {number} i @param {Told | undefined} told */
function stands(counts, i, told) {
  const times = /** @type {number[]} */ (counts ?? []).map((each, j) => (j === told?.key ? 0 : each));
  return i === told?.key || (times[i] > 0 && times[i] === Math.max(...times));
}

/** @param {Question} question @param {number} position */
function nameChip({ tokens, here }, position) {
  return position === here ? "chip here" : /^\[.*\]$/.test(tokens[position]) ? "chip special" : "chip";
}

/** The likeliest words at the token that is asked about. @param {Question} question @param {[string, string][]} tops */
export function drawTops({ tokens, here }, tops) {
  if (!tops.length) return "";
  const most = Math.max(...tops.map((each) => readShown(each[1])));
  return make("div", { class: "tops" }, make("p", { class: "faint" }, here === null ? "Now" : `At ${tokens[here]} now`),
    ...tops.flatMap(([word, share], i) => [make("span", { class: i ? "" : "first" }, word),
      make("span", { class: "bar" }, make("i", { style: `width: ${100 * readShown(share) / most}%` })), make("span", { class: "mono" }, share)]));
}

/** The sentence that is asked about, where no answers stand on it. @param {Question} question */
export function drawTokens(question) {
  if (isOnSentence(question) || question.tokens.length > MOST_TOKENS) return "";
  return make("p", { class: "sentence", "aria-label": "The sentence" },
    ...question.tokens.map((each, position) => make("span", { class: nameChip(question, position) }, each)));
}

/** @param {string} token @param {number | null} count @param {Counts | undefined} counts @param {string | undefined} shown */
const describe = (token, count, counts, shown) =>
  [token, counts && count !== null && `${count} ${count === 1 ? "answer" : "answers"}`, shown].filter(Boolean).join(", ");

/** @param {Question} question @param {number[] | undefined} counts @param {Told | undefined} told */
function drawRows(question, counts, told) {
  const few = question.kind === "choose", most = Math.max(...(counts ?? []), 1);
  let rows = question.answers.map((each, i) => ({ i, label: few ? `${LETTERS[i]}  ${each.label}` : nameAnswer(each.label), count: counts?.[i] ?? 0 }));
  if (!few) {
    if (!counts) return make("p", { class: "sub" }, `${rows.length} to choose from, on the phones.`);
    const isKey = (/** @type {{ i: number }} */ each) => Number(each.i === told?.key);
    rows = rows.filter((each) => each.count || isKey(each)).sort((a, b) => isKey(b) - isKey(a) || b.count - a.count || a.i - b.i).slice(0, MOST_ROWS);
  }
  return makeRows(rows.map((each) => ({ ...each, aside: !stands(counts, each.i, told), key: told?.key === each.i, shown: told?.shown[each.i] ?? "" })), most, Boolean(counts), Boolean(told));
}

/** @param {[string, number, boolean][] | undefined} counts @param {Told | undefined} told */
function drawNumbers(counts, told) {
  if (!counts) return make("p", { class: "sub" }, "A number, typed on the phones.");
  const most = Math.max(...counts.map((each) => each[1]), 1);
  return makeRows(counts.map(([label, count, right]) => ({ label: label.replace("-", "−"), count, key: Boolean(told) && right, shown: "" })), most, true, Boolean(told));
}

/**
 * @param {{ label: string, count: number, key: boolean, shown: string, aside?: boolean }[]} rows
 * @param {number} most @param {boolean} counted @param {boolean} told
 */
function makeRows(rows, most, counted, told) {
  return make("div", { class: told ? "given told" : "given" }, ...rows.flatMap((each) => [
    make("span", { class: `${each.key ? "key" : ""} ${each.aside ? "aside" : ""}` }, each.label, each.key && make("span", { class: "hidden" }, ", the answer")),
    make("span", { class: "bar" }, make("i", { style: `width: ${counted ? 100 * each.count / most : 0}%` })),
    make("span", { class: "count" }, counted ? String(each.count) : ""),
    make("span", { class: "model" }, each.shown)]));
}

/** What stands over the table at the end. @param {{ right: number, answers: number }[]} rows one a question that was answered */
export function nameAfter(rows) {
  if (!rows.length) return "Nobody has answered";
  return rows.every(({ right, answers }) => right === answers) ? "All answers were right in the end" : "What the class got wrong most";
}
