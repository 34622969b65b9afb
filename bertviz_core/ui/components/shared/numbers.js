// How a number is written, wherever it stands: the rule of formula/numbers.py, which says what each form is. What tests
// write with both is the same, to the last digit.

export const FULL = { decimals: 4, first: -4, last: 6 }; // decimals, and the powers of ten of what is written without one
export const SHORT_WIDTH = 7; // characters
export const KNOWN = 1e15; // from here on no decimals are known of a double
export const WORTH = ".4g"; // what stands for the full form in a template that Plotly fills in

const LEAST = 0.001, MOST = 99.9; // percent: nearer to 0 and to 100 only that is said
/** @typedef {"number" | "short" | "percent"} Form of a column: in full, short, as a percentage */
/** @type {Record<Form, (value: number) => string>} */
const FORMS = { number: writeNumber, short: writeShort, percent: writePercent };

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

// In full: four decimals, digits that are worth reading, or a power of ten.
/** @param {number} value */
export function writeNumber(value) {
  return tellStrange(value) ?? joinNumber(splitNumber(value));
}

// Where there is little room: the full form, rounded to as many characters.
/** @param {number} value */
export function writeShort(value) {
  const strange = tellStrange(value);
  if (strange) return strange;
  if (!value) return "0";
  const places = (/** @type {number} */ from) => Array.from({ length: from + 1 }, (_, i) => from - i);
  const decimals = splitNumber(value).length === 1 ? places(Math.max(2, countDecimals(value))) : [];
  const texts = decimals.map((each) => writeFixed(value, each)).filter((text) => /[1-9]/.test(text));
  texts.push(...places(1).map((each) => joinNumber(roundTo(value, each, "toExponential").split("e"))));
  return texts.find((text) => text.length <= SHORT_WIDTH) ?? texts[texts.length - 1];
}

// A part of a whole, 1 being all of it.
/** @param {number} part */
export function writePercent(part) {
  const percent = 100 * Math.abs(part);
  let [sign, text] = ["", ""];
  if (part < 0 && percent > 0 && percent < LEAST) text = writeLeast(percent);
  else if (percent > 0 && percent < LEAST) [sign, text] = ["<", String(LEAST)];
  else if (percent > MOST && percent < 100) [sign, text] = [">", String(MOST)];
  else text = percentDigits(percent);
  if (part < 0 && percent) [sign, text] = [{ "<": ">", ">": "<" }[sign] ?? "", `−${text}`];
  return `${sign} ${text}\u00a0%`.trimStart();
}

// In a picture's cell there is no room for spaces.
/** @param {number} part */
export function writeCellPercent(part) {
  return writePercent(part).replace(/\s/g, "");
}

// Numbers one below the other: with as many decimals as the largest in size has in this form.
/** @param {number[]} values @param {Form} [form] */
export function writeColumn(values, form = "number") {
  const signed = form === "percent" && values.some((value) => value < 0);
  const decimals = countAlike(Math.max(0, ...values.map(Math.abs).filter(Number.isFinite)), form, signed);
  return values.map((value) => (decimals === null ? FORMS[form](value) : writeAlike(value, decimals, form, signed)));
}

// The decimals of a column; null where it has no number of them.
/** @param {number} largest @param {Form} form @param {boolean} signed */
function countAlike(largest, form, signed) {
  const percent = 100 * largest;
  if (form === "percent") return (signed || percent >= LEAST) && percent < 1000 ? Math.min(3, Math.max(1, countDecimals(percent))) : null;
  const found = largest ? /^[\d,]+(?:\.(\d+))?$/.exec(FORMS[form](largest)) : null;
  return found && (found[1] ?? "").length;
}

/** @param {number} value @param {number} decimals @param {Form} form @param {boolean} signed whether some are negative */
function writeAlike(value, decimals, form, signed) {
  if (!Number.isFinite(value) || !value) return FORMS[form](value);
  const [size, unit] = form === "percent" ? [100 * Math.abs(value), "\u00a0%"] : [Math.abs(value), ""];
  let [text, sides] = [writeFixed(size, decimals), ["", ""]];
  if (!/[1-9]/.test(text) && signed) text = writeLeast(size);
  else if (!/[1-9]/.test(text)) [text, sides] = [(10 ** -decimals).toFixed(decimals), ["< ", "> "]];
  else if (form === "percent" && size > MOST && size < 100 && Number(text) === 100) [text, sides] = [String(MOST), ["> ", "< "]];
  return `${sides[value < 0 ? 1 : 0]}${value < 0 ? "−" : ""}${text}${unit}`;
}

// A number of a calculation, with so many decimals; what is printed as zero has no sign.
/** @param {number} value @param {number} decimals */
export function writeFixed(value, decimals) {
  if (Math.abs(value) >= KNOWN) return writeNumber(value);
  const text = tellStrange(value) ?? group(roundTo(value, decimals, "toFixed"));
  return /[1-9∞n]/.test(text) ? text.replace("-", "−") : text.replace("-", "");
}

// A whole number.
/** @param {number} count */
export function writeCount(count) {
  return count.toLocaleString("en-US").replace("-", "−");
}

// How many there are of something: `1 head`, `12 heads`.
/** @param {number} amount @param {string} one */
export function writeAmount(amount, one) {
  return `${writeCount(amount)} ${one}${amount === 1 ? "" : "s"}`;
}

// What no digits say; undefined of a number that has some.
/** @param {number} value */
function tellStrange(value) {
  if (value === undefined || value === null) return "–";
  if (Number.isNaN(value)) return "nan";
  return Number.isFinite(value) ? undefined : value < 0 ? "−∞" : "∞";
}

// The full form of a finite number, without commas: its decimals, or a factor and the power of ten.
/** @param {number} value */
function splitNumber(value) {
  if (!value) return ["0"];
  const [factor, power] = roundTo(value, FULL.decimals - 1, "toExponential").split("e");
  const large = Number(roundTo(value, FULL.decimals + 2, "toExponential").split("e")[1]);
  if (Number(power) < FULL.first || large > FULL.last) return [factor, power];
  const more = Number(power) === FULL.first ? FULL.decimals - 1 : 0;
  return [roundTo(value, FULL.decimals + more - Math.max(0, large - 2), "toFixed")];
}

// The full form, or a power, as it is read: with commas, and what is raised above the line.
/** @param {string[]} parts */
function joinNumber([factor, ...powers]) {
  const raise = (/** @type {string} */ power) => String(Number(power)).replace(/\d/g, (digit) => RAISED[Number(digit)]).replace("-", "⁻");
  return [group(factor), ...powers.map(raise)].join("·10").replace("-", "−");
}

/** @param {string} digits */
function group(digits) {
  return digits.replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));
}

// With how many decimals a finite number has two significant digits.
/** @param {number} value */
function countDecimals(value) {
  return value ? Math.max(0, 1 - Number(roundTo(value, 1, "toExponential").split("e")[1])) : 0;
}

// A number nearer to 0 than others are written, by its first digit.
/** @param {number} size */
function writeLeast(size) {
  const [factor, power] = roundTo(size, 0, "toExponential").split("e");
  return Number(power) >= FULL.first ? roundTo(size, -Number(power), "toFixed") : joinNumber([factor, power]);
}

/** @param {number} percent */
function percentDigits(percent) {
  if (!Number.isFinite(percent) || percent >= 1000) return writeShort(percent);
  return roundTo(percent, percent > 99 && percent < 100 ? 1 : Math.min(3, countDecimals(percent)), "toFixed");
}

// What follows the last digit of a number that lies in the middle.
const HALF = "5".padEnd(40, "0");

// A number's digits by toFixed or toExponential, which round an exact half up: here it goes to the even digit.
/** @param {number} value @param {number} decimals @param {"toFixed" | "toExponential"} digitsBy */
function roundTo(value, decimals, digitsBy) {
  const up = value[digitsBy](decimals);
  if (!/[13579](e|$)/.test(up)) return up;
  const [digits, power] = value[digitsBy](decimals + HALF.length).split("e");
  if (!digits.endsWith(HALF)) return up;
  const down = digits.slice(0, digits.indexOf(".") + (decimals ? decimals + 1 : 0));
  return power === undefined ? down : `${down}e${power}`;
}
