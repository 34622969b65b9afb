// One head, token to token.

/** @import { Call } from "../shared/types.js" */
/** @import { LinesData } from "./types.js" */

import { TokenLines } from "./lines.js";

/** @param {Call<LinesData, Element & { tokenLines?: TokenLines }>} given */
export default function ({ data, parentElement, setTriggerValue }) {
  const lines = (parentElement.tokenLines ??= new TokenLines(parentElement));
  lines.choose = (index) => setTriggerValue("token", index);
  lines.show(data);
  const stopped = new AbortController();
  document.addEventListener("bv-explained", ({ detail }) => lines.explain(detail.way ?? []), stopped);
  document.dispatchEvent(new CustomEvent("bv-asks")); // whoever knows which number is explained says so again
  return () => stopped.abort();
}
