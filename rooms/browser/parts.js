// What the phone's page and the projector's share: elements, requests, and how an answer is named.

/**
 * An element with its attributes and what is in it. A handler's name begins with "on".
 * @param {string} name
 * @param {Record<string, any>} [attributes] false, null and undefined are left out
 * @param {...(Node | string | false | null | undefined)} inside
 * @returns {HTMLElement}
 */
export function make(name, attributes = {}, ...inside) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  for (const each of inside) if (each) element.append(each);
  return element;
}

/** What a server said against a request, or that none was reached. */
export class Refused extends Error {
  /** @param {string} text @param {number} status 0 where no server answered */
  constructor(text, status) {
    super(text);
    this.status = status;
  }
}

const LOST = "The server cannot be reached. Your answer is kept here and sent as soon as it can be.";

/**
 * What a server answers, as data. Throws Refused.
 * @param {string} path
 * @param {{ body?: object, secret?: string, timeout?: number }} [how]
 * @returns {Promise<any>}
 */
export async function ask(path, { body, secret, timeout = 8000 } = {}) {
  /** @type {Record<string, string>} */
  const headers = secret ? { Authorization: `Bearer ${secret}` } : {};
  if (body) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(path, {
      method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), cache: "no-store",
      signal: AbortSignal.timeout(timeout),
    });
  } catch {
    throw new Refused(LOST, 0);
  }
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(said.error ?? "The server is busy. Try again in a moment.", answer.status);
  return said;
}

/** The code of a room as it is typed, without spaces and in capitals. @param {string} typed */
export const readCode = (typed) => typed.toUpperCase().replace(/[^A-Z0-9]/g, "").slice(0, 4);

/** Which signs of a code no code has. @param {string} code */
export const findUnused = (code) => [...code].filter((each) => "01OIL".includes(each));

/** A number as a bar is as long as: "0.27 %" is 0.27; NaN for what is none. @param {string} shown */
export const readShown = (shown) => {
  const found = /^[<>]?\s*([−-]?[\d,]*\.?\d+)\s*%?$/.exec(shown.trim());
  return found ? Number(found[1].replace("−", "-").replaceAll(",", "")) : Number.NaN;
};

/** A token without the position that stands before it in a list. @param {string} label */
export const nameAnswer = (label) => label.replace(/^\d+ /, "");
