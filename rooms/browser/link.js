// What a teacher's link says: a page, the lesson, its sentences, and the controls that are taken away.

/** @typedef {{ page: string, lesson: string, without: string, model: string, sentences: string[] }} Link */

/** @param {string} hash @returns {Link | null} null where it is none */
export function read(hash) {
  const said = new URLSearchParams(hash.replace(/^#/, ""));
  const page = said.get("page") ?? "", lesson = said.get("lesson") ?? "";
  if (!/^[a-z_]{2,40}$/.test(page) || !/^[a-z]{0,40}$/.test(lesson)) return null;
  return { page, lesson, without: said.get("without") ?? "", model: said.get("model") ?? "", sentences: said.getAll("text").filter(Boolean) };
}

/**
 * One of the sentences: that which this browser was given before, else by chance.
 * @param {string[]} sentences
 * @param {string | null} kept
 * @param {number} chance from 0 up to 1
 */
export const choose = (sentences, kept, chance) =>
  (kept !== null && sentences.includes(kept) ? kept : sentences[Math.floor(chance * sentences.length)] ?? "");

/** The address that it leads to, from the page beside it. @param {Link} link @param {string} sentence */
export function write({ page, lesson, without, model }, sentence) {
  const says = new URLSearchParams();
  for (const [name, value] of Object.entries({ text: sentence, model, lesson, step: lesson && "1", without })) if (value) says.set(name, value);
  return `../${page}?${says}`;
}
