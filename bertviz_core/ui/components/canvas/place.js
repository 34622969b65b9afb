// Where in the pass one is: what the URL says of it, and the levels.

export const PLACE = ["level", "layer", "head", "token", "component", "stop", "strip"];
export const LEVELS = ["pass", "layer", "head"];
