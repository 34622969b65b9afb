// The phone's page of a class: a code, one decision a screen, and what became of it.

import { follow } from "./follow.js";
import * as kept from "./kept.js";
import { ask, findUnused, make, nameAnswer, readCode } from "./parts.js";
import { MANY, drawSentence, listShown, quote } from "./said.js";

/** @import { Question, Room, Told } from "./types.d.ts" */
/** @import { Kept } from "./kept.js" */

const RETRY_MS = 2000;
const find = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const [top, main, foot, said] = ["top", "main", "foot", "said"].map(find);

/** @type {Kept} */
let mine = kept.begin("");
/** @type {Room | null} */
let room = null;
/** @type {string | number | null} */
let chosen = null;
let changing = false, late = false, trouble = "", drawn = "", came = "";

const asked = () => /** @type {Question} */ (/** @type {Room} */ (room).question);
const path = () => mine.code;
const at = () => (room ? kept.name(room.place, room.vote) : "");

/** @param {Partial<Kept>} news */
function keep(news) {
  mine = { ...mine, ...news };
  kept.write(mine);
}

// Coming in

/** Why this is no code; "" where it may be one. @param {string} code */
function tellWrongCode(code) {
  const unused = findUnused(code);
  if (unused.length) return `No code has ${unused.join(" or ")}: there is no zero, O, one, I or L in any. Look at the board again.`;
  return code.length < 4 ? "A code has four characters." : "";
}

/** @param {string} [why] */
function showForm(why = "") {
  document.title = "Join a class · BERT, every number";
  top.replaceChildren(make("b", {}, "BERT"));
  foot.hidden = true;
  const field = /** @type {HTMLInputElement} */ (make("input", {
    class: "typed", id: "code", maxlength: 8, autocapitalize: "characters", autocomplete: "off", spellcheck: "false", "aria-describedby": "why",
    autofocus: true, value: mine.code,
  }));
  const told = make("p", { id: "why", role: "alert", class: why && "wrong" }, why);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const code = readCode(field.value), wrong = tellWrongCode(code);
    if (!wrong) return enter(code, true);
    told.textContent = wrong;
    told.className = "wrong";
    field.focus();
  };
  main.replaceChildren(make("form", { onsubmit: submit, novalidate: true },
    make("h1", {}, make("label", { for: "code" }, "Join a class")),
    make("p", {}, "Type the code that your teacher shows."), field, told,
    make("button", { class: "button main" }, "Join"),
    make("p", { class: "faint", style: "margin-top: 18px" }, "No name, no account. Your teacher sees how many chose what, not who. The class and its " +
      "counts are deleted when it ends.")));
  field.focus();
}

/** @param {string} code @param {boolean} typed whether it is not in the address yet */
async function enter(code, typed = false) {
  mine = kept.read(code);
  try {
    await ask(`${code}/state`);
    await comeIn();
  } catch (error) {
    return showForm(/** @type {Error} */ (error).message);
  }
  if (typed) history.replaceState(null, "", code);
  follow(path(), hear, (error) => { note(error?.message ?? ""); });
  setInterval(send, RETRY_MS);
}

/** @param {string} text */
function note(text) {
  if (text === trouble) return;
  trouble = text;
  draw();
}

// What is heard and sent

/** @param {Room} news */
function hear(news) {
  if (room && !news.gone && news.version < room.version) return;
  const before = at();
  room = news;
  if (at() !== before) {
    chosen = null;
    changing = false;
    came = "";
    late = false;
  }
  if (room.told && room.question) keep({ right: { ...mine.right, [room.place]: isRight(room.told) } });
  if (mine.waiting && (mine.waiting.at !== at() || room.stage !== "ask")) {
    late = mine.waiting.at === at();
    keep({ waiting: null });
  }
  if (room.gone) kept.forget();
  draw();
}

const readMine = () => (room ? mine.answers[kept.name(room.place, room.vote)] ?? mine.answers[kept.name(room.place, 1)] : undefined);

/** @param {Told} told */
function isRight(told) {
  const answer = readMine();
  return answer !== undefined && Math.abs(Number(answer) - told.key) <= told.within * (1 + 1e-9);
}

async function send() {
  const waiting = mine.waiting;
  if (!waiting || !room || waiting.at !== at()) return;
  try {
    await comeIn();
    const body = { phone: mine.phone, question: room.place, vote: room.vote, answer: waiting.answer };
    const { kept: answer, answered, phones } = await ask(`${path()}/answer`, { body });
    came = `With yours, ${answered} of ${phones} had answered.`;
    keep({ answers: { ...mine.answers, [waiting.at]: answer }, waiting: null });
    changing = false;
    trouble = "";
  } catch (error) {
    const { status, message } = /** @type {import("./parts.js").Refused} */ (error);
    trouble = message;
    if (status === 403 && mine.phone) keep({ phone: "" }); // the room does not know it: the next time it comes in anew
    else if (status && status !== 429 && status < 500) keep({ waiting: null });
  }
  draw();
}

/** Be a phone of the room, also where another tab has let go of the number. */
async function comeIn() {
  if (!mine.phone) keep({ phone: (await ask(`${path()}/enter`, { body: {} })).phone });
}

// Screens

function draw() {
  if (!room) return;
  const screen = choose(room);
  const now = JSON.stringify([screen, room.version, trouble, mine.waiting, chosen, readMine()]);
  if (now === drawn) return;
  const moved = !drawn || JSON.parse(drawn)[0] !== screen || JSON.parse(drawn)[1] !== room.version;
  drawn = now;
  top.replaceChildren(make("span", {}, "Class"), make("b", { class: "code" }, mine.code), make("span", { class: "grow" }),
    room.question ? make("span", { class: "faint" }, `${room.place + 1} of ${room.count}`) : "");
  const { body, end, say } = SCREENS[screen](room);
  const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.key;
  main.replaceChildren(trouble ? make("p", { class: "wrong" }, trouble) : "", ...body);
  foot.replaceChildren(...end);
  foot.hidden = !end.length;
  if (!moved && focused) /** @type {HTMLElement | null} */ (document.querySelector(`[data-key="${focused}"]`))?.focus();
  if (moved) {
    main.scrollTop = 0;
    scrollTo(0, 0);
    main.querySelector("h1")?.focus({ preventScroll: true });
    said.textContent = say;
  }
}

/** @param {Room} now @returns {keyof typeof SCREENS} */
function choose(now) {
  if (now.gone) return "gone";
  if (now.over) return "over";
  if (!now.question) return "lobby";
  if (now.stage === "told") return "told";
  if (now.stage === "shown") return "shown";
  return mine.answers[at()] !== undefined && !changing ? "sent" : "ask";
}

/** @typedef {{ body: (Node | string)[], end: (Node | string)[], say: string }} Screen */

const head = (/** @type {string} */ text) => make("h1", { tabindex: -1 }, text);
const SCREENS = {
  /** @returns {Screen} */
  lobby: () => ({
    body: [head("You are in"), make("p", {}, "The first question comes here when your teacher starts."),
      make("p", { class: "faint" }, "You can lock the phone meanwhile: it comes back to the class by itself.")],
    end: [], say: "You are in the class. The first question comes when your teacher starts.",
  }),
  /** @param {Room} now @returns {Screen} */
  ask: (now) => {
    const { task, text, kind } = asked();
    const first = now.vote > 1 ? mine.answers[kept.name(now.place, 1)] : undefined;
    return {
      body: [head(task), ...(text ? [make("p", { class: "faint" }, text)] : []),
        ...(now.vote > 1 ? [make("p", {}, make("b", {}, "Second vote. "), first === undefined ? "" : `First you chose ${name(first)}.`)] : []),
        kind === "number" ? askNumber() : askOne()],
      end: [makeSend()], say: `${now.vote > 1 ? "Second vote. " : ""}Question ${now.place + 1} of ${now.count}: ${task}`,
    };
  },
  /** @returns {Screen} */
  sent: () => ({
    body: [head("Sent"), make("div", { class: "mine" }, make("b", { class: "grow" }, name(String(readMine()))),
      make("button", { "data-key": "change", onclick: change }, "Change")),
      make("p", {}, "You can change it until your teacher shows the answers."),
      make("p", { style: "margin-top: 14px" }, "Meanwhile: how would you explain it to somebody who chose otherwise?"),
      make("p", { class: "faint" }, asked().task), drawSentence(asked(), String(readMine()))],
    end: came ? [make("p", { class: "faint" }, came)] : [], say: `Sent: ${name(String(readMine()))}`,
  }),
  /** @returns {Screen} */
  shown: () => ({
    body: [head("Look at the board"), ...(readMine() === undefined ? [make("p", {}, late ? "Your answer came too late: it was not counted." : "You have not answered this question.")]
      : [make("div", { class: "mine" }, make("span", { class: "faint" }, "You:"), make("b", {}, name(String(readMine()))))]),
      make("p", {}, "Tell your neighbour why. You may be asked once more.")],
    end: [], say: "The answers are on the board. Tell your neighbour why you chose yours.",
  }),
  /** @param {Room} now @returns {Screen} */
  told: (now) => {
    const told = /** @type {Told} */ (now.told), answer = readMine(), right = isRight(told);
    const own = answer === undefined ? "You have not answered."
      : right ? told.right || told.says[Number(answer)] : tellWrong(told, answer);
    return {
      body: [head(told.headline), make("p", {}, answer === undefined ? "" : make("span", { class: right ? "pill right" : "pill" }, right ? "Right" : "Not yet"), own),
        ...(right || !told.right ? [] : [make("p", {}, told.right)]), ...listShown(asked(), told, Number(readMine()))],
      end: told.link ? [make("a", { class: "button", href: `../${told.link}`, target: "_blank", rel: "noopener" }, "Open it on the page")] : [],
      say: `${answer === undefined ? "" : right ? "Right. " : "Not yet. "}${told.headline}`,
    };
  },
  /** @param {Room} now @returns {Screen} */
  over: (now) => {
    const answered = new Set(Object.keys(mine.answers).map((each) => Number(each.split(".")[0])));
    const right = Object.values(mine.right).filter(Boolean).length;
    return {
      body: [head("That was the last question"), make("p", {}, answered.size ? `You had ${right} of ${now.count} right.` : "You have answered none."),
        make("p", { class: "faint" }, "This stays on your phone alone. The class and its counts are deleted when it ends.")],
      end: [make("a", { class: "button", href: "../learn" }, "All lessons")], say: "That was the last question.",
    };
  },
  /** @returns {Screen} */
  gone: () => ({
    body: [head("This class has ended"), make("p", {}, "Nothing of it is kept, here or on the server.")],
    end: [make("a", { class: "button", href: "../learn" }, "All lessons")], say: "This class has ended.",
  }),
};

function change() {
  changing = true;
  const answer = readMine();
  chosen = answer === undefined ? null : room?.question?.kind === "number" ? answer : Number(answer);
  draw();
}

/** An answer to what is asked, in words. @param {string} answer */
const name = (answer) => quote(asked(), answer);

/** @param {Told} told @param {string} answer */
function tellWrong(told, answer) {
  if (room?.question?.kind === "number") return `You wrote ${name(answer)}. ${told.wrong}`;
  return told.says[Number(answer)] || told.wrong;
}

function askOne() {
  const { answers, kind } = asked();
  const pick = kind === "pick", many = answers.length > MANY;
  const move = (/** @type {KeyboardEvent} */ event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    chosen = (Number(chosen ?? (by > 0 ? -1 : 0)) + by + answers.length) % answers.length;
    draw();
    /** @type {HTMLElement | null} */ (main.querySelector('[aria-checked="true"]'))?.focus();
  };
  return make("div", { class: `answers ${pick ? "pick" : ""} ${many ? "many" : ""}`, role: "radiogroup", "aria-label": "Answers", onkeydown: move },
    ...answers.map((each, i) => make("button", {
      role: "radio", "aria-checked": String(chosen === i), "data-key": `answer-${i}`, tabindex: chosen === i || (chosen === null && !i) ? 0 : -1,
      onclick: () => { chosen = i; draw(); },
    }, each.token === null ? null : make("small", {}, String(each.token)), each.token === null ? each.label : nameAnswer(each.label))));
}

function askNumber() {
  const type = (/** @type {Event} */ event) => {
    chosen = /** @type {HTMLInputElement} */ (event.target).value;
    foot.replaceChildren(makeSend());
  };
  const enterKey = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter") submit();
  };
  return make("input", { class: "typed number", inputmode: "decimal", "aria-label": "Your number", autocomplete: "off", maxlength: 12, "data-key": "number",
    value: chosen ?? "", oninput: type, onkeydown: enterKey });
}

const isNumber = (/** @type {unknown} */ typed) => /^\s*[−-]?\d{1,9}([.,]\d{1,9})?\s*$/.test(String(typed ?? ""));

function makeSend() {
  const number = room?.question?.kind === "number";
  const ready = number ? isNumber(chosen) : chosen !== null;
  const label = mine.waiting ? ["Sending …"] : !ready ? [number ? "Write a number" : "Choose one"] : ["Send ", make("b", {}, name(String(chosen).trim()))];
  return make("button", { class: "button main", "data-key": "send", disabled: !ready || Boolean(mine.waiting), onclick: submit }, ...label);
}

function submit() {
  const number = room?.question?.kind === "number";
  if (chosen === null || (number && !isNumber(chosen))) return;
  keep({ waiting: { at: at(), answer: number ? String(chosen).trim() : chosen } });
  draw();
  send();
}

const given = readCode(location.pathname.split("/").pop() ?? "");
if (given.length === 4 && !tellWrongCode(given)) enter(given);
else showForm(given.length === 4 ? tellWrongCode(given) : "");
// Another tab of this phone answers for it as well.
addEventListener("storage", () => {
  if (!room || room.gone) return;
  mine = kept.read(mine.code);
  draw();
});
