// What a phone keeps of a class: its number there and its own answers, and nothing of a class before.

const NAME = "bert-class";

/**
 * @typedef {object} Kept
 * @property {string} code
 * @property {string} phone its number; "" before it has come in
 * @property {Record<string, string>} answers as the server has them, by question and vote
 * @property {Record<string, boolean>} right whether the last one was, by question that was told
 * @property {{ at: string, answer: string | number } | null} waiting what has not been sent yet
 */

/** @param {string} code @returns {Kept} */
export const begin = (code) => ({ code, phone: "", answers: {}, right: {}, waiting: null });

/** What was kept of a room; a new beginning where that is of another one. @param {string} code @returns {Kept} */
export function read(code) {
  try {
    const kept = JSON.parse(localStorage.getItem(NAME) ?? "null");
    return kept?.code === code ? { ...begin(code), ...kept } : begin(code);
  } catch {
    return begin(code);
  }
}

/** @param {Kept} kept */
export function write(kept) {
  try {
    localStorage.setItem(NAME, JSON.stringify(kept));
  } catch {
    // Without a store the phone is a new one after a reload.
  }
}

export function forget() {
  try {
    localStorage.removeItem(NAME);
  } catch {
    // There was none.
  }
}

/** By what an answer is kept. @param {number} question @param {number} vote */
export const name = (question, vote) => `${question}.${vote}`;
