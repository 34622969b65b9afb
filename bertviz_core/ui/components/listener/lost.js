// What a session of the server had and the next one has not, where the server was started again, or another process took
// the page over: a sentence that was on its way, which is said again, and a training, of which the page then says so.

/** @import { Kept, ListenerData } from "./types.js" */

import { TYPED } from "./page.js";

const FRESH_MS = 300_000; // that a sentence on its way is remembered: who looks again later has forgotten it
const PATIENCE_MS = 1500, TRIES = 6; // what is said while another run is asked for may be passed over

class Lost {
  /** @type {Kept} */ kept = { session: "", trained: false, told: false };
  /** @type {Record<string, string>} */ query = {};
  // A sentence that was not seen in the address yet; again: whether it has to be said once more.
  /** @type {{ name: string, text: string, before: string, at: number, again: boolean } | null} */ typed = null;
  gone = false; // a training is, and the page does not say so
  tries = 0;
  /** @type {number} */ timer;
  /** @type {(name: string, value: unknown) => void} */ send;

  constructor() {
    addEventListener("keydown", (event) => event.isTrusted && event.key === "Enter" && this.note(event.target), true);
    addEventListener("focusout", ({ target }) => this.note(target), true);
    addEventListener("popstate", () => (this.typed = null), true);
  }

  // What a field for a sentence says is on its way to the server as the field is left.
  /** @param {EventTarget | null} field */
  note(field) {
    const input = /** @type {HTMLInputElement | null} */ (field);
    if (!input?.matches?.(TYPED)) return;
    const name = input.closest('[class*="st-key-pair-field-"]') ? "pair" : "text";
    const before = this.query[name] ?? "";
    if (input.value !== before) this.typed = { name, text: input.value, before, at: Date.now(), again: false };
  }

  // What was drawn just now; send: says something to the session that drew it.
  /** @param {ListenerData} data @param {(name: string, value: unknown) => void} send */
  tell({ kept, address }, send) {
    const { session, trained } = this.kept;
    const other = session !== "" && session !== kept.session;
    [this.kept, this.query] = [kept, address?.query ?? {}];
    this.send = send;
    this.gone = (this.gone || (other && trained)) && !kept.trained && !kept.told;
    if (this.typed && (this.query[this.typed.name] ?? "") !== this.typed.before) this.typed = null;
    if (!other) return;
    // Once: were it what ends a session, each next one would be told it.
    if (this.typed) this.typed = this.typed.again || Date.now() - this.typed.at > FRESH_MS ? null : { ...this.typed, again: true };
    this.tries = TRIES;
    this.insist();
  }

  // Say what the page does not show yet; the sentence first, since with another one the page is run anew.
  insist() {
    clearTimeout(this.timer);
    if (!this.tries--) return;
    if (this.typed?.again) this.send("choose", `${this.typed.name}=${this.typed.text}`);
    else if (this.gone) this.send("lost", true);
    else return;
    this.timer = setTimeout(() => this.insist(), PATIENCE_MS);
  }
}

// One for the tab, as the history has one.
export function openLost() {
  return /** @type {Lost} */ (window.bvLost ??= new Lost());
}
