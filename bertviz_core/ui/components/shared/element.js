// Elements with what is in them.

const SVG = "http://www.w3.org/2000/svg";

/** @param {string} tag @param {string} name @param {...(Node | string | number)} content */
export function makeElement(tag, name, ...content) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...content);
  return made;
}

/** @param {string} tag @param {Record<string, string | number | boolean>} [attributes] */
export function makeSvg(tag, attributes = {}) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
