// A page and a clock in place of the browser's, of which the modules know no difference as far as they use it. Texts are
// half a font's size wide a letter. What a selector finds is made when it is first asked for.

class Style {
  setProperty(name, value) {
    this[name] = value;
  }

  getPropertyValue(name) {
    return this[name] ?? "";
  }
}

class FakeElement {
  constructor(tag = "div") {
    Object.assign(this, { tagName: tag, children: [], attributes: {}, dataset: {}, listeners: {}, found: {}, written: undefined });
    Object.assign(this, { textContent: "", innerHTML: "", hidden: false, disabled: false, open: false, parent: null });
    Object.assign(this, { clientWidth: 0, clientHeight: 0, offsetWidth: 0, offsetHeight: 0, scrollTop: 0, isConnected: true });
    this.style = new Style();
    this.box = { left: 0, top: 0, width: 0, height: 0 };
    this.classes = new Set();
    this.classList = {
      toggle: (name, on) => (on ? this.classes.add(name) : this.classes.delete(name)),
      add: (...names) => names.forEach((name) => this.classes.add(name)),
      contains: (name) => this.classes.has(name),
    };
  }

  get className() {
    return [...this.classes].join(" ");
  }

  set className(names) {
    this.classes = new Set(names.split(" ").filter(Boolean));
  }

  get firstChild() {
    return this.children[0] ?? null;
  }

  get firstElementChild() {
    return (this.children[0] ??= new FakeElement());
  }

  get nextSibling() {
    const all = this.parent?.children ?? [];
    return all[all.indexOf(this) + 1] ?? null;
  }

  get parentElement() {
    return (this.parent ??= new FakeElement());
  }

  append(...parts) {
    for (const part of parts) this.insertBefore(part, null);
  }

  appendChild(part) {
    return this.insertBefore(part, null);
  }

  replaceChildren(...parts) {
    this.children = [];
    this.append(...parts);
  }

  prepend(part) {
    this.insertBefore(part, this.firstChild);
  }

  insertBefore(part, next) {
    if (part instanceof FakeElement) {
      part.remove();
      part.parent = this;
    }
    this.children.splice(next ? this.children.indexOf(next) : this.children.length, 0, part);
    return part;
  }

  remove() {
    const all = this.parent?.children ?? [];
    if (all.includes(this)) all.splice(all.indexOf(this), 1);
    this.parent = null;
  }

  setAttribute(name, value) {
    this.attributes[name] = String(value);
  }

  getAttribute(name) {
    return this.attributes[name] ?? null;
  }

  removeAttribute(name) {
    delete this.attributes[name];
  }

  toggleAttribute(name, on) {
    if (on) this.setAttribute(name, "");
    else this.removeAttribute(name);
  }

  querySelector(selector) {
    if (!(selector in this.found)) this.found[selector] = selector.includes("[") || selector.includes(":") ? null : new FakeElement();
    return this.found[selector];
  }

  querySelectorAll(selector) {
    return this.found[selector] ? [this.found[selector]].flat() : [];
  }

  closest(selector) {
    return this.found[selector] ?? null;
  }

  matches(selector) {
    return Boolean(this.found[`is ${selector}`]);
  }

  contains(other) {
    return other === this || this.children.some((each) => each instanceof FakeElement && each.contains(other));
  }

  getBoundingClientRect() {
    const { left, top, width, height } = this.box;
    return { left, top, width, height, right: left + width, bottom: top + height };
  }

  addEventListener(name, act, { signal } = {}) {
    const heard = (this.listeners[name] ??= []);
    heard.push(act);
    signal?.addEventListener("abort", () => heard.splice(heard.indexOf(act), 1));
  }

  // How often it is listened to.
  countListeners() {
    return Object.values(this.listeners).reduce((all, each) => all + each.length, 0);
  }

  dispatchEvent(event) {
    for (const act of this.listeners[event.type] ?? []) act(event);
  }

  // What a visitor does. Gives the event, which says whether it was prevented.
  send(type, more = {}) {
    const event = {
      type, target: this, defaultPrevented: false, preventDefault: () => (event.defaultPrevented = true),
      stopPropagation: () => (event.stopped = true), ...more,
    };
    this.dispatchEvent(event);
    return event;
  }

  focus() {
    document.activeElement = this;
    this.send("focus");
  }

  blur() {
    document.activeElement = document.body;
  }

  click() {
    this.send("click");
  }

  checkVisibility() {
    return !this.hidden;
  }

  scrollBy(by) {
    (this.scrolled ??= []).push(by);
  }

  showModal() {
    this.open = true;
  }

  close() {
    this.open = false;
  }

  getContext() {
    return (this.pen ??= new Pen());
  }
}

// Keeps what is filled: [x, y, width, height, colour, opacity].
class Pen {
  constructor() {
    Object.assign(this, { font: "", filled: [], globalAlpha: 1 });
    for (const name of ["setTransform", "save", "restore", "beginPath", "rect", "clip", "roundRect", "fill", "drawImage",
      "strokeRect"]) this[name] = () => {};
  }

  measureText(text) {
    return { width: (parseFloat(/[\d.]+px/.exec(this.font)[0]) / 2) * String(text).length };
  }

  clearRect() {
    this.filled = [];
  }

  fillRect(...box) {
    this.filled.push([...box, this.fillStyle, this.globalAlpha]);
  }
}

export const clock = {
  now: 0, waiting: [],

  // Time goes by, in steps of a picture of 20 milliseconds.
  pass(milliseconds) {
    const end = this.now + milliseconds;
    while (this.now < end) {
      this.now = Math.min(end, this.now + 20);
      const due = this.waiting.filter(({ at }) => at <= this.now);
      this.waiting = this.waiting.filter(({ at }) => at > this.now);
      for (const { act } of due) act(this.now);
    }
  },

  wait(act, milliseconds) {
    const one = { act, at: this.now + milliseconds };
    this.waiting.push(one);
    return one;
  },

  forget(one) {
    this.waiting = this.waiting.filter((each) => each !== one);
  },
};

export function makeElement(tag) {
  return new FakeElement(tag);
}

// A fresh page; more: whatever else the browser knows.
export function openPage(more = {}) {
  Object.assign(clock, { now: 0, waiting: [] });
  const document = Object.assign(new FakeElement("document"), {
    createElement: (tag) => new FakeElement(tag), createElementNS: (_, tag) => new FakeElement(tag),
    body: new FakeElement("body"), documentElement: new FakeElement("html"), scrollingElement: new FakeElement("html"), hidden: false,
    fonts: { addEventListener: () => {}, ready: new Promise(() => {}) },
  });
  document.activeElement = document.body;
  const window = new FakeElement("window");
  const browser = {
    document, innerWidth: 1440, innerHeight: 900, performance: { now: () => clock.now },
    matchMedia: (query) => ({ matches: false, query }), CSS: { escape: (text) => text },
    requestAnimationFrame: (act) => clock.wait(act, 20), cancelAnimationFrame: (one) => clock.forget(one),
    setTimeout: (act, milliseconds = 0) => clock.wait(act, milliseconds), clearTimeout: (one) => clock.forget(one),
    addEventListener: (...given) => window.addEventListener(...given), dispatchEvent: (event) => window.dispatchEvent(event),
    ResizeObserver: class { observe() {} disconnect() {} }, MutationObserver: class { observe() {} disconnect() {} },
    CustomEvent: class { constructor(type, { detail } = {}) { Object.assign(this, { type, detail }); } },
    getComputedStyle: () => ({ overflowY: "visible" }), location: new URL("http://localhost/"), ...more,
  };
  for (const [name, value] of Object.entries({ ...browser, window: globalThis })) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  }
  return { document, window };
}

// A sketch that keeps what is drawn by its key.
export function makeSketch() {
  const drawn = {};
  const keep = (names) => (key, ...given) => {
    drawn[key] = Object.fromEntries(names.map((name, i) => [name, given[i]]));
  };
  return {
    drawn, box: keep(["at", "more"]), line: keep(["x1", "y1", "x2", "y2", "more"]), path: keep(["d", "more"]),
    text: keep(["x", "y", "text", "style"]), put: keep(["tag", "more"]),
  };
}
