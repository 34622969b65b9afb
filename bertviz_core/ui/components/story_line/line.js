// The way back from a number as a line: one lane a token, one stop a button. `data` gives the lanes as [{name, hidden}], hidden being what becomes of the number, the stops as
// [{name, place, value, part, share, lane, color}], part and share of the value being what leads on from there, and the chosen stop.
// On a phone, and where stops are many, the way runs downwards: a row a stop, the lanes beside each other (index.css places
// them by --lane and --row).

/** @import { StoryData, StoryLane, StoryStop } from "./types.js" */

import { clampIndex } from "../shared/clamp.js";
import { makeElement, makeSvg } from "../shared/element.js";

const LANE = 88; // pixels from lane to lane
const TOP = 64; // pixels above the first one
const BELOW = 62; // pixels under the last one
const NARROWEST = 70; // pixels from stop to stop
const LEFT = 76; // pixels for the lanes' names
const MANY = 10; // stops whose names have room beside each other
const ROW = 46, APART = 22; // of a way downwards, pixels from stop to stop and from lane to lane

// choose: what is called with the number of a stop that is pressed.
/** @param {HTMLElement} way @param {StoryData} data @param {(stop: number) => void} choose */
export function drawStory(way, data, choose) {
  const focused = way.querySelector(".stop:focus")?.dataset.stop;
  for (const [name, color] of Object.entries(data.colors)) way.parentElement?.style.setProperty(`--${name}`, color);
  way.parentElement?.classList.toggle("long", data.stops.length > MANY);
  way.style.height = `${TOP + (data.lanes.length - 1) * LANE + BELOW}px`;
  way.style.minWidth = `${LEFT + data.stops.length * NARROWEST}px`;
  way.style.setProperty("--wide", `${Math.floor(98 / data.stops.length)}%`);
  for (const [name, { length }] of Object.entries({ lanes: data.lanes, stops: data.stops })) way.style.setProperty(`--${name}`, String(length));
  const stops = data.stops.map((stop, i) => drawStop(stop, i, data, () => choose(i)));
  way.replaceChildren(...data.lanes.map(drawLane), drawLinks(data.stops), drawLinksDown(data.stops), ...data.stops.flatMap((s, i) => drawPart(s, i, data.stops)), ...stops);
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
  placeDown(made, lane);
  return made;
}

/** @param {HTMLElement} made @param {number} lane @param {number} [row] */
function placeDown(made, lane, row = 0) {
  made.style.setProperty("--lane", String(lane));
  made.style.setProperty("--row", String(row));
}

/** @param {StoryStop} given @param {number} i @param {StoryData} given2 @param {() => void} choose */
function drawStop({ name, place, value, lane, color }, i, { stops, chosen }, choose) {
  const button = makeElement("button", "stop", makeElement("b", "", `${i + 1} · ${name}`), makeElement("span", "value", value));
  button.append(makeElement("i", ""), makeElement("span", "place", place.replace(/(layer|head|no\.) /g, "$1\u00a0")));
  button.style.left = left((i + 0.5) / stops.length);
  button.style.top = `${height(lane)}px`;
  placeDown(button, lane, i);
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
  placeDown(made, lane, i + 1);
  return [made];
}

/** @param {StoryStop[]} stops */
function drawLinks(stops) {
  const high = height(Math.max(...stops.map(({ lane }) => lane))) + BELOW;
  const svg = makeSvg("svg", {
    viewBox: `0 0 ${stops.length} ${high}`, preserveAspectRatio: "none", "aria-hidden": "true",
  });
  svg.style.height = `${high}px`;
  svg.append(...stops.slice(1).map((stop, i) => {
    const [from, to, y, end] = [i + 0.5, i + 1.5, height(stops[i].lane), height(stop.lane)];
    return drawLink(`M ${from} ${y} C ${from + 0.5} ${y}, ${to - 0.5} ${end}, ${to} ${end}`, stops[i], stop);
  }));
  return svg;
}

/** @param {StoryStop[]} stops */
function drawLinksDown(stops) {
  const svg = makeSvg("svg", { class: "down", "aria-hidden": "true" });
  svg.append(...stops.slice(1).map((stop, i) => {
    const [x, end, from, to] = [APART * stops[i].lane, APART * stop.lane, i * ROW, (i + 1) * ROW];
    return drawLink(`M ${x} ${from} C ${x} ${from + ROW / 2}, ${end} ${to - ROW / 2}, ${end} ${to}`, stops[i], stop);
  }));
  return svg;
}

/** @param {string} d @param {StoryStop} from @param {StoryStop} to */
function drawLink(d, { share }, { color }) {
  const path = makeSvg("path", { d });
  path.style.stroke = color;
  path.style.strokeWidth = `${2 + 10 * share}px`;
  return path;
}
