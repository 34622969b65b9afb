// CSS selectors, as far as the browser's half uses them: what is not understood here is an error.

const OPERATORS = {
  "=": (has, wanted) => has === wanted, "*=": (has, wanted) => has.includes(wanted), "^=": (has, wanted) => has.startsWith(wanted),
};
const STATES = {
  focus: (element) => document.activeElement === element,
  "focus-visible": (element) => document.activeElement === element,
  "first-child": (element) => element.parentElement?.firstElementChild === element,
  "popover-open": () => false,
};
const TEST = /(?<all>\*)|(?<sign>[.#]?)(?<name>(?:[\w-]|\\.)+)|\[(?<attribute>[\w-]+)(?:(?<operator>[*^]?=)(?:"(?<quoted>(?:[^"\\]|\\.)*)"|(?<bare>[\w-]+)))?\]|:(?<state>[\w-]+)/y;
const known = new Map();

// Whether an element is what one of the selectors of a list says.
export function matches(element, text) {
  if (!known.has(text)) known.set(text, new Reader(text).read());
  return known.get(text).some((steps) => fits(element, steps));
}

// steps: from the outermost element to this one, each with how it stands to the one before.
function fits(element, steps, last = steps.length - 1) {
  const { tests, combinator } = steps[last];
  if (!tests.every((test) => test(element))) return false;
  if (!last) return true;
  for (let each = element.parentElement; each; each = combinator === ">" ? null : each.parentElement) {
    if (fits(each, steps, last - 1)) return true;
  }
  return false;
}

// Whether there is such an element in this one, or such a child.
function holds(element, steps) {
  const inside = steps[0].combinator === ">" ? element.children : element.querySelectorAll("*");
  return inside.some((each) => fits(each, steps));
}

class Reader {
  at = 0;

  constructor(text) {
    this.text = text;
  }

  read() {
    const list = this.readList();
    if (this.at < this.text.length) this.give();
    return list;
  }

  take(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found) this.at = pattern.lastIndex;
    return found;
  }

  give() {
    throw new SyntaxError(`No selector that is understood: ${this.text}, from ${this.text.slice(this.at)} on`);
  }

  readList() {
    const list = [];
    do {
      this.take(/\s*/y);
      const steps = [this.readStep(this.take(/>\s*/y) ? ">" : "")];
      for (let by; (by = this.take(/\s*>\s*|\s+(?=[^\s,)])/y)); ) steps.push(this.readStep(by[0].trim()));
      list.push(steps);
    } while (this.take(/\s*,/y));
    this.take(/\s*/y);
    return list;
  }

  readStep(combinator) {
    const tests = [];
    for (let found; (found = this.take(TEST)); ) tests.push(this.readTest(found.groups));
    if (!tests.length) this.give();
    return { combinator, tests };
  }

  readTest({ all, sign, name, attribute, operator, quoted, bare, state }) {
    if (all) return () => true;
    if (state) return this.readState(state);
    const plain = (quoted ?? bare ?? name)?.replace(/\\(.)/g, "$1");
    if (attribute && !operator) return (element) => element.hasAttribute(attribute);
    if (attribute) return (element) => element.hasAttribute(attribute) && OPERATORS[operator](element.getAttribute(attribute), plain);
    if (sign === ".") return (element) => element.classList.contains(plain);
    return sign ? (element) => element.id === plain : (element) => element.tagName.toLowerCase() === plain.toLowerCase();
  }

  readState(name) {
    if (!this.take(/\(/y)) return STATES[name] ?? this.give();
    const list = this.readList();
    if (!this.take(/\)/y)) this.give();
    if (name === "is") return (element) => list.some((steps) => fits(element, steps));
    if (name === "not") return (element) => !list.some((steps) => fits(element, steps));
    return name === "has" ? (element) => list.some((steps) => holds(element, steps)) : this.give();
  }
}
