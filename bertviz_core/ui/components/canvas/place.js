// Where in the pass one is: what the URL says of it, and the levels.

/** @import { Level, Place } from "./types.js" */

/** @type {(keyof Place)[]} */
export const PLACE = ["level", "layer", "head", "token", "component", "stop", "strip"];
/** @type {Level[]} */
export const LEVELS = ["pass", "layer", "head"];
