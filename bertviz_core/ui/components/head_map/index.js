// All heads of all layers, side by side.

import { HeadMap, readPacked } from "./map.js";

export default function ({ data, parentElement, setTriggerValue }) {
  const map = (parentElement.headMap ??= new HeadMap(parentElement));
  map.choose = (layer, head) => setTriggerValue("head", [layer, head]);
  map.show(...readPacked(data));
  return () => map.close();
}
