// The fonts of a picture that is taken away.

import { makeSvg } from "../shared/element.js";

// The fonts of the page that the texts of a picture are set in, as data: nothing is fetched where it is looked at.
/** @param {Element} picture */
export async function embedFonts(picture) {
  const used = [...picture.querySelectorAll("text, tspan")].map((text) => text.style.fontFamily || text.getAttribute("font-family")).join();
  const faces = [...document.styleSheets].flatMap(listFaces).filter((face) => used.includes(nameFamily(face)));
  const style = makeSvg("style", {});
  style.append((await Promise.all(faces.map(embedFace))).join("\n"));
  return style;
}

/** @param {CSSStyleSheet} sheet */
function listFaces(sheet) {
  try {
    return [...sheet.cssRules].filter((rule) => rule instanceof CSSFontFaceRule);
  } catch {
    return []; // of another site, not to be read
  }
}

/** @param {CSSFontFaceRule} face */
function nameFamily(face) {
  return face.style.getPropertyValue("font-family").replace(/["']/g, "");
}

/** @param {CSSFontFaceRule} face */
async function embedFace(face) {
  const [, address] = face.cssText.match(/url\("?([^")]+)"?\)/) ?? [];
  if (!address) return "";
  const answer = await fetch(new URL(address, face.parentStyleSheet?.href ?? location.href));
  return answer.ok ? face.cssText.replace(address, await readData(await answer.blob())) : "";
}

/** @param {Blob} blob */
export function readData(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}
