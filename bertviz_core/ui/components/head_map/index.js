// All heads of all layers, side by side.

/** @import { Call } from "../shared/types.js" */

import { HeadMap, readPacked } from "./map.js";

/** @param {Call<Uint8Array, Element & { headMap?: HeadMap }>} given */
export default function ({ data, parentElement }) {
  const map = (parentElement.headMap ??= new HeadMap(parentElement));
  const [header, pixels] = readPacked(data);
  map.show(header, pixels);
  return () => map.close();
}
