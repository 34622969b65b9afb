// The whole forward pass as one picture.

import { Canvas } from "./canvas.js";

export default function ({ data, parentElement, setTriggerValue }) {
  const canvas = (parentElement.canvas ??= new Canvas(parentElement));
  const turn = canvas.show(data, setTriggerValue);
  return () => canvas.close(turn);
}
