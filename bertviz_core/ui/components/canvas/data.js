// What the server sent, opened: stages with their numbers, found by name, or by the address of a cell.
//
// `where` is a cell of a stage: {row, column, key, head}, each as far as the stage has it. row and key are places in
// the window of tokens, column is a place among the stage's columns, head is the head.

/** @import { CanvasData, SentStage, Stage, Where } from "./types.js" */

import { readAddress } from "../shared/address.js";

export class Stages {
  /** @param {CanvasData} data */
  constructor(data) {
    const bytes = readBytes(data.bytes);
    this.start = data.window.start;
    this.rows = data.tokens.length;
    this.byId = new Map(data.stages.map((stage) => [stage.id, openStage(stage, bytes)]));
  }

  /** @param {string} id @returns {Stage | undefined} */
  get(id) {
    return this.byId.get(id);
  }

  // The address of a cell, its indices the real ones.
  /** @param {Stage} stage @param {Where} where */
  write(stage, { row, column = 0, key = 0, head = 0 }) {
    /** @type {Record<string, number>} */
    const indices = { row: row + this.start, column: stage.columns[column], key: key + this.start, head };
    return stage.address.replace(/\{(\w+)\}/g, (_, name) => String(indices[name]));
  }

  // Every place where the cell of an address is drawn: [{stage, where}].
  /** @param {string} address @returns {{ stage: Stage, where: Where }[]} */
  find(address) {
    const { path, index } = readAddress(address);
    return [...this.byId.values()].flatMap((stage) => {
      const where = stage.path === path ? this.place(stage, index) : null;
      return where ? [{ stage, where }] : [];
    });
  }

  // Whether a cell stands in a stage that is drawn, but its column is not among those that were sent.
  /** @param {string} address */
  lacks(address) {
    const { path, index } = readAddress(address);
    if (this.find(address).length) return false;
    /** @param {Stage} stage @param {string} axis @param {string} said */
    const there = (stage, axis, said) => {
      if (!said.startsWith("{")) return index.get(axis) === said;
      return said === "{column}" || this.locate(stage, said.slice(1, -1), Number(index.get(axis))) >= 0;
    };
    const own = [...this.byId.values()].filter((stage) => stage.path === path && stage.size.length > 1);
    return own.some((stage) => stage.axes.every(([axis, said]) => there(stage, axis, said)));
  }

  /** @param {Stage} stage @param {Map<string, string>} index @returns {Where | null} */
  place(stage, index) {
    if (index.size !== stage.axes.length) return null; // ribbons stand for several cells each
    /** @type {Record<string, number>} */
    const where = {};
    for (const [axis, said] of stage.axes) {
      const name = /^\{(\w+)\}$/.exec(said)?.[1];
      if (!name && index.get(axis) !== said) return null;
      if (name) where[name] = this.locate(stage, name, Number(index.get(axis)));
    }
    return Object.values(where).some((each) => each < 0 || Number.isNaN(each)) ? null : { row: where.row, ...where };
  }

  // The place of a real index, -1 where it is not drawn.
  /** @param {Stage} stage @param {string} name @param {number} index */
  locate(stage, name, index) {
    if (name === "head") return index;
    if (name === "column") return stage.columns.indexOf(index);
    return index >= this.start && index < this.start + this.rows ? index - this.start : -1;
  }
}

/** @param {SentStage} stage @param {Uint8Array} bytes */
function openStage(stage, bytes) {
  const count = stage.size.reduce((all, size) => all * size, 1);
  const cut = (/** @type {number} */ at, /** @type {number} */ length) => bytes.slice(at, at + length);
  const { path, index } = readAddress(stage.address);
  return {
    ...stage, path, axes: [...index],
    values: new Float32Array(cut(stage.at, 4 * count).buffer),
    marks: stage.mark === null ? null : cut(stage.mark, count),
    puts: stage.put === null ? null : cut(stage.put, count),
  };
}

// Where in a stage's numbers a cell stands; what the cell has not, the stage does not go by.
/** @param {Stage} stage @param {Where} where */
function indexOf({ size, axes }, { row, column = 0, key = 0, head = 0 }) {
  if (size.length === 1) return row;
  const last = axes.some(([, said]) => said === "{key}") ? key : column;
  return ((size.length === 3 ? head * size[1] : 0) + row) * size[size.length - 1] + last;
}

/** @param {Stage} stage @param {Where} where */
export function readValue(stage, where) {
  return stage.values[indexOf(stage, where)];
}

/** @param {Stage} stage @param {Where} where */
export function isMarked(stage, where) {
  return stage.marks !== null && stage.marks[indexOf(stage, where)] > 0;
}

// Whether a change put the number there, so that no formula made it.
/** @param {Stage} stage @param {Where} where */
export function isPut(stage, where) {
  return stage.puts !== null && stage.puts[indexOf(stage, where)] > 0;
}

/** @param {string | Uint8Array} bytes */
function readBytes(bytes) {
  if (typeof bytes !== "string") return new Uint8Array(/** @type {any} */ (bytes.buffer ?? bytes));
  const text = atob(bytes);
  return Uint8Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));
}
