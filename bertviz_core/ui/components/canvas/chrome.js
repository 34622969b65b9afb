// What stands around the picture: the level with its headline, the readout, and on a phone the stages and levels.

/** @import { Canvas } from "./canvas.js" */
/** @import { Level, Palette, Target, Written } from "./types.js" */

import { clampIndex } from "../shared/clamp.js";
import { findInside } from "../shared/element.js";
import { writeActions, writeCrumbs, writeReadout, writeStrip, writeTabs, writeTitle } from "./chrome_words.js";
import { KEYS } from "./keys.js";
import { listGroups } from "./layout_stops.js";
import { openLesson } from "./links.js";
import { legendLine } from "./scales.js";
import { heading } from "./sizes.js";
import { tellPart } from "./told.js";

export class Chrome {
  /** @param {Canvas} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    const { root } = canvas;
    /** @type {Written} */ this.crumbs = findInside(root, ".bvc-crumbs");
    /** @type {Written} */ this.title = findInside(root, ".bvc-title");
    /** @type {Written} */ this.actions = findInside(root, ".bvc-actions");
    /** @type {Written} */ this.strip = findInside(root, ".bvc-strip");
    /** @type {Written} */ this.readout = findInside(root, ".bvc-readout");
    /** @type {Written} */ this.tabs = findInside(root, ".bvc-tabs");
    /** @type {HTMLElement} */ this.live = findInside(root, ".bvc-live");
    /** @type {HTMLDialogElement} */ this.help = findInside(root, ".bvc-help");
    /** @type {HTMLButtonElement} */ this.quiet = findInside(root, ".bvc-quiet");
    canvas.root.addEventListener("click", (event) => this.click(event));
  }

  style() {
    const { canvas: { root, colors, data } } = this;
    /** @type {Exclude<keyof Palette, "kinds">[]} */
    const names = ["text", "faint", "line", "surface", "accent", "first", "second", "paper"];
    for (const name of names) {
      root.style.setProperty(`--bvc-${name}`, data.colors[name]);
    }
    for (const kind of Object.keys(data.colors.kinds)) root.style.setProperty(`--bvc-${kind}`, colors.ink(kind));
  }

  // Buttons are made only where their words change: the one with the focus stays.
  draw() {
    const { canvas } = this;
    const { place } = canvas;
    canvas.root.dataset.level = place.level;
    canvas.root.dataset.stop = place.stop ? String(place.stop) : "";
    this.write(this.crumbs, writeCrumbs(canvas));
    this.write(this.title, writeTitle(canvas));
    this.write(this.actions, writeActions(canvas));
    this.write(this.strip, writeStrip(canvas));
    this.write(this.tabs, writeTabs(canvas));
    this.centerPressed();
    canvas.player.show();
    this.read(canvas.hover);
  }

  // Not by scrollIntoView: after that Tab goes on from there, past the bar.
  centerPressed() {
    const pressed = this.strip.querySelector("[aria-pressed=true]")?.getBoundingClientRect();
    if (!pressed) return;
    const strip = this.strip.getBoundingClientRect();
    this.strip.scrollLeft += pressed.left + pressed.width / 2 - strip.left - strip.width / 2;
  }

  /** @param {Written} element @param {string} html */
  write(element, html) {
    if (element.written === html) return;
    const { activeElement: focus } = document;
    const held = focus && element.contains(focus) ? focus.dataset.does : null;
    element.innerHTML = element.written = html;
    if (held === null) return;
    const again = held && element.querySelector(`[data-does="${held}"]`);
    (again || this.canvas.stage).focus({ preventScroll: true });
  }

  // Buttons say what they do: data-does="NAME:VALUE".
  /** @param {Event} given */
  click({ target }) {
    const does = /** @type {Element} */ (target).closest?.("[data-does]")?.dataset.does;
    if (!does) return;
    const [name, value] = does.split(/:(.*)/s);
    const { canvas } = this;
    /** @type {Record<string, () => unknown>} */
    const commands = {
      level: () => canvas.go({ level: /** @type {Level} */ (value), stop: 0 }), group: () => this.choose(Number(value)), head: () => canvas.go(
        { head: Number(value) }
      ),
      play: () => canvas.player.toggle(), stop: () => canvas.player.goTo(Number(value)),
      speed: () => canvas.player.hurry(),
      end: () => canvas.player.end(), example: () => canvas.send("example", pickExample(canvas.data.examples[Number(value)])),
      lesson: () => openLesson(canvas), quiet: () => this.hush(), component: () => canvas.go({ component: null }),
      close: () => this.hideHelp(), up: () => canvas.leave(),
    };
    commands[name]?.();
  }

  // Draw the attention on special tokens, or leave it out.
  hush() {
    const { canvas } = this;
    canvas.quiet = !canvas.quiet;
    this.quiet.setAttribute("aria-checked", canvas.quiet);
    canvas.draw();
  }

  // The switch stands at the end of the legend, where there are ribbons from special tokens; on a phone over them.
  placeSwitch() {
    const { frame, data, place } = this.canvas;
    const ribbons = Object.entries(frame.parts).some(([part, { w }]) => part.startsWith("ribbons") && w > 8);
    this.quiet.hidden = !ribbons || Boolean(place.stop) || !data.tokens.some((token) => token.special);
    this.quiet.style.top = `${(frame.phone ? heading(this.canvas).y : legendLine(frame)) - 15}px`;
  }

  get switchWidth() {
    return this.quiet.hidden ? 0 : this.quiet.offsetWidth + 16;
  }

  /** @param {number} group */
  choose(group) {
    const { canvas } = this;
    canvas.group = group;
    if (canvas.place.strip) return canvas.go({ strip: null });
    if (canvas.place.level === "pass" && !canvas.place.stop) {
      const layer = clampIndex(group - 1, canvas.data.size.layers);
      if (layer !== canvas.place.layer) return canvas.go({ layer });
    }
    return canvas.refresh(true);
  }

  // On a phone: the next group of stages, or the one before; at a stop, the stop.
  /** @param {number} by */
  turn(by) {
    const { canvas } = this;
    if (canvas.place.stop) return canvas.player.step(by);
    const groups = listGroups(canvas.survey());
    return this.choose(clampIndex(canvas.group + by, groups.length));
  }

  // The line under the picture: address, value, formula, from how many numbers, used by how many.
  /** @param {Target | null} pointed @param {string} [more] */
  read(pointed, more = "") {
    const { canvas } = this;
    const { stage, where } = pointed ?? {};
    const shown = stage && where ? { stage, where } : this.readExplained();
    const waits = canvas.player.playing && canvas.player.held ? "the walk waits while you point" : "";
    const hint = more || waits ? `<span>${more || waits}</span>` : "";
    if (shown) return this.write(this.readout, writeReadout(canvas, shown) + hint);
    const idle = matchMedia("(hover: none)").matches ? "Tap any cell: its value and the formula that made it."
      : "Point at a cell: its address, value and formula stand here.";
    return this.write(
      this.readout, `<span class="bvc-idle">${pointed ? tellPart(canvas, pointed) || idle : idle}</span>${hint}`
    );
  }

  readExplained() {
    const [found] = this.canvas.explained.cell ? this.canvas.stages.find(this.canvas.explained.cell) : [];
    return found ?? null;
  }

  /** @param {string} text */
  say(text) {
    this.live.textContent = text;
  }

  showHelp() {
    const rows = KEYS.map(([keys, does]) => `<dt>${keys}</dt><dd>${does}</dd>`).join("");
    this.help.innerHTML = `<dl>${rows}</dl><button type="button" data-does="close">Close</button>`;
    this.help.showModal();
  }

  hideHelp() {
    const { open } = this.help;
    this.help.close();
    if (open) this.canvas.stage.focus({ preventScroll: true });
    return open;
  }
}

/** @param {{ text: string, pair: string }} given */
function pickExample({ text, pair }) {
  return { text, pair };
}
