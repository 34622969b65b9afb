// Addresses of cells, and templates of them.

/** @import { Address } from "./types.js" */

export const ROW_TOKENS = ["token", "query"]; // axes along which a token is a row; along `key` it is a column

// An address, or a template of one, as its path and the index (or {x}, {y}, {n}) on each axis.
export const readAddress = remember((address) => {
  const [path, inside = "]"] = address.split("[");
  return { path, index: new Map(inside.slice(0, -1).split(",").filter(Boolean).map(readPlace)) };
});

// Whether both are the address of one cell, or none of them of any.
/** @param {string | null | undefined} one @param {string | null | undefined} other */
export function isSameCell(one, other) {
  if (!one || !other) return !one && !other;
  return matchAddress(one, other) !== null;
}

// What the placeholders of a template stand for in an address; null where it is of another cell.
/** @param {string} template @param {string} address @returns {Record<string, string> | null} */
export function matchAddress(template, address) {
  const [{ path, index }, cell] = [readAddress(template), readAddress(address)];
  if (path !== cell.path || index.size !== cell.index.size) return null;
  /** @type {Record<string, string>} */
  const found = {};
  for (const [axis, place] of index) {
    const given = cell.index.get(axis);
    if (given === undefined) return null;
    if (/^\{[xyn]\}$/.test(place)) found[place[1]] = given;
    else if (place !== given) return null;
  }
  return found;
}

// The tokens whose row and whose column a cell belongs to; null where it has none.
/** @param {string} address */
export function readTokens(address) {
  const { index } = readAddress(address);
  const [own, key] = [index.get("query") ?? index.get("token"), index.get("key")];
  return (own ?? key) === undefined ? null : { row: Number(own ?? key), key: Number(key ?? own) };
}

/** @param {(text: string) => Address} compute @returns {(text: string) => Address} */
function remember(compute) {
  const known = new Map();
  return (/** @type {string} */ text) => {
    if (!known.has(text)) {
      if (known.size > 50_000) known.clear();
      known.set(text, compute(text));
    }
    return known.get(text);
  };
}

/** @param {string} text @returns {[axis: string, place: string]} */
function readPlace(text) {
  const [axis, place] = text.split("=");
  return [axis, place];
}
