// What if: something on the way to the answer at a part of its strength.

/** @import { Call } from "../shared/types.js" */
/** @import { StripData } from "./types.js" */

import { Strip } from "./strip.js";

/** @param {Call<StripData, Element & { strip?: Strip }>} given */
export default function ({ data, parentElement, setTriggerValue }) {
  const strip = (parentElement.strip ??= new Strip(parentElement));
  strip.apply = (step) => setTriggerValue("apply", step);
  strip.cancel = () => setTriggerValue("cancel", true);
  strip.show(data);
}
