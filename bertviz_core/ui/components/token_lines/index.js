// One head, token to token.

import { TokenLines } from "./lines.js";

export default function ({ data, parentElement, setTriggerValue }) {
  const lines = (parentElement.tokenLines ??= new TokenLines(parentElement));
  lines.choose = (index) => setTriggerValue("token", index);
  lines.show(data);
}
