// The whole forward pass as one picture.

/** @import { Call } from "../shared/types.js" */
/** @import { CanvasData } from "./types.js" */

import { Canvas } from "./canvas.js";

/** @param {Call<CanvasData, HTMLElement & { canvas?: Canvas }>} given */
export default function ({ data, parentElement, setTriggerValue }) {
  const canvas = (parentElement.canvas ??= new Canvas(parentElement));
  const turn = canvas.show(data, setTriggerValue);
  return () => canvas.close(turn);
}
