// A slider from 0 to 1, and the answers at its place, beside what they are without the change. All that is known has
// come before anything is dragged: only what is not known yet waits for the server.

/** @import { Answer, StripData } from "./types.js" */

import { findInside, makeElement } from "../shared/element.js";

const FULL = 10; // steps to full strength, where nothing is changed

export class Strip {
  /** @type {StripData} */ data;
  /** @type {(step: number) => void} */ apply;
  /** @type {() => void} */ cancel;

  /** @param {ShadowRoot | Element} root */
  constructor(root) {
    this.root = findInside(root, ".strip");
    this.slider = /** @type {HTMLInputElement} */ (findInside(this.root, "input"));
    this.applies = /** @type {HTMLButtonElement} */ (findInside(this.root, ".apply"));
    this.slider.addEventListener("input", () => this.draw());
    this.applies.addEventListener("click", () => this.apply(this.step));
    findInside(this.root, ".cancel").addEventListener("click", () => this.cancel());
    this.root.addEventListener("keydown", (event) => this.key(event));
  }

  get step() {
    return Number(this.slider.value);
  }

  /** @param {StripData} data */
  show(data) {
    const another = this.data?.where !== data.where;
    this.data = data;
    for (const [name, color] of Object.entries(data.colors)) this.root.style.setProperty(`--${name}`, color);
    this.root.setAttribute("aria-label", `What if: ${data.what}`);
    this.slider.setAttribute("aria-label", `${data.what}, at this strength`);
    findInside(this.root, ".what").textContent = data.what;
    findInside(this.root, ".note").textContent = data.note;
    findInside(this.root, ".left").hidden = !data.slides;
    this.applies.hidden = !data.slides;
    if (another) {
      this.slider.value = String(data.step);
      this.slider.focus();
    }
    this.draw();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    this.cancel();
  }

  // The answers where the slider stands.
  draw() {
    const strength = (this.step / FULL).toFixed(1);
    findInside(this.root, "output").textContent = strength;
    this.slider.setAttribute("aria-valuetext", `${strength} of its strength`);
    this.applies.disabled = this.step === FULL;
    const bars = this.data.answers.flatMap((answer) => drawAnswer(answer, this.step));
    findInside(this.root, ".bars").replaceChildren(...bars);
    findInside(this.root, ".moved").textContent = tellMoved(this.data.answers[0], this.step);
  }
}

/** @param {Answer} answer @param {number} step */
function drawAnswer(answer, step) {
  const bar = makeElement("i", "", makeBar(answer.parts[step]), makeBar(answer.parts[FULL]));
  bar.setAttribute("aria-hidden", "true");
  return [makeElement("span", "", answer.name), bar, makeElement("b", "", answer.texts[step]), makeElement("b", "", answer.differences[step])];
}

/** @param {number | null} part */
function makeBar(part) {
  const bar = makeElement("s", "");
  bar.style.width = `${100 * (part ?? 0)}%`;
  return bar;
}

// What became of the likeliest answer, to be read aloud as well.
/** @param {Answer | undefined} answer @param {number} step */
export function tellMoved(answer, step) {
  if (!answer) return "";
  if (answer.parts[step] === null) return `${answer.name} …`;
  return step === FULL ? `${answer.name} ${answer.texts[FULL]}` : `${answer.name} ${answer.texts[FULL]} → ${answer.texts[step]}`;
}
