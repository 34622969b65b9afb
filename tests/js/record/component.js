// A component on a page of its own, or a page with what the components do on it: what is there, and what can be pressed.

import { clock } from "../page.js";
import { openDocument } from "./document.js";
import { listElements, listMore, round } from "./lines.js";
import { nameElement } from "./visit.js";

const REACHED = "button, input, [tabindex], a[href], summary, [data-token]";
const KEYS = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End", "Enter", " ", "Escape"];
const NOTHING = "nothing";
const SOON = 100; // milliseconds after which what was done has been answered
/**
 * html: of the page; open: what else the browser knows; start: puts the component there; does: what the visitor does;
 * within: where all is pressed that can be.
 * @typedef {{ name: string, html: string, start: (shown: Shown) => void, does?: (shown: Shown) => void, open?: () => object,
 *   presses?: boolean, within?: string, like?: string }} Scene
 */

export class Shown {
  sent = [];

  /** @param {Scene} scene */
  constructor({ html, start, does = () => {}, open = () => ({}) }) {
    this.page = openDocument(open());
    this.document = this.page.document;
    this.document.body.innerHTML = html;
    this.send = (...said) => this.sent.push(said);
    start(this);
    does(this);
  }

  find(selector) {
    return this.document.querySelector(selector);
  }

  findAll(selector) {
    return this.document.querySelectorAll(selector);
  }

  reach({ within = "html" }) {
    return this.find(within).querySelectorAll(REACHED);
  }

  wait(milliseconds) {
    clock.now += milliseconds - 20;
    clock.pass(20);
  }

  // Keys that are pressed where the focus is.
  type(...keys) {
    for (const key of keys) this.document.activeElement.send("keydown", { key });
  }

  list() {
    const { documentElement } = this.document;
    const { hash } = location;
    const moved = this.findAll("*").filter(({ scrolled, scrollTop, scrollLeft }) => scrolled.length || scrollTop || scrollLeft);
    return [
      ...listElements(documentElement), `focus: ${nameElement(this.document.activeElement)}`, ...(hash ? [`hash: ${hash}`] : []),
      ...moved.map(tellScrolled), ...this.page.copied.map((text) => `copied: ${text}`), ...this.sent.map((each) => `sent ${JSON.stringify(each)}`),
    ];
  }
}

function tellScrolled(element) {
  const { scrolled, scrollTop, scrollLeft } = element;
  return `scrolled ${nameElement(element)}: ${[scrollTop, scrollLeft].map(round).join(" ")} ${JSON.stringify(scrolled)}`;
}

// Each thing that can be reached is pointed at, given the focus, pressed, and every key pressed on it, on a fresh page each time.
/** @param {Scene} scene */
export function listReached(scene) {
  const reached = new Shown(scene).reach(scene).map(nameElement);
  const acts = {
    "point at": (element) => ["pointerover", "pointerenter"].forEach((type) => element.send(type, { pointerType: "mouse" })),
    "focus on": (element) => element.focus(), press: atFocus((element) => element.click()),
    ...Object.fromEntries(KEYS.map((key) => [`${key === " " ? "Space" : key} at`, atFocus((element) => element.send("keydown", { key }))])),
  };
  const lines = Object.entries(acts).flatMap(([does, act]) => reached.map((name, i) => `${does} ${name}: ${tryOut(scene, i, act)}`));
  return lines.filter((line) => !line.endsWith(`: ${NOTHING}`));
}

// What is done where the focus is already.
function atFocus(act) {
  return Object.assign(act, { atFocus: true });
}

// What is another thing after something was done with an element; where that leads to another one, which one.
function tryOut(scene, i, act) {
  const shown = new Shown(scene);
  const element = shown.reach(scene)[i];
  if (act.atFocus) element.focus();
  const before = shown.list();
  act(element);
  shown.wait(SOON);
  const after = shown.list();
  const all = listMore(after, before).map((line) => line.trim());
  const come = act.atFocus && all.some((line) => line.startsWith("focus: ")) ? all.filter((line) => /^(focus|sent|hash)/.test(line)) : all;
  return [...come, ...(after.length < before.length ? [`${before.length - after.length} lines less`] : [])].join("; ") || NOTHING;
}
