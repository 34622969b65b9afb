// One head, token to token.

/** @import { Call } from "../shared/types.js" */
/** @import { LinesData } from "./types.js" */

import { TokenLines } from "./lines.js";

/** @param {Call<LinesData, Element & { tokenLines?: TokenLines }>} given */
export default function ({ data, parentElement, setTriggerValue }) {
  const lines = (parentElement.tokenLines ??= new TokenLines(parentElement));
  lines.choose = (index) => setTriggerValue("token", index);
  lines.show(data);
}
