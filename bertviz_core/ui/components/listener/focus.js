// Where the keyboard goes on: in the drawer once it is open, after a step with the next, at the end where it began.

/** @import { Follow } from "./types.js" */

import { isSameCell } from "../shared/address.js";
import { findFocus } from "../shared/places.js";
import { DRAWER, findTitle, nameAgain, TITLE } from "./page.js";

export class Focus {
  /** @type {string | null} */ opening = null; // the cell whose drawer is waited for
  /** @type {{ pressed: Element | null } | null} */ closing = null;
  /** @type {{ element: Element, follow: Follow } | null} */ held = null;
  /** @type {{ element: Element, again?: string, cell: string } | null} */ opener = null; // what was clicked on the page

  // Whoever goes on by hand is not led elsewhere.
  release() {
    this.opening = this.closing = null;
  }

  /** @param {string} cell @param {Element} opener */
  open(cell, opener) {
    if (!opener.closest(DRAWER)) this.opener = { element: opener, again: nameAgain(opener), cell };
    this.opening = cell;
  }

  /** @param {Element | null} pressed */
  close(pressed) {
    this.closing = { pressed };
  }

  // said: what was pressed, which may be gone once the server has answered; name: what it says, of `given`.
  /** @param {Element} said @param {string} name @param {string} given */
  go(said, name, given) {
    const again = () => document.querySelector(`[data-${name}="${CSS.escape(given)}"]`);
    this.held = { element: said, follow: FOLLOWED[name] ?? again };
  }

  /** @param {{ cell: string | null, own: boolean }} data @param {boolean} running */
  settle({ cell, own }, running) {
    const focus = findFocus();
    const lost = !focus || focus === document.body;
    const title = document.querySelector(TITLE);
    if (this.opening && title && isSameCell(this.opening, cell)) {
      this.opening = null;
      this.hold(title, findTitle);
    } else if (this.closing && (!cell || own) && (lost || focus === this.closing.pressed || focus === title)) {
      this.closing = this.held = null;
      this.goBack();
    } else if (this.held && !this.closing && !this.held.element.isConnected && lost) {
      const next = this.held.follow(running);
      if (next) this.hold(next, this.held.follow);
    }
  }

  /** @param {Element} element @param {Follow} follow */
  hold(element, follow) {
    this.held = { element, follow };
    element.focus({ preventScroll: true });
  }

  goBack() {
    const { element, again } = this.opener ?? {};
    const there = element?.isConnected ? element : again ? document.querySelector(again) : null;
    there?.focus({ preventScroll: true });
  }
}

// After a step on or back: the operand that matters most. Where there is none, once all has been drawn: the title.
/** @type {Record<string, Follow>} */
const FOLLOWED = {
  step: (running) => document.querySelector(`${DRAWER} td button[data-step]`) ?? (running ? null : findTitle()),
  into: (running) => FOLLOWED.step(running),
  story: (running) => FOLLOWED.step(running),
  keep: (running) => FOLLOWED.step(running),
};
