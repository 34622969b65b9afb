// Pieces of HTML: icons and buttons, and texts that are safe in them.

export const ICONS = { play: writeIcon("M2.5 1v10l8-5z"), pause: writeIcon("M2 1h3v10H2zM7 1h3v10H7z") };

/** @param {string} path */
function writeIcon(path) {
  const size = 'width="12" height="12" viewBox="0 0 12 12"';
  return `<svg ${size} aria-hidden="true"><path d="${path}" fill="currentColor"/></svg>`;
}

/** @type {Record<string, string>} */
const ESCAPED = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** @param {string | number} text */
export function escapeHtml(text) {
  return String(text).replace(/[&<>"]/g, (sign) => ESCAPED[sign]);
}

/** @param {string} does @param {string} words @param {string} [more] */
export function writeButton(does, words, more = "") {
  return `<button type="button" data-does="${escapeHtml(does)}" ${more}>${words}</button>`;
}
