// The way back from a number as a line: one lane a token, one stop a button. `data` gives the lanes as [{name, hidden}], hidden being what becomes of the number, the stops as
// [{name, place, value, part, share, lane, color}], part and share of the value being what leads on from there, and the chosen stop.

/** @import { StoryData, StoryLane, StoryStop } from "./types.js" */

import { clampIndex } from "../shared/clamp.js";
import { makeElement, makeSvg } from "../shared/element.js";

const LANE = 88; // pixels from lane to lane
const TOP = 64; // pixels above the first one
const BELOW = 62; // pixels under the last one
const NARROWEST = 70; // pixels from stop to stop
const LEFT = 76; // pixels for the lanes' names

// choose: what is called with the number of a stop that is pressed.
/** @param {HTMLElement} way @param {StoryData} data @param {(stop: number) => void} choose */
export function drawStory(way, data, choose) {
  const focused = way.querySelector(".stop:focus")?.dataset.stop;
  for (const [name, color] of Object.entries(data.colors)) way.parentElement?.style.setProperty(`--${name}`, color);
  way.style.height = `${TOP + (data.lanes.length - 1) * LANE + BELOW}px`;
  way.style.minWidth = `${LEFT + data.stops.length * NARROWEST}px`;
  way.style.setProperty("--wide", `${Math.floor(98 / data.stops.length)}%`);
  const stops = data.stops.map((stop, i) => drawStop(stop, i, data, () => choose(i)));
  way.replaceChildren(...data.lanes.map(drawLane), drawLinks(data.stops), ...data.stops.flatMap((s, i) => drawPart(s, i, data.stops)), ...stops);
  way.onkeydown = (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    stops[clampIndex(Number(/** @type {Element} */ (event.target).dataset.stop) + step, stops.length)].focus();
  };
  if (focused !== undefined) stops[Math.min(Number(focused), stops.length - 1)].focus();
}

/** @param {number} part */
function left(part) {
  return `calc(${LEFT}px + ${part} * (100% - ${LEFT}px))`;
}

/** @param {number} lane */
function height(lane) {
  return TOP + lane * LANE;
}

/** @param {StoryLane} given @param {number} lane */
function drawLane({ name, hidden }, lane) {
  const made = makeElement("div", "lane", makeElement("span", "", name), makeElement("em", "", hidden));
  made.style.top = `${height(lane)}px`;
  return made;
}

/** @param {StoryStop} given @param {number} i @param {StoryData} given2 @param {() => void} choose */
function drawStop({ name, place, value, lane, color }, i, { stops, chosen }, choose) {
  const button = makeElement("button", "stop", makeElement("b", "", `${i + 1} · ${name}`), makeElement("span", "value", value));
  button.append(makeElement("i", ""), makeElement("span", "place", place.replace(/(layer|head|no\.) /g, "$1\u00a0")));
  button.style.left = left((i + 0.5) / stops.length);
  button.style.top = `${height(lane)}px`;
  button.style.setProperty("--kind", color);
  button.classList.toggle("bends", i > 0 && stops[i - 1].lane !== lane);
  button.dataset.stop = String(i);
  button.tabIndex = i === chosen ? 0 : -1;
  if (i === chosen) button.setAttribute("aria-current", "step");
  button.setAttribute("aria-label", `stop ${i + 1}: ${name}, ${place}, ${value}`);
  button.addEventListener("click", choose);
  return button;
}

// What is followed of a sum, between the two stops: under a straight link; beside a bend, where that leaves room.
/** @param {StoryStop} given @param {number} i @param {StoryStop[]} stops */
function drawPart({ part, value, lane }, i, stops) {
  if (!part || i + 1 === stops.length) return [];
  const next = stops[i + 1].lane;
  const made = makeElement("span", "part", makeElement("b", "", part));
  made.title = `${part} of ${value}`;
  if (next !== lane) made.classList.add(next > lane ? "down" : "up");
  made.style.left = left((i + 1) / stops.length);
  made.style.top = `${(height(lane) + height(next)) / 2}px`;
  return [made];
}

/** @param {StoryStop[]} stops */
function drawLinks(stops) {
  const high = height(Math.max(...stops.map(({ lane }) => lane))) + BELOW;
  const svg = makeSvg("svg", {
    viewBox: `0 0 ${stops.length} ${high}`, preserveAspectRatio: "none", "aria-hidden": "true",
  });
  svg.style.height = `${high}px`;
  stops.slice(1).forEach(({ lane, color }, i) => {
    const [from, to, y, end] = [i + 0.5, i + 1.5, height(stops[i].lane), height(lane)];
    const path = makeSvg("path", { d: `M ${from} ${y} C ${from + 0.5} ${y}, ${to - 0.5} ${end}, ${to} ${end}` });
    path.style.stroke = color;
    path.style.strokeWidth = `${2 + 10 * stops[i].share}px`;
    svg.append(path);
  });
  return svg;
}
