// The way back from a number as a line.

/** @import { Call } from "../shared/types.js" */
/** @import { StoryData } from "./types.js" */

import { findInside } from "../shared/element.js";
import { drawStory } from "./line.js";

/** @param {Call<StoryData>} given */
export default function ({ data, parentElement, setTriggerValue }) {
  drawStory(findInside(parentElement, ".way"), data, (stop) => setTriggerValue("stop", stop));
}
