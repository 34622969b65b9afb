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

// The query and the key of a number of the same head of attention; null where a number is of no such pair. of: the head's
// weights, as an address or a template of one.
/** @param {string} of @param {string} address @returns {{ query: number, key: number } | null} */
export function readPair(of, address) {
  const [own, cell] = [readAddress(of), readAddress(address)];
  const [query, key] = [cell.index.get("query"), cell.index.get("key")];
  const same = findModule(own.path) === findModule(cell.path) && own.index.get("head") === cell.index.get("head");
  return same && query !== undefined && key !== undefined ? { query: Number(query), key: Number(key) } : null;
}

// A number of a head, read off another step of the same pair: where a map shows the weight of a score.
/** @param {string} template @param {string} address @returns {string} */
export function findTwin(template, address) {
  const { path, index } = readAddress(template);
  const paired = ["head", "query", "key"].every((axis) => index.has(axis)) && readPair(template, address);
  return paired ? `${path}[${address.split("[")[1]}` : address;
}

/** @param {string} path */
function findModule(path) {
  return path.slice(0, path.lastIndexOf("."));
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
