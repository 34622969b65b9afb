// What the walk says: its sentence, and the track with its stops, as HTML.

/** @import { Canvas } from "./canvas.js" */
/** @import { Player } from "./play.js" */
/** @import { Stop } from "./types.js" */

import { writeAmount } from "../shared/numbers.js";
import { escapeHtml, ICONS, writeButton } from "./html.js";
import { countMinutes } from "./reading.js";

export const SIDE = 4.6; // hundredths of the track beside its first and last stop

/** @param {Stop} stop */
export function readAloud({ sentence, plain }) {
  return [sentence.map(([text]) => text).join(""), ...plain.map((each) => each.join(": "))].join(" ");
}

/** @param {Canvas} canvas */
export function writeIdle(canvas) {
  const [count, minutes] = [canvas.data.stops.length, countMinutes(canvas)];
  const words = `${count} stops from the characters to the word, in about ${writeAmount(minutes, "minute")}. Space plays, ← → change the stop.`;
  return `<span class="bvc-idle">${words}</span>`;
}

/** @param {Canvas} canvas @param {Stop} told @param {number} stop @param {number} count */
export function writeSentence(canvas, { sentence, plain }, stop, count) {
  /** @param {Stop["sentence"][number]} piece */
  const say = ([text, part]) => {
    if (!part) return escapeHtml(text);
    return `<b data-part="${escapeHtml(part)}" class="bvc-kind-${findKind(canvas, part)}">${escapeHtml(text)}</b>`;
  };
  const terms = plain.map(([term, meaning]) => `<p class="bvc-plain"><b>${escapeHtml(term)}</b> ${escapeHtml(meaning)}</p>`);
  const on = `Go on: lesson 1 · ${escapeHtml(canvas.data.lesson)} ›`;
  const more = stop < count ? "" : writeButton("lesson", on, 'class="bvc-main"');
  return `<span class="bvc-number">${stop}/${count}</span><div><p>${sentence.map(say).join("")}</p>${terms.join("")}</div>${more}`;
}

/** @param {Canvas} canvas @param {string} part */
function findKind({ stages, place }, part) {
  if (part.startsWith("token") || part === "words") return "prediction";
  return (stages.get(part) ?? stages.get(`head.${part}`) ?? stages.get(`${part}.${place.layer}`))?.kind ?? "prediction";
}

/** @param {Player} given */
export function writeTrack({ playing, stop, stops, speed }) {
  const each = stops.map(({ name, kind }, i) => {
    const state = stop === i + 1 ? 'aria-current="step"' : i + 1 < stop ? 'class="bvc-done"' : "";
    const left = SIDE + ((100 - 2 * SIDE) * i) / (stops.length - 1);
    return writeButton(
      `stop:${i + 1}`, `<i></i><span>${escapeHtml(name)}</span>`,
      `${state} tabindex="${i + 1 === (stop || 1) ? 0 : -1}" style="left:${left}%;--kind:var(--bvc-${kind})"`
    );
  });
  const name = playing ? "Pause" : "Play";
  const line = '<div class="bvc-rule"></div><div class="bvc-fill"></div>';
  return writeButton("play", playing ? ICONS.pause : ICONS.play, `class="bvc-play" aria-label="${name}"`) +
    `<div class="bvc-track" role="group" aria-label="Stops" data-roving>${line}${each.join("")}</div>` +
    writeButton("speed", `${speed === 0.5 ? "½" : speed}×`, 'class="bvc-speed" aria-label="Speed"');
}
