// HTML as the modules write it, read into elements and written again.

const VOID = ["br", "img", "input", "hr"];
const PART = /<!--[\s\S]*?-->|<(?<close>\/)?(?<tag>[a-zA-Z][\w-]*)(?<given>(?:\s+[\w:-]+(?:="[^"]*")?)*)\s*(?<empty>\/)?>|[^<]+/y;
const SIGNS = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: "\u00a0" };

export function readHtml(text, root) {
  let into = root;
  for (PART.lastIndex = 0; PART.lastIndex < text.length; ) {
    const from = PART.lastIndex;
    const found = PART.exec(text);
    if (!found) throw new SyntaxError(`No HTML that is understood: ${text.slice(from, from + 60)}`);
    into = readPart(found, into);
  }
  if (into !== root) throw new SyntaxError(`An element is not closed: ${into.tagName} in ${text}`);
}

function readPart({ 0: text, groups: { close, tag, given, empty } }, into) {
  if (text.startsWith("<!--")) return into;
  if (close) return leave(tag, into);
  if (!tag) {
    into.append(readSigns(text));
    return into;
  }
  const made = document.createElement(tag);
  for (const [, name, value = ""] of given.matchAll(/([\w:-]+)(?:="([^"]*)")?/g)) made.setAttribute(name, readSigns(value));
  into.append(made);
  return empty || VOID.includes(tag) ? into : made;
}

function leave(tag, { tagName, parentElement }) {
  if (tagName !== tag) throw new SyntaxError(`${tagName} is closed as ${tag}`);
  return parentElement;
}

function readSigns(text) {
  return text.replace(/&(?:#(\d+)|(\w+));/g, (_, code, name) => (code ? String.fromCodePoint(code) : SIGNS[name]));
}

function writeSigns(text) {
  return String(text).replace(/[&<>"]/g, (sign) => `&${Object.keys(SIGNS).find((name) => SIGNS[name] === sign)};`);
}

export function writeHtml(part) {
  if (typeof part !== "object") return writeSigns(part);
  const { tagName, attributes, style, childNodes } = part;
  const given = Object.entries({ ...attributes, ...(style.text ? { style: style.text } : {}) });
  const begin = `<${tagName}${given.map(([name, value]) => (value ? ` ${name}="${writeSigns(value)}"` : ` ${name}`)).join("")}>`;
  return VOID.includes(tagName) ? begin : `${begin}${childNodes.map(writeHtml).join("")}</${tagName}>`;
}
