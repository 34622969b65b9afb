// A page of such elements, before any component is on it.

import { clock, openPage } from "../page.js";
import { Element } from "./elements.js";
import { openPen } from "./pen.js";

// The document itself: where all events arrive last.
class Page extends Element {
  focused = null;
  fonts = { addEventListener: () => {}, ready: new Promise(() => {}) };
  styleSheets = [];

  constructor() {
    super("document");
    this.documentElement = this.appendChild(new Element("html"));
    this.scrollingElement = this.documentElement;
    this.body = this.documentElement.appendChild(new Element("body"));
  }

  get activeElement() {
    return this.focused?.isConnected ? this.focused : this.body;
  }

  createElement(tag) {
    const made = new Element(tag);
    made.getContext = () => (made.pen ??= openPen());
    return made;
  }

  createElementNS(_, tag) {
    return this.createElement(tag);
  }
}

// Observers say at once how large something is; of changes they are told by whoever calls `changed`.
function makeObservers() {
  const watching = new Set();
  class ResizeObserver {
    constructor(act) { this.observe = () => act(); }
    disconnect() {}
  }
  class MutationObserver {
    constructor(act) { this.act = act; }
    observe() { watching.add(this); }
    disconnect() { watching.delete(this); }
  }
  return { observers: { ResizeObserver, MutationObserver }, changed: () => watching.forEach(({ act }) => act()) };
}

function openStorage() {
  const held = {};
  return { held, getItem: (name) => held[name] ?? null, setItem: (name, text) => { held[name] = String(text); }, removeItem: (name) => { delete held[name]; } };
}

// more: whatever else the browser knows. Gives what a test drives the page with.
export function openDocument(more = {}) {
  const document = new Page();
  const { observers, changed } = makeObservers();
  const [localStorage, sessionStorage] = [openStorage(), openStorage()];
  class DOMRect {
    constructor(x, y, width, height) { Object.assign(this, { x, y, width, height, left: x, top: y, right: x + width, bottom: y + height }); }
  }
  const { window } = openPage({
    document, Element, HTMLInputElement: Element, DOMRect, ...observers, localStorage, sessionStorage,
    OffscreenCanvas: class { getContext() { return (this.pen ??= openPen()); } },
    ImageData: class { constructor(wide, high) { this.data = new Uint8ClampedArray(4 * wide * high); } },
    ...more,
  });
  return { document, window, clock, changed, localStorage };
}
