// What is clicked, pointed at or walked through by keyboard, on the whole page.

/** @import { Call } from "../shared/types.js" */
/** @import { ListenerData } from "./types.js" */

import { openTrail } from "./history.js";
import { watchLine } from "./line.js";
import { Listener } from "./listener.js";
import { openLost } from "./lost.js";

const [trail, lost] = [openTrail(), openLost()];
watchLine();

/** @param {Call<ListenerData, Element & { listener?: Listener }>} given */
export default function ({ data, parentElement, setTriggerValue }) {
  const listener = (parentElement.listener ??= new Listener(parentElement, trail));
  const turn = listener.show(data, setTriggerValue);
  lost.tell(data, setTriggerValue);
  return () => listener.close(turn);
}
