// Whether what is recorded is still so: words exactly, numbers but for their last digit.

const NUMBER = /(#[0-9a-f]{6}\b|-?\d+(?:\.\d+)?)/;
const SHOWN = 8; // lines that differ

function countDecimals(text) {
  return text.split(".")[1]?.length ?? 0;
}

function isNear(one, other) {
  if (one === other) return true;
  const decimals = Math.max(countDecimals(one), countDecimals(other));
  return decimals > 0 && Math.abs(Number(one) - Number(other)) < 1.01 * 10 ** -decimals;
}

function isAlike(one, other) {
  if (one === undefined || other === undefined) return false;
  const [words, others] = [one, other].map((line) => line.split(NUMBER));
  return words.length === others.length && words.every((word, i) => (i % 2 ? isNear(word, others[i]) : word === others[i]));
}

// The first lines that differ, each with the scene that it is of; none where all are alike.
export function listDifferences(recorded, now) {
  const found = [];
  let scene = "";
  for (let i = 0, k = 0; (i < recorded.length || k < now.length) && found.length < SHOWN; ) {
    if (isAlike(recorded[i], now[k])) {
      if (now[k].startsWith("# ")) scene = now[k];
      [i, k] = [i + 1, k + 1];
      continue;
    }
    const gone = recorded[i] !== undefined && !now.slice(k).some((line) => isAlike(recorded[i], line));
    const come = now[k] !== undefined && !recorded.slice(i).some((line) => isAlike(now[k], line));
    if (gone || !come) found.push(`${scene}\n  recorded: ${recorded[i++] ?? "nothing more"}`);
    if (come || !gone) found.push(`${scene}\n  now:      ${now[k++] ?? "nothing more"}`);
  }
  return found;
}
