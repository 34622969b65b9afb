// The way back from a number as a line.

import { drawStory } from "./line.js";

export default function ({ data, parentElement, setTriggerValue }) {
  drawStory(parentElement.querySelector(".way"), data, (stop) => setTriggerValue("stop", stop));
}
