// What a phone says of a question: its sentence, an answer in words, the model's own numbers.

import { make, nameAnswer, readShown } from "./parts.js";

/** @import { Question, Told } from "./types.d.ts" */

export const MANY = 24; // answers or tokens, for which there is little room
const MOST_ROWS = 12;

/** Whether another answer is called the same: a token that stands there twice. @param {Question} question @param {number} i */
const isTwice = ({ answers }, i) => answers[i].token !== null && answers.filter((each) => nameAnswer(each.label) === nameAnswer(answers[i].label)).length > 1;

/** A kept answer in words. @param {Question} question @param {string} answer */
export function quote(question, answer) {
  const found = question.answers[Number(answer)];
  if (question.kind === "number" || !found) return answer.replace("-", "−");
  if (found.token === null) return found.label;
  return `“${nameAnswer(found.label)}”${isTwice(question, Number(answer)) ? ` at position ${found.token}` : ""}`;
}

/** The sentence that is asked about: that token, and the one that was chosen. @param {Question} question @param {string} answer */
export function drawSentence({ tokens, here, answers, kind }, answer) {
  const own = kind === "number" ? null : answers[Number(answer)]?.token;
  if (!tokens.length || tokens.length > MANY) return "";
  const name = (/** @type {number} */ i) => (i === here ? "here" : i === own ? "own" : "");
  return make("p", { class: "sentence" }, ...tokens.flatMap((each, i) => [make("span", { class: name(i) }, each), " "]));
}

/** The model's own number of each answer, the key's first and then those that are near it.
 * @param {Question} question @param {Told} told @param {number} own */
export function listShown(question, told, own) {
  const { answers } = question, read = (/** @type {number} */ i) => readShown(told.shown[i] ?? "");
  const rows = answers.map((each, i) => ({ i, label: nameAnswer(each.label), value: read(i) })).filter((each) => told.shown[each.i]);
  if (!rows.length) return [];
  const most = Math.max(...rows.map((each) => Math.abs(each.value) || 0)) || 1;
  const from = (/** @type {number} */ i) => (i === told.key ? -1 : Math.abs(read(i) - read(told.key)) || 0);
  rows.sort((a, b) => from(a.i) - from(b.i));
  return [make("p", { class: "faint", style: "margin-top: 10px" }, told.below), make("ul", { class: "rows" },
    ...rows.filter((each, place) => place < MOST_ROWS || each.i === own).map((each) => make("li", { class: each.i === told.key && "key" },
      make("span", {}, each.label, isTwice(question, each.i) && make("small", {}, ` ${answers[each.i].token}`), each.i === own && make("span", { class: "you" }, "you")),
      make("span", { class: "bar" }, make("i", { style: `width: ${100 * Math.abs(each.value || 0) / most}%` })),
      make("span", { class: "mono" }, told.shown[each.i]))))];
}
