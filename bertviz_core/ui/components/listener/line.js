// The line to the server: while it is down, one sentence over the page says so, and that nothing is lost. The framework
// has a window of its own for that, which speaks to whoever started the server, and covers the page: it is closed.

import { findInside, makeElement } from "../shared/element.js";
import { PARTS, readLine } from "../shared/streamlit.js";

const AFTER = 1500; // milliseconds: a line that is up again sooner is not spoken of
const TOLD = "The server does not answer. What is on screen stays, and can be used again once the server is back.";
const FOLD = `${PARTS.expander} summary`;
const CLOSE = `${PARTS.dialog} button`; // its first one

class Line {
  /** @type {ReturnType<typeof setTimeout> | undefined} */ timer;
  /** @type {HTMLElement | null} */ told = null;

  constructor() {
    this.app = findInside(document, PARTS.app);
    const changed = new MutationObserver(() => this.look());
    changed.observe(this.app, { attributes: true, attributeFilter: ["data-test-connection-state"] });
    changed.observe(document.body, { childList: true }); // where windows open
    document.addEventListener("click", (event) => this.press(event), true);
  }

  // A fold opens in the browser, and its page would never hear of it.
  /** @param {MouseEvent} event */
  press(event) {
    const fold = /** @type {Element | null} */ (event.target)?.closest?.(FOLD);
    if (!fold || readLine(this.app) === "up") return;
    event.preventDefault();
    event.stopPropagation();
  }

  look() {
    if (readLine(this.app) === "up") return this.end();
    /** @type {HTMLElement | null} */ (document.querySelector(CLOSE))?.click();
    this.timer ??= setTimeout(() => this.tell(), AFTER);
  }

  tell() {
    this.told = makeElement("div", "bv-gone", TOLD);
    this.told.role = "alert";
    document.body.append(this.told);
  }

  end() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.told?.remove();
    this.told = null;
  }
}

// One for the tab, also when this module is loaded again.
export function watchLine() {
  window.bvLine ??= new Line();
}
