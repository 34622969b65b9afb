// What is inside of layers and heads that were looked at, so that coming back to one needs no waiting. data.key stands
// for all that decides their numbers beside the layer and the head.

/** @import { Stages } from "./data.js" */
/** @import { CanvasData, Place, Share, Stage } from "./types.js" */

const KEPT = 48; // layers and heads together; about 50 kB each at most

export class Visited {
  constructor() {
    this.found = new Map(); // by key, the one looked at last at the end
  }

  // Keep what was sent about its layer and its head.
  /** @param {CanvasData} given @param {Stages} stages */
  keep({ key, place: { layer, head }, outside }, stages) {
    const inner = [...stages.byId.values()].filter(({ id, level }) => level !== "pass" && !id.startsWith("whole."));
    const ofHead = (/** @type {Stage} */ { axes }) => axes.some(([axis, said]) => axis === "head" && said !== "{head}");
    const own = inner.filter((stage) => ofHead(stage) || stage.id === "head.context");
    this.put(`${key} ${layer}`, { stages: inner.filter((stage) => !own.includes(stage)) });
    this.put(`${key} ${layer} ${head}`, { stages: own, outside: outside.head });
  }

  /** @param {string} name @param {{ stages: Stage[], outside?: Share }} what */
  put(name, what) {
    this.found.delete(name);
    this.found.set(name, what);
    if (this.found.size > KEPT) this.found.delete(this.found.keys().next().value);
  }

  // Put what is known of a layer and a head among the stages that were sent of others.
  /** @param {CanvasData} given @param {Stages} stages @param {Place} given2 */
  recall({ key, outside }, stages, { layer, head }) {
    const known = [`${key} ${layer}`, `${key} ${layer} ${head}`].map((name) => this.found.get(name));
    for (const stage of known.flatMap((each) => each?.stages ?? [])) stages.byId.set(stage.id, stage);
    if (known[1]) outside.head = known[1].outside;
  }
}
