// The pages of a class: codes as they are typed, numbers as bars, answers on the sentence, what a phone keeps.

import assert from "node:assert/strict";
import { test } from "node:test";

import { drawAnswers, drawTokens, drawTops, isOnSentence, nameAfter } from "../../rooms/browser/axis.js";
import * as link from "../../rooms/browser/link.js";
import * as kept from "../../rooms/browser/kept.js";
import * as led from "../../rooms/browser/led.js";
import { findUnused, nameAnswer, readCode, readShown } from "../../rooms/browser/parts.js";
import { drawSentence, listShown, quote } from "../../rooms/browser/said.js";
import { openDocument } from "./record/document.js";

const { localStorage } = openDocument();

const TOKENS = ["[CLS]", "do", "as", "[MASK]", "do", "[SEP]"];
const pick = { kind: "pick", tokens: TOKENS, answers: [1, 2, 4].map((token) => ({ label: `${token} ${TOKENS[token]}`, token })) };
const choose = { kind: "choose", tokens: TOKENS, answers: [{ label: "Less", token: null }, { label: "More", token: null }] };
const heads = { kind: "pick", tokens: TOKENS, answers: Array.from({ length: 30 }, (_, i) => ({ label: `layer 0, head ${i}`, token: null })) };
const told = (key, shown = []) => ({ key, shown });
const texts = (element, selector) => [...element.querySelectorAll(selector)].map((each) => each.textContent);

test("a code is read as it is typed, and signs that no code has are named", () => {
  assert.equal(readCode(" k7-m2 "), "K7M2");
  assert.equal(readCode("k7m2xyz"), "K7M2");
  assert.deepEqual(findUnused("0I7M"), ["0", "I"]);
  assert.deepEqual(findUnused("K7M2"), []);
});

test("a number that is shown is as long as it says", () => {
  const read = ["0.27 %", "−0.80", "1,234.5", "< 0.1 %", "2079", "81\u00a0%"].map(readShown);
  assert.deepEqual(read, [0.27, -0.8, 1234.5, 0.1, 2079, 81]);
  for (const none of ["", "do", "nan %", "1.2.3"]) assert.ok(Number.isNaN(readShown(none)), none);
});

test("at the end a class that has everything right got nothing wrong", () => {
  const rows = (...right) => right.map((each) => ({ right: each, answers: 6 }));
  assert.equal(nameAfter(rows(2, 6)), "What the class got wrong most");
  assert.equal(nameAfter(rows(6, 6)), "All answers were right in the end");
  assert.equal(nameAfter([]), "Nobody has answered");
});

test("an answer is named without its position", () => {
  assert.equal(nameAnswer("9 do"), "do");
  assert.equal(nameAnswer("layer 5, head 5"), "layer 5, head 5");
});

test("answers that are tokens stand on the sentence, others in rows", () => {
  assert.ok(isOnSentence(pick) && !isOnSentence(choose) && !isOnSentence(heads));
  assert.ok(!isOnSentence({ ...pick, tokens: Array(25).fill("a") }));
  assert.equal(drawTokens(pick), "");
  assert.deepEqual(texts(drawTokens(choose), "span"), TOKENS);
});

test("every token has a column; those that were answered their count, and below it the model's number", () => {
  const asked = drawAnswers(pick, undefined, undefined);
  assert.deepEqual(texts(asked, ".column"), TOKENS);
  const shown = drawAnswers(pick, [3, 0, 12], undefined);
  assert.deepEqual(texts(shown, "b"), ["3", "12"]);
  assert.equal(shown.querySelectorAll(".key").length, 0);
  const answered = drawAnswers(pick, [3, 0, 12], told(2, ["5.1 %", "2.6 %", "0.27 %"]));
  assert.deepEqual(texts(answered, ".down"), ["", "5.1", "2.6", "", "0.27", ""]);
  assert.deepEqual(texts(answered, ".key .chip"), ["do"]);
  assert.equal(answered.querySelectorAll(".column")[4].getAttribute("aria-label"), "do, 12 answers, 0.27 %");
  const heights = [...answered.querySelectorAll(".down i")].map((each) => Number.parseFloat(each.style.height));
  assert.equal(heights[0], 104);
  assert.ok(Math.abs(heights[1] - 104 * 2.6 / 5.1) < 1e-9);
});

test("what the model's number was is a dotted line across all columns, as far down as a bar of it would be", () => {
  const answered = drawAnswers(pick, [3, 0, 12], { ...told(2, ["5.1 %", "2.6 %", "0.27\u00a0%"]), was: "7.4\u00a0%" });
  assert.deepEqual(texts(answered, ".down"), ["", "5.1", "2.6", "", "0.27", ""]);
  assert.equal(answered.querySelector(".was").style.bottom, "36px"); // 140, less 104 of the longest, which it is
  assert.equal(drawAnswers(pick, [3, 0, 12], told(2, ["5.1 %", "2.6 %", "0.27 %"])).querySelectorAll(".was").length, 0);
});

test("the spotlight leaves the answer and what was chosen most beside it", () => {
  const lit = (counts, told) => [...drawAnswers(pick, counts, told).querySelectorAll(".column")].map((each) => !each.className.includes("aside"));
  assert.deepEqual(lit([3, 5, 12], undefined), [false, false, false, false, true, false]);
  assert.deepEqual(lit([3, 5, 12], told(2)), [false, false, true, false, true, false]);
  assert.deepEqual(lit([0, 0, 12], told(2)), [false, false, false, false, true, false]);
});

test("the token that is asked about is marked, and the likeliest words there stand with their shares", () => {
  const asked = { ...choose, here: 3 };
  assert.deepEqual(texts(drawTokens(asked), ".here"), ["[MASK]"]);
  assert.deepEqual(texts(drawAnswers({ ...pick, here: 3 }, undefined, undefined), ".here"), ["[MASK]"]);
  const tops = drawTops(asked, [["people", "7.4\u00a0%"], ["men", "3.7\u00a0%"]]);
  assert.deepEqual([...tops.querySelectorAll(".bar i")].map((each) => each.style.width), ["100%", "50%"]);
  assert.ok(tops.textContent.startsWith("At [MASK] now") && tops.textContent.includes("people"));
  assert.equal(drawTops(asked, []), "");
});

test("options stand in rows with their counts; of many only those that were chosen, and the answer first", () => {
  assert.deepEqual(texts(drawAnswers(choose, [4, 9], undefined), ".count"), ["4", "9"]);
  assert.deepEqual(texts(drawAnswers(choose, undefined, undefined), ".count"), ["", ""]);
  const counts = heads.answers.map((_, i) => (i % 2 ? i : 0));
  const rows = texts(drawAnswers(heads, counts, told(2, heads.answers.map((_, i) => `${i}`))), ".count");
  assert.deepEqual([rows.length, rows[0], rows[1]], [12, "0", "29"]);
  assert.equal(texts(drawAnswers(heads, counts, told(2)), ".key")[0], "layer 0, head 2, the answer");
});

test("numbers stand in their order, and the right ones are marked once the answer is told", () => {
  const number = { kind: "number", tokens: TOKENS, answers: [] };
  const counts = [["-3", 1, false], ["19.6", 4, true]];
  assert.equal(drawAnswers(number, counts, undefined).querySelectorAll(".key").length, 0);
  assert.deepEqual(texts(drawAnswers(number, counts, told(19.6)), ".key"), ["19.6, the answer"]);
  assert.ok(drawAnswers(number, counts, told(19.6)).textContent.startsWith("−3"));
});

test("an answer is said with its position where the token stands twice, and rows with the answer's first, then what is near it", () => {
  assert.deepEqual(["0", "1", "2"].map((each) => quote(pick, each)), ["“do” at position 1", "“as”", "“do” at position 4"]);
  assert.equal(quote({ ...pick, kind: "number" }, "-3"), "−3");
  const [, rows] = listShown(pick, { key: 2, shown: ["5.1 %", "2.6 %", "0.27 %"], below: "kept" }, 1);
  assert.deepEqual(texts(rows, "li"), ["do 40.27 %", "asyou2.6 %", "do 15.1 %"]);
  const many = { ...heads, tokens: [] };
  const [, best] = listShown(many, { key: 3, shown: heads.answers.map((_, i) => `${i}`), below: "" }, 29);
  assert.equal(best.querySelectorAll("li").length, 13);
  assert.ok(texts(best, "li")[12].startsWith("layer 0, head 29you"));
  assert.deepEqual(texts(drawSentence({ ...pick, here: 3 }, "1"), ".own"), ["as"]);
});

test("a teacher's link leads to its lesson with one of its sentences, the same one for the same browser", () => {
  const read = link.read("#page=attention&lesson=attention&without=whatif%2Cpages&text=a%20%26%20b&text=c%23d");
  assert.deepEqual(read, { page: "attention", lesson: "attention", without: "whatif,pages", model: "", sentences: ["a & b", "c#d"] });
  assert.deepEqual([0, 0.49, 0.5, 0.99].map((chance) => link.choose(read.sentences, null, chance)), ["a & b", "a & b", "c#d", "c#d"]);
  assert.equal(link.choose(read.sentences, "c#d", 0), "c#d");
  assert.equal(link.choose(read.sentences, "of another link", 0), "a & b");
  assert.equal(link.choose([], null, 0.5), "");
  assert.equal(link.write(read, "a & b"), "../attention?text=a+%26+b&lesson=attention&step=1&without=whatif%2Cpages");
  for (const hash of ["", "#", "#page=javascript:alert(1)", "#page=..%2Fx", "#page=a", "#page=learn&lesson=A"]) assert.equal(link.read(hash), null, hash);
});

test("a phone keeps its number for one class alone, and lets go of it", () => {
  kept.write({ ...kept.begin("K7M2"), phone: "x", answers: { [kept.name(0, 1)]: "2" } });
  assert.equal(kept.read("K7M2").phone, "x");
  assert.deepEqual(kept.read("K7M2").answers, { "0.1": "2" });
  assert.deepEqual(kept.read("ABCD"), kept.begin("ABCD"));
  kept.forget();
  assert.deepEqual(kept.read("K7M2"), kept.begin("K7M2"));
  localStorage.setItem("bert-class", "{broken");
  assert.deepEqual(kept.read("K7M2"), kept.begin("K7M2"));
});

test("a secret goes from the address into the browser, for the newest classes and until they end", () => {
  const open = (path) => { globalThis.location = new URL(path, "http://bert.test"); };
  globalThis.history = { state: null, replaceState: (_state, _title, path) => open(path) };
  const lead = (code, secret = "") => {
    open(`/lead/${code}${secret && `#${secret}`}`);
    const found = led.find(code);
    if (found) led.keep(code, found);
    return [found, location.pathname + location.hash];
  };
  assert.deepEqual(lead("K7M2"), ["", "/lead/K7M2"]);
  assert.deepEqual(lead("K7M2", "right"), ["right", "/lead/K7M2"]);
  open("/lead/K7M2#wrong"); // and is not kept before the server has said so
  assert.equal(led.find("K7M2"), "wrong");
  assert.deepEqual(lead("K7M2"), ["right", "/lead/K7M2"]);
  for (let i = 0; i < 11; i++) lead(`${2345 + i}`, "x");
  assert.equal(lead("K7M2")[0], "right");
  lead("9999", "x");
  assert.equal(lead("K7M2")[0], "");
  led.forget("9999");
  assert.deepEqual([lead("9999")[0], lead("2355")[0]], ["", "x"]);
  localStorage.setItem("bert-led", "{broken");
  assert.deepEqual(lead("2355"), ["", "/lead/2355"]);
  localStorage.setItem = () => { throw new Error("full"); };
  assert.deepEqual(lead("2355", "x"), ["x", "/lead/2355#x"]);
});
