// What stands around a panel that is presented to a room: its title above, the keys below.

import { findInside, makeElement } from "../shared/element.js";

/** @type {[string, string, string, string][]} */
const OFFERED = [ // key, sign, what is written beside it, what it is called
  ["ArrowLeft", "←", "", "The panel before"], ["ArrowRight", "→", "panel", "The next panel"],
  ["ArrowUp", "↑", "", "The token before"], ["ArrowDown", "↓", "row", "The next token"],
  [" ", "Space", "more below", "More of this panel"], ["s", "S", "spotlight", "Spotlight on one row"],
  ["d", "D", "dark or light", "Dark or light"], ["Escape", "Esc", "leave", "Leave"],
];
const GAP = 10; // pixels between title and panel
const LAST = -2; // of them, at the right

export class Lectern {
  /** @param {(key: string) => unknown} press */
  constructor(press) {
    const offered = OFFERED.map(([key, sign, says, name]) => {
      const button = makeElement("button", "", makeElement("kbd", "", sign), says);
      button.dataset.key = key;
      button.setAttribute("aria-label", name);
      button.addEventListener("click", () => press(key));
      return button;
    });
    this.title = makeElement("h1", "");
    this.line = makeElement("p", "");
    this.place = makeElement("span", "");
    this.dots = makeElement("span", "bv-dots");
    this.dots.setAttribute("role", "img");
    this.head = makeElement("header", "", this.title, this.place, this.line);
    this.foot = makeElement("footer", "", ...offered.slice(0, LAST), this.dots, ...offered.slice(LAST));
    this.whole = makeElement("section", "bv-lectern", this.head, this.foot);
    this.whole.setAttribute("aria-label", "Presented to a room");
    document.body.append(this.whole);
  }

  // From where to where a panel has room, in pixels from the top of the window.
  get room() {
    return { from: this.head.getBoundingClientRect().bottom + GAP, to: this.foot.getBoundingClientRect().top };
  }

  /** @param {string} key */
  find(key) {
    return findInside(this.whole, `[data-key="${key}"]`);
  }

  // The title, and a line below it; whether they are other ones than before.
  /** @param {Element | null} title @param {Element | null} line */
  name(title, line) {
    return [copy(this.title, title), copy(this.line, line)].includes(true);
  }

  /** @param {number} here @param {number} all */
  count(here, all) {
    if (this.dots.childElementCount !== all) this.dots.replaceChildren(...Array.from({ length: all }, () => makeElement("i", "")));
    [...this.dots.children].forEach((each, i) => each.toggleAttribute("data-here", i === here));
    this.dots.setAttribute("aria-label", `Panel ${here + 1} of ${all}`);
  }

  /** @param {string} key @param {boolean} on */
  turn(key, on) {
    this.find(key).setAttribute("aria-pressed", String(on));
  }

  /** @param {boolean} more */
  tellMore(more) {
    this.find(" ").toggleAttribute("hidden", !more);
  }

  leave() {
    this.whole.remove();
  }
}

// What another element says, without what is only seen at the pointer.
/** @param {Element} place @param {Element | null} told */
function copy(place, told) {
  const made = /** @type {Element} */ (told?.cloneNode(true) ?? makeElement("span", ""));
  for (const each of made.querySelectorAll('[role="tooltip"], a')) each.remove();
  const another = place.textContent !== made.textContent;
  if (another) place.replaceChildren(...made.childNodes);
  return another;
}
