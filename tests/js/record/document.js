// A page of such elements, before any component is on it.

import { openPage } from "../page.js";
import { Element } from "./elements.js";
import { openPen } from "./pen.js";

// The document itself: where all events arrive last.
class Page extends Element {
  focused = null;
  boxes = {};
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

  // boxes: where elements of a tag stand when they are made.
  createElement(tag) {
    const made = new Element(tag);
    if (this.boxes[tag]) made.box = this.boxes[tag];
    made.getContext = () => (made.pen ??= openPen());
    return made;
  }

  createElementNS(_, tag) {
    return this.createElement(tag);
  }
}

// Observers say at once how large something is, and again when `resized` is called; of changes they are told by `changed`.
function makeObservers() {
  const [sizes, changes] = [new Set(), new Set()];
  class ResizeObserver {
    constructor(act) { this.act = act; }
    observe() { sizes.add(this); this.act(); }
    disconnect() { sizes.delete(this); }
  }
  class MutationObserver {
    constructor(act) { this.act = act; }
    observe() { changes.add(this); }
    disconnect() { changes.delete(this); }
  }
  const call = (observers) => () => observers.forEach(({ act }) => act());
  return { observers: { ResizeObserver, MutationObserver }, resized: call(sizes), changed: call(changes) };
}

function openStorage() {
  const held = {};
  return { held, getItem: (name) => held[name] ?? null, setItem: (name, text) => { held[name] = String(text); }, removeItem: (name) => { delete held[name]; } };
}

// more: whatever else the browser knows. Gives what a test drives the page with.
export function openDocument(more = {}) {
  const document = new Page();
  const { observers, resized, changed } = makeObservers();
  const [localStorage, sessionStorage, copied] = [openStorage(), openStorage(), []];
  const writeText = (text) => {
    copied.push(text);
    return new Promise(() => {});
  };
  class DOMRect {
    constructor(x, y, width, height) { Object.assign(this, { x, y, width, height, left: x, top: y, right: x + width, bottom: y + height }); }
  }
  const { window } = openPage({
    document, Element, HTMLInputElement: Element, DOMRect, ...observers, localStorage, sessionStorage, getComputedStyle: () => ({ overflowY: "visible", paddingLeft: "20px", paddingRight: "30px" }), navigator: { clipboard: { writeText } },
    OffscreenCanvas: class { getContext() { return (this.pen ??= openPen()); } },
    ImageData: class { constructor(wide, high) { this.data = new Uint8ClampedArray(4 * wide * high); } },
    ...more,
  });
  return { document, window, resized, changed, localStorage, copied };
}
