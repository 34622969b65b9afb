// What the modules know of the page that Streamlit makes: where its parts are found, and in which state it is.

import SELECTORS from "./selectors.json" with { type: "json" };

// CSS selectors by the names that selectors.json gives, each with its reason there.
export const PARTS = Object.fromEntries(Object.entries(SELECTORS).map(([name, part]) => [name, write(part)]));

/** @param {{ testid?: string, class?: string, selector?: string }} part */
function write(part) {
  if (part.testid) return `[data-testid="${part.testid}"]`;
  return part.class ? `.${part.class}` : part.selector ?? "";
}

// Whether a script runs, whose answer is still on its way; undefined where the page does not say.
/** @param {Element | null} app */
export function isRunning(app) {
  const state = app?.dataset.testScriptState;
  return state === undefined ? undefined : state === "running";
}

// How the line to the server stands: "up", "down", or "lost" for ever.
/** @param {Element | null} app */
export function readLine(app) {
  const state = app?.dataset.testConnectionState;
  return state === "CONNECTED" ? "up" : state === "DISCONNECTED_FOREVER" ? "lost" : "down";
}
