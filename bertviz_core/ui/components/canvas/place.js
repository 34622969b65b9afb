// Where in the pass one is: what the URL says of it, the levels, and the stops of the walk.

/** @import { Level, Place } from "./types.js" */

/** @type {(keyof Place)[]} */
export const PLACE = ["level", "layer", "head", "token", "component", "stop", "strip"];
/** @type {Level[]} */
export const LEVELS = ["pass", "layer", "head"];
// The stops of the walk, in the order in which the server tells them (showing/canvas_stops.py).
export const STOP = {
  cut: 1, lookUp: 2, ask: 3, compare: 4, divide: 5, collect: 6, join: 7, add: 8, neurons: 9, word: 10,
};
