// The way back from a number as a line: one lane a token, one stop a button. `data` gives the lanes as [{name, hidden}], hidden being what becomes of the number, the stops as
// [{name, place, value, part, share, lane, color}], part and share of the value being what leads on from there, and the chosen stop.
// Where stops are many they stand in bands, one below the other, each with the lanes that it needs. On a phone the way runs
// downwards: a row a stop, the lanes beside each other (index.css places them by --lane and --row).

/** @import { StoryData, StoryLane, StoryStop } from "./types.js" */

import { clampIndex } from "../shared/clamp.js";
import { makeElement, makeSvg } from "../shared/element.js";

const LANE = 88; // pixels from lane to lane
const TOP = 64; // pixels above the first one
const BELOW = 62; // pixels under the last one
const NARROWEST = 70; // pixels from stop to stop
const LEFT = 76; // pixels for the lanes' names
const MANY = 10; // stops whose names have room beside each other: in a band
const ROW = 46, APART = 22; // of a way downwards, pixels from stop to stop and from lane to lane

// choose: what is called with the number of a stop that is pressed.
/** @param {HTMLElement} way @param {StoryData} data @param {(stop: number) => void} choose */
export function drawStory(way, data, choose) {
  const focused = way.querySelector(".stop:focus")?.dataset.stop;
  for (const [name, color] of Object.entries(data.colors)) way.parentElement?.style.setProperty(`--${name}`, color);
  for (const [name, { length }] of Object.entries({ lanes: data.lanes, stops: data.stops })) way.style.setProperty(`--${name}`, String(length));
  const stops = data.stops.map((stop, i) => drawStop(stop, i, data, () => choose(i)));
  const bands = splitStops(data.stops);
  way.style.minWidth = `${LEFT + bands[0].size * NARROWEST}px`;
  way.style.setProperty("--wide", `${Math.floor(98 / bands[0].size)}%`);
  way.replaceChildren(...data.lanes.map((lane, i) => drawLane(lane, i, "lane down")), drawLinksDown(data.stops), ...bands.map((band) => drawBand(band, data, stops)));
  way.onkeydown = (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    stops[clampIndex(Number(/** @type {Element} */ (event.target).dataset.stop) + step, stops.length)].focus();
  };
  if (focused !== undefined) stops[Math.min(Number(focused), stops.length - 1)].focus();
}

// first, end: the stops of a band; size: how many have room in each; lanes: those that they are on.
/** @typedef {{ first: number, end: number, size: number, lanes: number[] }} Band */

/** @param {StoryStop[]} stops @returns {Band[]} */
function splitStops(stops) {
  const count = Math.max(1, Math.ceil(stops.length / MANY));
  const size = Math.max(1, Math.ceil(stops.length / count));
  return Array.from({ length: count }, (_, i) => {
    const [first, end] = [i * size, Math.min(stops.length, (i + 1) * size)];
    const lanes = [...new Set(stops.slice(first, end).map(({ lane }) => lane))].sort((one, other) => one - other);
    return { first, end, size, lanes };
  });
}

/** @param {Band} band @param {StoryData} data @param {HTMLElement[]} buttons */
function drawBand(band, data, buttons) {
  const shown = buttons.slice(band.first, band.end);
  const made = makeElement("div", "band", ...band.lanes.map((lane) => drawLane(data.lanes[lane], lane, "lane")), drawLinks(band, data.stops));
  for (const row of band.lanes.keys()) /** @type {HTMLElement} */ (made.children[row]).style.top = `${height(row)}px`;
  shown.forEach((button, i) => {
    button.style.left = left((i + 0.5) / band.size);
    button.style.top = `${findHeight(band, data.stops[band.first + i])}px`;
  });
  made.append(...shown.flatMap((_, i) => drawPart(band.first + i, band, data.stops)), ...shown);
  made.style.height = `${height(band.lanes.length - 1) + BELOW}px`;
  return made;
}

/** @param {number} part */
function left(part) {
  return `calc(${LEFT}px + ${part} * (100% - ${LEFT}px))`;
}

/** @param {number} row */
function height(row) {
  return TOP + row * LANE;
}

/** @param {Band} band @param {StoryStop} stop */
function findHeight({ lanes }, { lane }) {
  return height(lanes.indexOf(lane));
}

/** @param {StoryLane} given @param {number} lane @param {string} looks */
function drawLane({ name, hidden }, lane, looks) {
  const made = makeElement("div", looks, makeElement("span", "", name), makeElement("em", "", hidden));
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

// What is followed of a sum, between the two stops: under a straight link; beside a bend, where that leaves room; and under
// the link's beginning, where the next stop is in another band.
/** @param {number} i @param {Band} band @param {StoryStop[]} stops */
function drawPart(i, band, stops) {
  const [{ part, value, lane }, next] = [stops[i], stops[i + 1]];
  if (!part || !next) return [];
  const made = makeElement("span", "part", makeElement("b", "", part));
  made.title = `${part} of ${value}`;
  const inside = i + 1 < band.end;
  if (!inside) made.classList.add("on");
  else if (next.lane !== lane) made.classList.add(next.lane > lane ? "down" : "up");
  made.style.left = left((i + 1 - band.first) / band.size);
  made.style.top = `${(findHeight(band, stops[i]) + findHeight(band, inside ? next : stops[i])) / 2}px`;
  placeDown(made, lane, i + 1);
  return [made];
}

/** @param {Band} band @param {StoryStop[]} stops */
function drawLinks(band, stops) {
  const high = height(band.lanes.length - 1) + BELOW;
  const svg = makeSvg("svg", { viewBox: `0 0 ${band.size} ${high}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  svg.style.height = `${high}px`;
  for (let i = Math.max(0, band.first - 1); i < Math.min(band.end, stops.length - 1); i += 1) {
    const own = [stops[i], stops[i + 1]].map((stop, j) => (i + j >= band.first && i + j < band.end ? stop : null));
    const [y, end] = own.map((stop) => findHeight(band, stop ?? /** @type {StoryStop} */ (own.find(Boolean))));
    const [from, to] = [own[0] ? i - band.first + 0.5 : 0, own[1] ? i - band.first + 1.5 : i - band.first + 1];
    svg.append(drawLink(`M ${from} ${y} C ${(from + to) / 2} ${y}, ${(from + to) / 2} ${end}, ${to} ${end}`, stops[i], stops[i + 1]));
  }
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
