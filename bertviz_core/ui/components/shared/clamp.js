// Numbers kept within bounds.

// The nearest number that is neither below `least` nor above `most`; `least` where there is none.
/** @param {number} value @param {number} least @param {number} most */
export function clamp(value, least, most) {
  return Math.max(least, Math.min(most, value));
}

// The nearest place in a list of this size.
/** @param {number} index @param {number} size */
export function clampIndex(index, size) {
  return clamp(index, 0, size - 1);
}
