// The answers of lessons, which this browser keeps from one visit to the next.

/** @import { LessonData } from "./types.js" */

const NAME = "bertviz-lessons";
const FORM = /^[\w-]*$/; // of a text of ours
/** @type {Map<string, { kept: string, forgotten: number }>} */ const seen = new Map(); // by visit: what was kept at last

// give: tells the server what was kept that this visit does not know: by a visit before it, or in another tab, where all
// may have been forgotten too. What the server says after that is kept instead, and at once what is forgotten here.
/** @param {LessonData} data @param {(text: string) => void} give */
export function keepAnswers({ visit, answers, forgotten, longest }, give) {
  const kept = read(longest), before = seen.get(visit) ?? { kept: "", forgotten };
  const unknown = kept !== before.kept && kept !== answers && forgotten === before.forgotten;
  if (!unknown && kept !== answers) write(answers);
  seen.set(visit, { kept: read(longest), forgotten });
  if (unknown) give(kept);
}

// What is no text of ours, or too long for the server to hear it, is nothing.
/** @param {number} longest */
function read(longest) {
  try {
    const kept = localStorage.getItem(NAME) ?? "";
    return kept.length <= longest && FORM.test(kept) ? kept : "";
  } catch {
    return ""; // where nothing may be kept
  }
}

/** @param {string} answers */
function write(answers) {
  try {
    if (answers) localStorage.setItem(NAME, answers);
    else localStorage.removeItem(NAME);
  } catch {
    // Where nothing may be kept, or no more, answers last as long as the visit.
  }
}
