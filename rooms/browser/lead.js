// The projector's page of a class: who leads goes on by buttons or keys; the class's answers stand on the sentence.

import { drawAnswers, drawTokens, drawTops, isOnSentence, nameAfter } from "./axis.js";
import * as led from "./led.js";
import { ask, make } from "./parts.js";

/** @import { Lead, Question, Row, Told } from "./types.d.ts" */

const ASK_MS = 1000;
const find = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const [top, main, foot, said] = ["top", "main", "foot", "said"].map(find);
const code = location.pathname.split("/").pop() ?? "", secret = led.find(code);
const LOCAL = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);

/** @type {Lead | null} */
let room = null;
let drawn = "", trouble = "", busy = false, lit = false;

async function look() {
  if (!busy) await take(() => ask(`${code}/state`, { secret }));
  if (!room?.gone) setTimeout(look, ASK_MS);
}

/** @param {() => Promise<Lead>} get */
async function take(get) {
  try {
    const news = await get();
    if (!room || news.gone || news.version >= room.version) room = news;
    if (news.gone) led.forget(code);
    else led.keep(code, secret);
    trouble = "";
  } catch (error) {
    const { status, message } = /** @type {import("./parts.js").Refused} */ (error);
    trouble = status ? message : "The server cannot be reached. Nothing is lost: this page goes on as soon as it answers.";
    if (status === 404) {
      led.forget(code);
      room = /** @type {Lead} */ ({ gone: true });
    }
  }
  draw();
}

/** @param {string} act @param {number} [to] */
async function go(act, to = 0) {
  if (!room || busy) return;
  busy = true;
  const { version } = room;
  await take(() => ask(`${code}/act`, { body: { do: act, version, to }, secret }));
  busy = false;
  if (trouble) setTimeout(() => take(() => ask(`${code}/state`, { secret })), 2500);
}

async function save() {
  const table = await fetch(`${code}/table`, { headers: { Authorization: `Bearer ${secret}` }, cache: "no-store" }).catch(() => null);
  if (!table?.ok) {
    trouble = "The table could not be fetched. Try once more.";
    return draw();
  }
  const link = /** @type {HTMLAnchorElement} */ (make("a", { href: URL.createObjectURL(await table.blob()), download: `class-${code}.csv` }));
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Dim all but the answer and what was chosen most. */
function light() {
  lit = !lit;
  drawn = "";
  draw();
}

function end() {
  if (confirm("End this class? Its answers are deleted, here and for all phones.")) go("end");
}

// Screens

function draw() {
  if (!room) {
    main.replaceChildren(make("p", { class: "wrong", role: "alert" }, trouble || "…"));
    return;
  }
  const name = JSON.stringify([room, trouble]);
  if (name === drawn) return;
  const before = /** @type {Lead | null} */ (drawn ? JSON.parse(drawn)[0] : null);
  drawn = name;
  const held = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.act;
  const screen = choose(room), moved = !before || before.version !== room.version;
  if (before && moved) lit = false;
  main.classList.toggle("lit", lit);
  top.replaceChildren(...drawTop(room));
  main.replaceChildren(trouble ? make("p", { class: "wrong", role: "alert" }, trouble) : "", ...SCREENS[screen](room));
  foot.replaceChildren(...BUTTONS[screen](room));
  if (held) /** @type {HTMLElement | null} */ ((foot.querySelector(`[data-act="${held}"]`) ?? foot.querySelector(".main")))?.focus();
  if (moved) said.textContent = main.querySelector("h2")?.textContent ?? "";
}

/** @param {Lead} now @returns {keyof typeof SCREENS} */
function choose(now) {
  if (now.gone) return "gone";
  if (now.over) return "after";
  return now.question ? now.stage : "lobby";
}

/** @param {Lead} now */
function drawTop(now) {
  if (now.gone) return [make("h1", {}, "Class")];
  const where = now.over ? `Finished · ${now.phones} took part`
    : now.question ? `Question ${now.place + 1} of ${now.count} · ${now.question.title}` : now.line;
  const join = make("div", { class: "room" }, make("span", { class: "faint" }, `${findHome().host}${findHome().pathname}join`, make("b", { class: "code", style: "color: var(--text)" }, code)), drawCode());
  return [make("div", {}, make("h1", {}, now.title), make("span", { class: "faint" }, where)), make("span", { class: "grow" }), now.question || now.over ? join : ""];
}

/** Where phones open the app: as it was opened here, or by the machine's address where that was by a name of its own. */
function findHome() {
  const home = new URL("../", location.href);
  if (LOCAL && room?.reach && !room.alone) home.hostname = room.reach;
  return home;
}

const drawCode = () => make("img", { src: `${code}/code.svg?at=${encodeURIComponent(findHome().href)}`, alt: `QR code of ${findHome().href}join/${code}` });

/** What whoever opened the app by the machine's own name has to know. @param {Lead} now */
function tellHome(now) {
  if (!LOCAL) return "";
  const there = new URL("../", location.href);
  if (now.reach) there.hostname = now.reach;
  const link = make("b", {}, there.origin);
  if (!now.alone) return now.reach && make("p", { class: "note" }, "The app is open here as ", location.hostname, ", which phones cannot open: the code leads to ", link,
    ", this machine’s address. If a phone does not get there, open the app by an address that phones reach, and this page below it.");
  return make("p", { class: "wrong" }, "Phones cannot come in: the app was started for this machine alone. End it in its terminal (Ctrl C), start it anew with ",
    make("span", { class: "mono" }, "streamlit run app.py --server.address=0.0.0.0"), ", and load this page again: the class is kept.", now.reach ? " Phones then go to " : "", now.reach ? link : "", now.reach ? "." : "");
}

/** @param {string} task @param {...(string | Node)} sub */
const head = (task, ...sub) => [make("h2", {}, task), make("p", { class: "sub faint" }, ...sub)];
const question = (/** @type {Lead} */ now) => /** @type {Question} */ (now.question);

const SCREENS = {
  /** @param {Lead} now @returns {(Node | string)[]} */
  lobby: (now) => [make("div", { class: "lobby" },
    make("div", {}, make("p", { class: "faint" }, "Join with the code"), make("h2", { class: "code" }, code),
      make("ol", {}, make("li", {}, "Open ", make("b", {}, `${findHome().host}${findHome().pathname}join`), ", or read the code with the camera."),
        make("li", {}, "Type the four characters. No name, no account."), make("li", {}, `Answers are counted, not listed. The class ends ${tellEnd(now)}.`)),
      tellHome(now)),
    drawCode())],
  /** @param {Lead} now @returns {(Node | string)[]} */
  ask: (now) => [...head(question(now).task, now.vote > 1 ? "Second vote. " : "", question(now).text), drawTokens(question(now)),
    now.counts ? "" : drawTops(question(now), now.tops ?? []), drawAnswers(question(now), now.counts, undefined)],
  /** @param {Lead} now @returns {(Node | string)[]} */
  shown: (now) => [...head(question(now).task, tellShown(now)), drawTokens(question(now)), drawAnswers(question(now), now.counts, undefined)],
  /** @param {Lead} now @returns {(Node | string)[]} */
  told: (now) => {
    const told = /** @type {Told} */ (now.told);
    const above = `${isOnSentence(question(now)) ? "Above" : "Bars"}: your ${count(now.answered ?? 0, "answer")}${now.first === undefined ? "" : `, second vote (first: ${now.first} right, now ${now.right})`}.`;
    const bare = (/** @type {string} */ shown) => shown.replace(/\s%$/, "");
    const percent = isOnSentence(question(now)) && told.shown.some((each) => bare(each) !== each) ? ", percent" : "";
    const dotted = percent + (told.was && isOnSentence(question(now)) ? `; dotted: ${bare(told.was)}, with all tokens` : "");
    const below = told.below && told.shown.some(Boolean) ? ` ${isOnSentence(question(now)) ? "Below" : "Right"}: ${told.below}${dotted}.` : "";
    return [make("h2", {}, told.headline), make("p", { class: "sub" }, told.right), make("p", { class: "faint", style: "margin-top: 10px" }, above, below),
      drawAnswers(question(now), now.counts, told)];
  },
  /** @param {Lead} now @returns {(Node | string)[]} */
  after: (now) => {
    const rows = now.after ?? [];
    return [make("h2", {}, nameAfter(rows)), rows.length ? drawTable(rows) : ""];
  },
  /** @returns {(Node | string)[]} */
  gone: () => [...head("This class has ended", "All of it has been deleted from the server.")],
};

/** @param {Lead} now */
function tellShown(now) {
  const told = count(now.answered ?? 0, "answer");
  const more = now.vote > 1 ? "Reveal it." : "Talk to your neighbour, then vote again or reveal.";
  return now.counts ? `${told}. ${more}` : `${told}: too few to show how they are spread, before the answer is told. ${more}`;
}

/** @param {Lead} now */
function tellEnd(now) {
  const at = new Date(now.ends * 1000);
  const time = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return at.toDateString() === new Date().toDateString() ? `tonight at ${time}` : `tomorrow at ${time}`;
}

const count = (/** @type {number} */ times, /** @type {string} */ what) => `${times} ${what}${times === 1 ? "" : "s"}`;
const percent = (/** @type {Row} */ row) => Math.round(100 * row.right / row.answers);

/** @param {Row[]} rows */
function drawTable(rows) {
  const names = ["question", "right in the end", "most frequent wrong answer at first", "what may stand behind it"];
  return make("table", {}, make("thead", {}, make("tr", {}, ...names.map((each) => make("th", { scope: "col" }, each)))), make("tbody", {}, ...rows.map((row, i) =>
    make("tr", { class: !i && percent(row) < 100 && "least" },
      make("td", {}, make("button", { onclick: () => go("open", row.place) }, `${row.place + 1} · ${row.title}`)),
      make("td", { class: "share" }, make("span", { class: "bar" }, make("i", { style: `width: ${percent(row)}%` })), `${percent(row)} %`),
      make("td", {}, row.wrong && `${row.wrong}: ${row.times} of ${row.of}`), make("td", {}, row.misconception)))));
}

// Buttons and keys

const SPOT = "spot";
const KEYS = { s: SPOT, ArrowRight: "next", PageDown: "next", ArrowLeft: "back", PageUp: "back", a: "again", b: "bars" };

/** @param {string} act @param {string} label @param {string} [key] @param {boolean} [main] */
const button = (act, label, key, main = false) =>
  make("button", { class: main ? "button main" : "button", "data-act": act, onclick: () => go(act) }, label, key && make("kbd", { "aria-hidden": true }, key));
const spot = () => make("button", { class: "button", "data-act": SPOT, "aria-pressed": String(lit), onclick: light }, "Spotlight", make("kbd", { "aria-hidden": true }, "S"));
const lock = (/** @type {Lead} */ now) => button("lock", now.locked ? "Let others in" : "Lock the room");
const link = (/** @type {string} */ to, /** @type {string} */ label) => (to ? make("a", { class: "button", href: `../${to}`, target: "_blank", rel: "noopener" }, label) : "");

/** @param {...(Node | string | false)} inside */
const sum = (...inside) => make("span", { class: "sum", role: "status" }, ...inside);
const answered = (/** @type {Lead} */ now) => sum(
  make("span", { class: "bar" }, make("i", { style: `width: ${now.phones ? 100 * (now.answered ?? 0) / now.phones : 0}%` })),
  make("span", {}, make("b", {}, String(now.answered ?? 0)), ` of ${now.phones}`));

const BUTTONS = {
  /** @param {Lead} now @returns {(Node | string)[]} */
  lobby: (now) => [button("next", "Start", "→", true), lock(now), make("button", { class: "button", "data-act": "end", onclick: end }, "End the class"),
    sum(make("b", { style: "font-size: 34px" }, String(now.phones)), now.phones === 1 ? "is in" : "are in")],
  /** @param {Lead} now @returns {(Node | string)[]} */
  ask: (now) => [button("next", "Show answers", "→", true), button("bars", now.bars ? "Hide bars" : "Show bars while they answer", "B"), lock(now),
    button("back", "Back", "←"), answered(now)],
  /** @param {Lead} now @returns {(Node | string)[]} */
  shown: (now) => [button("next", "Reveal", "→", true), now.vote > 1 ? "" : button("again", "Vote again", "A"), now.counts ? spot() : "", button("back", "Back", "←"), answered(now)],
  /** @param {Lead} now @returns {(Node | string)[]} */
  told: (now) => [button("next", "Next", "→", true), link(now.told?.link ?? "", "Open on the page"), link(now.why ?? "", "Why"), spot(), button("back", "Back", "←"),
    sum(make("b", {}, String(now.right ?? 0)), `of ${now.answered ?? 0} right`)],
  /** @param {Lead} now @returns {(Node | string)[]} */
  after: (now) => [make("button", { class: "button main", "data-act": "save", onclick: save }, "Export CSV"), link(now.link, "Print handout"), button("back", "Back", "←"),
    make("button", { class: "button", "data-act": "end", onclick: end }, "End the class"),
    make("span", { class: "sum faint", style: "font-size: 20px" }, `No names were asked. The class and its counts are deleted ${tellEnd(now)}.`)],
  /** @returns {(Node | string)[]} */
  gone: () => [make("a", { class: "button main", href: "../learn" }, "All lessons")],
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const act = KEYS[/** @type {keyof typeof KEYS} */ (event.key)];
  if (!act || !foot.querySelector(`[data-act="${act}"]`)) return;
  event.preventDefault();
  if (act === SPOT) light();
  else go(act);
});
if (secret) look();
else {
  trouble = "This is the projector’s page of a class. It opens by the link that the page Learn gave to who started the class.";
  draw();
}
