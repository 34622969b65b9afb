// What is taken away: a file, a text, a link.

/** @import { ListenerData } from "./types.js" */

// The address of what is seen, with what decides about it where that is usual as well: elsewhere that may be other things.
/** @param {Pick<ListenerData, "address">} given */
export function writeLink({ address }) {
  const link = new URL(location.href);
  if (address?.link) link.search = String(new URLSearchParams(address.link));
  return link.href;
}

// Without the characters that no XML may hold, such as controls in a sentence: with one a picture cannot be opened.
/** @param {string} text */
export function keepXml(text) {
  return text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");
}

/** @param {Blob} blob @param {string} name */
export function download(blob, name) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// What came of it, in words: the browser may forbid it.
/** @param {string} text */
export function copyText(text) {
  return copy(text).then(() => "Copied", () => "Not copied: this browser forbids it. Select the text and copy it yourself.");
}

// Also on a page that was not sent by https, which has no clipboard.
/** @param {string} text */
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const focus = document.activeElement;
  const field = Object.assign(document.createElement("textarea"), { value: text });
  document.body.append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  focus?.focus({ preventScroll: true });
  if (!copied) throw new Error("the browser does not let the page copy");
}
