// What is clicked, pointed at or walked through by keyboard, on the whole page.

import { openTrail } from "./history.js";
import { Listener } from "./listener.js";

const trail = openTrail();

export default function ({ data, parentElement, setTriggerValue }) {
  const listener = (parentElement.listener ??= new Listener(parentElement, trail));
  const turn = listener.show(data, setTriggerValue);
  return () => listener.close(turn);
}
