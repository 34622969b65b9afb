// The recorded tensors that the browser knows by name, of all that docs/addresses.md lists.

const SCORES = /attention\.self\.(probs|scores|scaled|products)\[/; // a number for each query and key of a head
const LAYER = /^encoder\.layer\.(\d+)/;
const COMPONENT = /\bhidden=(\d+)/;

/** @param {string} address */
export function isOfQueryAndKey(address) {
  return SCORES.test(address);
}

/** @param {string} address */
export function isContext(address) {
  return /context/.test(address);
}

/** @param {string} address */
export function isPrediction(address) {
  return /^cls\.predictions/.test(address);
}

// The layer that a cell is in; undefined for none.
/** @param {string} address */
export function readLayer(address) {
  const layer = LAYER.exec(address)?.[1];
  return layer === undefined ? undefined : Number(layer);
}

// The component of the residual stream that a cell is; undefined for none.
/** @param {string} address */
export function readComponent(address) {
  const component = COMPONENT.exec(address)?.[1];
  return component === undefined ? undefined : Number(component);
}
