// The secrets of the classes that this browser leads. An address would show them to whoever sees the projector.

const NAME = "bert-led", MOST = 12;

/** Codes, each with its secret, the newest last. @returns {[string, string][]} */
function read() {
  try {
    const kept = JSON.parse(localStorage.getItem(NAME) ?? "[]");
    return Array.isArray(kept) ? /** @type {[string, string][]} */ (kept.filter(Array.isArray)) : [];
  } catch {
    return [];
  }
}

/** Whether they could be kept. @param {[string, string][]} kept */
function write(kept) {
  try {
    localStorage.setItem(NAME, JSON.stringify(kept.slice(-MOST)));
    return true;
  } catch {
    return false;
  }
}

const others = (/** @type {string} */ code) => read().filter(([each]) => each !== code);

/** The secret of a class: that of the address, else the one that was kept; "" where there is none. @param {string} code */
export const find = (code) => location.hash.slice(1) || (read().find(([each]) => each === code)?.[1] ?? "");

/** Keep a secret that was right, and take it out of the address; without a store it stays there. @param {string} code @param {string} secret */
export function keep(code, secret) {
  if (!location.hash) return;
  if (write([...others(code), [code, secret]])) history.replaceState(history.state, "", location.pathname + location.search);
}

/** @param {string} code */
export const forget = (code) => { write(others(code)); };
