// Elements with what is in them.

const SVG = "http://www.w3.org/2000/svg";

// What an element, or the page, cannot be without.
/** @template {Element} [Kind=HTMLElement] @param {ParentNode} root @param {string} selector @returns {Kind} */
export function findInside(root, selector) {
  return must(root.querySelector(selector), selector);
}

// What an element always stands in.
/** @template {Element} [Kind=HTMLElement] @param {Element} element @param {string} selector @returns {Kind} */
export function findAround(element, selector) {
  return must(element.closest(selector), selector);
}

/** @template {Element} Kind @param {Element | null} found @param {string} selector @returns {Kind} */
function must(found, selector) {
  if (!found) throw new TypeError(`The page has no ${selector} where one must be.`);
  return /** @type {Kind} */ (found);
}

// What draws on a canvas.
/**
 * @template {HTMLCanvasElement | OffscreenCanvas} Surface
 * @param {Surface} surface
 * @returns {Surface extends OffscreenCanvas ? OffscreenCanvasRenderingContext2D : CanvasRenderingContext2D}
 */
export function openPen(surface) {
  const pen = surface.getContext("2d");
  if (!pen) throw new TypeError("This browser draws on no canvas.");
  return /** @type {ReturnType<typeof openPen<Surface>>} */ (pen);
}

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
