// Elements in place of the browser's: what a component writes can be found again by its selectors, read as HTML, pressed and
// given the focus. Where an element stands and how large it is, is what a test has said (`box`).

import { readHtml, writeHtml } from "./html.js";
import { matches } from "./selectors.js";

const REACHED = ["button", "input", "textarea", "select", "summary"]; // by the keyboard, without being told so
const STAYING = ["focus", "blur", "pointerenter", "pointerleave"]; // events that do not go up
const TEXTS = { id: "id", className: "class", title: "title", href: "href", type: "type" };
const FLAGS = ["hidden", "disabled", "open", "readOnly"];
const LENGTHS = { width: ["clientWidth", "offsetWidth", "scrollWidth"], height: ["clientHeight", "offsetHeight", "scrollHeight"] };

class Style {
  constructor() {
    const hide = (name, value) => Object.defineProperty(this, name, value);
    hide("setProperty", { value: (name, value) => { this[name] = value; } });
    hide("getPropertyValue", { value: (name) => this[name] ?? "" });
    hide("text", {
      get: () => Object.entries(this).map(([name, value]) => `${name.replace(/(?<!^-.*)[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}: ${value}`).join("; "),
    });
  }
}

class Names {
  constructor(element) {
    this.element = element;
  }

  [Symbol.iterator]() {
    return this.element.className.split(/\s+/).filter(Boolean)[Symbol.iterator]();
  }

  contains(name) {
    return [...this].includes(name);
  }

  toggle(name, on = !this.contains(name)) {
    const others = [...this].filter((each) => each !== name);
    if (on !== this.contains(name)) this.element.className = [...others, ...(on ? [name] : [])].join(" ");
    return on;
  }

  add(...names) {
    for (const name of names) this.toggle(name, true);
  }

  remove(...names) {
    for (const name of names) this.toggle(name, false);
  }
}

const kebab = (name) => `data-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
const camel = (name) => name.slice("data-".length).replace(/-(\w)/g, (_, letter) => letter.toUpperCase());

function openDataset(element) {
  return new Proxy({}, {
    get: (_, name) => (typeof name === "string" ? element.attributes[kebab(name)] : undefined),
    set: (_, name, value) => { element.setAttribute(kebab(name), value); return true; },
    has: (_, name) => kebab(String(name)) in element.attributes,
    ownKeys: () => Object.keys(element.attributes).filter((name) => name.startsWith("data-")).map(camel),
    getOwnPropertyDescriptor: (_, name) => ({ value: element.attributes[kebab(String(name))], enumerable: true, configurable: true }),
  });
}

export class Element {
  constructor(tag) {
    Object.assign(this, { tagName: tag, childNodes: [], attributes: {}, listeners: [], parentElement: null, value: "", pen: null });
    Object.assign(this, { scrollTop: 0, scrollLeft: 0, scrolled: [], box: { left: 0, top: 0, width: 0, height: 0 } });
    Object.assign(this, { style: new Style(), classList: new Names(this), dataset: openDataset(this) });
  }

  // Attributes.

  setAttribute(name, value) {
    if (name === "style") for (const [, each, given] of String(value).matchAll(/([\w-]+):\s*([^;]+)/g)) this.style[each] = given;
    else this.attributes[name] = String(value);
  }

  getAttribute(name) {
    return this.attributes[name] ?? null;
  }

  hasAttribute(name) {
    return name in this.attributes;
  }

  removeAttribute(name) {
    delete this.attributes[name];
  }

  toggleAttribute(name, on = !this.hasAttribute(name)) {
    if (on) this.setAttribute(name, "");
    else this.removeAttribute(name);
  }

  get tabIndex() {
    const reached = REACHED.includes(this.tagName) || (this.tagName === "a" && this.hasAttribute("href"));
    return Number(this.attributes.tabindex ?? (reached ? 0 : -1));
  }

  set tabIndex(value) {
    this.setAttribute("tabindex", value);
  }

  // What is inside, and where it stands.

  get children() {
    return this.childNodes.filter((each) => each instanceof Element);
  }

  get childElementCount() {
    return this.children.length;
  }

  get firstElementChild() {
    return this.children[0] ?? null;
  }

  get firstChild() {
    return this.childNodes[0] ?? null;
  }

  get nextSibling() {
    const all = this.parentElement?.childNodes ?? [];
    return all[all.indexOf(this) + 1] ?? null;
  }

  insertBefore(part, next) {
    if (part instanceof Element) part.remove();
    this.childNodes.splice(next ? this.childNodes.indexOf(next) : this.childNodes.length, 0, part instanceof Element ? part : String(part));
    if (part instanceof Element) part.parentElement = this;
    return part;
  }

  append(...parts) {
    for (const part of parts) this.insertBefore(part, null);
  }

  appendChild(part) {
    return this.insertBefore(part, null);
  }

  prepend(part) {
    this.insertBefore(part, this.firstChild);
  }

  before(part) {
    this.parentElement.insertBefore(part, this);
  }

  replaceChildren(...parts) {
    for (const each of this.children) each.parentElement = null;
    this.childNodes = [];
    this.append(...parts);
  }

  remove() {
    const all = this.parentElement?.childNodes ?? [];
    if (all.includes(this)) all.splice(all.indexOf(this), 1);
    this.parentElement = null;
  }

  get textContent() {
    return this.childNodes.map((each) => (each instanceof Element ? each.textContent : each)).join("");
  }

  set textContent(text) {
    this.replaceChildren(...(text === null || text === "" ? [] : [text]));
  }

  get innerHTML() {
    return this.childNodes.map(writeHtml).join("");
  }

  set innerHTML(html) {
    this.replaceChildren();
    readHtml(html, this);
  }

  cloneNode() {
    const made = document.createElement(this.tagName);
    Object.assign(made.attributes, this.attributes);
    made.innerHTML = this.innerHTML;
    return made;
  }

  get isConnected() {
    return this === document || Boolean(this.parentElement?.isConnected);
  }

  contains(other) {
    return other === this || Boolean(other?.parentElement && this.contains(other.parentElement));
  }

  // What is found.

  matches(selector) {
    return matches(this, selector);
  }

  closest(selector) {
    return this.matches(selector) ? this : this.parentElement?.closest(selector) ?? null;
  }

  querySelectorAll(selector) {
    return this.children.flatMap((each) => [...(each.matches(selector) ? [each] : []), ...each.querySelectorAll(selector)]);
  }

  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? null;
  }

  // What a visitor sees and does.

  checkVisibility() {
    return this.isConnected && !this.closest("[hidden]");
  }

  getBoundingClientRect() {
    const { left, top, width, height } = this.box;
    return { left, top, width, height, x: left, y: top, right: left + width, bottom: top + height };
  }

  scrollBy(by) {
    this.scrolled.push(by);
  }

  addEventListener(type, act, { signal, capture = false, once = false } = {}) {
    const listener = { type, act, capture, once };
    this.listeners.push(listener);
    signal?.addEventListener("abort", () => { this.listeners = this.listeners.filter((each) => each !== listener); });
  }

  // Down to this element and up again; gives whether nobody has prevented it.
  dispatchEvent(event) {
    event.target ??= this;
    const way = [];
    for (let each = this; each; each = each.parentElement) way.push(each);
    event.composedPath = () => way;
    for (const each of [...way].reverse()) each.hear(event, true);
    for (const each of STAYING.includes(event.type) ? [this] : way) each.hear(event, false);
    return !event.defaultPrevented;
  }

  hear(event, capture) {
    if (event.stopped) return;
    event.currentTarget = this;
    for (const each of this.listeners.filter(({ type, capture: early }) => type === event.type && early === capture)) {
      if (event.stopped === "at once") return;
      if (each.once) this.listeners = this.listeners.filter((other) => other !== each);
      each.act.call(this, event);
    }
    if (!capture) this[`on${event.type}`]?.(event);
  }

  // Gives the event, which says whether it was prevented.
  send(type, more = {}) {
    const event = {
      type, target: this, defaultPrevented: false, preventDefault: () => { event.defaultPrevented = true; },
      stopPropagation: () => { event.stopped ??= "here"; }, stopImmediatePropagation: () => { event.stopped = "at once"; }, ...more,
    };
    this.dispatchEvent(event);
    return event;
  }

  click() {
    if (!this.disabled) this.send("click", { pointerType: "mouse", clientX: 0, clientY: 0 });
  }

  focus() {
    if (document.activeElement === this || this.disabled || !(this.hasAttribute("tabindex") || this.tabIndex >= 0)) return;
    document.activeElement.blur();
    document.focused = this;
    for (const type of ["focus", "focusin"]) this.send(type);
  }

  blur() {
    if (document.activeElement !== this || this === document.body) return;
    document.focused = null;
    for (const type of ["blur", "focusout"]) this.send(type);
  }

  select() {}

  showModal() {
    this.open = true;
  }

  close() {
    this.open = false;
  }
}

for (const [name, attribute] of Object.entries(TEXTS)) {
  Object.defineProperty(Element.prototype, name, {
    get() { return this.attributes[attribute] ?? ""; },
    set(value) { this.setAttribute(attribute, value); },
  });
}
for (const name of FLAGS) {
  Object.defineProperty(Element.prototype, name, {
    get() { return this.hasAttribute(name); },
    set(on) { this.toggleAttribute(name, Boolean(on)); },
  });
}
for (const [side, names] of Object.entries(LENGTHS)) {
  Object.defineProperty(Element.prototype, side, { // of a canvas
    get() { return Number(this.attributes[side] ?? 0); },
    set(value) { this.setAttribute(side, value); },
  });
  for (const name of names) Object.defineProperty(Element.prototype, name, { get() { return this.box[name] ?? this.box[side]; } });
}
