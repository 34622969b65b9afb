// The answers of lessons, which this browser keeps from one visit to the next.

/** @import { LessonData } from "./types.js" */

const NAME = "bertviz-lessons";
const visits = new Set(); // of which we know that they have what was kept

// give: tells the server what was kept, once a visit. What it says after that is kept instead.
/** @param {LessonData} data @param {(text: string) => void} give */
export function keepAnswers({ visit, answers }, give) {
  const kept = read();
  if (!visits.has(visit)) {
    visits.add(visit);
    if (kept && kept !== answers) return give(kept);
  }
  if (kept !== answers) write(answers);
}

function read() {
  try {
    return localStorage.getItem(NAME) ?? "";
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
