// What the browser does for a lesson: it keeps what was answered, rings what is asked, and leads the keyboard.

/** @import { Call } from "../shared/types.js" */
/** @import { LessonData } from "./types.js" */

import { Guide } from "./guide.js";
import { keepAnswers } from "./kept.js";

/** @param {Call<LessonData, Element & { guide?: Guide }>} given */
export default function ({ data, parentElement, setTriggerValue }) {
  keepAnswers(data, (text) => setTriggerValue("kept", text));
  const guide = (parentElement.guide ??= new Guide(parentElement));
  const turn = guide.show(data);
  return () => guide.close(turn);
}
