// A field that takes no more than so many characters leaves a longer text that is pasted away, and says nothing of it.

import { writeCount } from "../shared/numbers.js";

const AWHILE = 100; // milliseconds in which a field has taken what was pasted

// Where a field is as it was, why: in the browser's own words for what is wrong with a field, until it is typed into.
/** @param {ClipboardEvent} event */
export function tellRefused({ target, clipboardData }) {
  if (!(target instanceof HTMLInputElement) || target.readOnly) return;
  const { value, selectionStart, selectionEnd } = target;
  const { length } = clipboardData?.getData("text") ?? "";
  if (length <= (selectionEnd ?? 0) - (selectionStart ?? 0)) return;
  setTimeout(() => {
    if (!target.isConnected || target.value !== value) return;
    target.setCustomValidity(`The pasted text, of ${writeCount(length)} characters, is too long for this field, which is as it was.`);
    target.reportValidity();
    for (const name of ["input", "blur"]) target.addEventListener(name, () => target.setCustomValidity(""), { once: true });
  }, AWHILE);
}
