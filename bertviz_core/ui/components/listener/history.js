// The browser's history. Back and Forward lead to an address at once; the page that it opens comes a moment later. What
// was asked for before may be answered in between: the framework would write that answer's address over the one that was
// gone to, and would go by it from then on. It is refused here: until the page is there, or somebody chooses something,
// Back and Forward alone say where one is. Should address and page differ all the same once nothing moves any more, the
// page is asked for as Back would ask for it; once, and if that does not help, the page has the last word. And where the
// framework has given up its line to the server, which it never takes up again, or could not fetch a part of itself,
// which it never asks for again, the page is loaded anew.

/** @import { Said } from "./types.js" */

import { isRunning, PARTS, readLine } from "../shared/streamlit.js";

const QUIET = 2000; // milliseconds without a run after which nothing is on its way any more
const PATIENCE = 5; // looks, so far apart, until what was asked for again is not answered any more
const RELOADED = "bv-reloaded"; // when a page was loaded anew because its line was lost, in milliseconds
const BETWEEN_RELOADS = 60_000;
const OF_FRAMEWORK = ["embed", "embed_options"]; // what the app neither says nor is told

class Trail {
  /** @type {Said | null} */ said = null; // of what is drawn
  awaited = false; // Back or Forward have not been answered
  refused = false; // an answer was, which the framework goes by
  /** @type {string | null} */ asked = null; // the address that has been asked for again
  looks = 0; // how often its answer was looked for; it may be long on its way
  torn = false; // a part of the framework is missing
  /** @type {number} */ timer;

  constructor() {
    const [push, replace] = [history.pushState, history.replaceState].map((write) => write.bind(history));
    history.pushState = (state, title, url) => this.refuses(url) || push(state, title, url);
    history.replaceState = (state, title, url) => this.refuses(url) || replace(state, title, url);
    addEventListener("popstate", () => this.go(), true);
    addEventListener("vite:preloadError", () => {
      this.torn = true;
      this.wait();
    });
    for (const name of ["click", "change", "keydown"]) {
      addEventListener(name, ({ isTrusted }) => isTrusted && this.choose(), true);
    }
  }

  go() {
    this.awaited = true;
    this.wait();
  }

  // Whoever chooses goes on from here: what they ask for is answered with another address.
  choose() {
    this.awaited = false;
    this.asked = null;
    this.wait();
  }

  /** @param {string | URL | null | undefined} url */
  refuses(url) {
    const late = this.awaited && new URL(url ?? "", location.href).href !== location.href;
    this.refused ||= late;
    return late;
  }

  // said: the address of what was drawn just now, or null where nothing can tell it.
  /** @param {Said | null} said */
  tell(said) {
    this.said = said ?? null;
    this.looks = PATIENCE;
    if (this.isThere()) this.awaited = false;
    this.wait();
  }

  wait() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.compare(), QUIET);
  }

  isThere() {
    if (!this.said) return false;
    const { page, pages, query } = this.said;
    const here = Object.fromEntries(new URLSearchParams(location.search));
    for (const name of OF_FRAMEWORK) delete here[name];
    const names = Object.keys(here);
    const last = location.pathname.split("/").at(-1);
    return (
      (last && pages.includes(last) ? last : "") === page &&
      names.length === Object.keys(query).length && names.every((name) => here[name] === query[name])
    );
  }

  compare() {
    const app = document.querySelector(PARTS.app);
    if (readLine(app) === "lost") return this.reload();
    if (this.torn) return this.mend();
    if (!this.said || isRunning(app) === undefined) return;
    if (isRunning(app) || readLine(app) !== "up") return this.wait();
    const there = this.isThere();
    if (there) this.awaited = false;
    if (there && !this.refused) return;
    if (this.asked === location.href && this.looks++ < PATIENCE) return this.wait();
    this.refused = false;
    if (this.asked === location.href) return there || this.settle(this.said);
    [this.asked, this.looks] = [location.href, 0];
    dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
  }

  reload() {
    const now = Date.now();
    if (now - (Number(sessionStorage.getItem(RELOADED)) || 0) < BETWEEN_RELOADS) return;
    sessionStorage.setItem(RELOADED, now);
    location.reload();
  }

  async mend() {
    const answer = await fetch(location.href, { method: "HEAD", cache: "no-store" }).catch(() => null);
    this.wait();
    if (answer?.ok) this.reload();
  }

  /** @param {Said} said */
  settle({ query }) {
    this.awaited = false;
    const address = new URL(location.href);
    address.search = String(new URLSearchParams(query));
    history.replaceState(history.state, "", address.href);
  }
}

// One for the tab: what it has put in the history's place stays there when this module is loaded again.
export function openTrail() {
  return /** @type {Trail} */ (window.bvTrail ??= new Trail());
}
