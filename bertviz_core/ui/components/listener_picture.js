// Charts taken away: as one SVG or PNG of a panel, with what is needed to find the numbers again printed below.

const SPACE = "http://www.w3.org/2000/svg";
const EDGE = 16, LINE = 18, SHARP = 2; // pixels around a picture and from line to line; PNG pixels a pixel
const LEAST_WIDTH = 480; // in which a caption can be read
const LETTERS = "13px sans-serif";

// The address of what is seen, with what decides about it where that is usual as well: elsewhere that may be other things.
function writeLink({ address }) {
  const link = new URL(location.href);
  if (address?.link) link.search = new URLSearchParams(address.link);
  return link.href;
}

async function savePicture(asked, kind, data) {
  const panel = asked.closest('[class*="st-key-panel-"]');
  const { address = "" } = asked.dataset;
  const title = asked.dataset.title ?? panel.querySelector(".bv-panel-title b, h1, h2, h3, h4")?.textContent ?? "";
  const { checkpoint = "", sentence = "" } = data.caption ?? {};
  const lines = [title, address, checkpoint, sentence, writeLink(data)].filter(Boolean);
  const picture = drawPicture(panel, lines, data.colors);
  picture.prepend(await embedFonts(picture));
  const svg = new Blob([new XMLSerializer().serializeToString(picture)], { type: "image/svg+xml" });
  const name = (address || title).replace(/[^\w.=-]+/g, "-").replace(/^-+|-+$/g, "") || "picture";
  download(kind === "png" ? await paint(svg, picture) : svg, `${name}.${kind}`);
}

// All charts of a panel that can be seen, as they stand to each other, over the lines of the caption.
function drawPicture(panel, lines, colors) {
  const charts = [...panel.querySelectorAll(".js-plotly-plot")].filter((chart) => chart.checkVisibility());
  const boxes = charts.map((chart) => chart.getBoundingClientRect());
  const [left, top] = [Math.min(...boxes.map((box) => box.left)), Math.min(...boxes.map((box) => box.top))];
  const [right, bottom] = [Math.max(...boxes.map((box) => box.right)), Math.max(...boxes.map((box) => box.bottom))];
  const width = Math.ceil(Math.max(right - left, LEAST_WIDTH)) + 2 * EDGE;
  const printed = lines.flatMap((line) => breakLine(line, width - 2 * EDGE));
  const under = Math.ceil(bottom - top) + 2 * EDGE;
  const height = under + printed.length * LINE + EDGE;
  const picture = draw("svg", { xmlns: SPACE, width, height, viewBox: `0 0 ${width} ${height}` });
  picture.append(draw("rect", { width: "100%", height: "100%", fill: colors.surface }));
  charts.forEach((chart, i) => {
    const { width, height } = boxes[i];
    picture.append(copyChart(chart, { x: boxes[i].left - left + EDGE, y: boxes[i].top - top + EDGE, width, height }));
  });
  printed.forEach((line, i) => {
    const text = draw("text", { x: EDGE, y: under + (i + 0.7) * LINE, fill: i ? colors.faint : colors.text });
    text.style.font = LETTERS;
    text.append(line);
    picture.append(text);
  });
  return picture;
}

// The layers of a chart, one over the other, without what only listens to the pointer.
function copyChart(chart, place) {
  const copy = draw("svg", place);
  for (const layer of chart.querySelectorAll(".main-svg")) {
    const clone = layer.cloneNode(true);
    for (const each of clone.querySelectorAll(".draglayer, .hoverlayer, .drag")) each.remove();
    clone.removeAttribute("style"); // its background is the page's
    clone.style.overflow = "visible";
    copy.append(clone);
  }
  copy.firstChild?.after(...listScenes(chart));
  return copy;
}

// What a chart draws in space, as pictures of how it is turned.
function listScenes({ _fullLayout: layout }) {
  const { l, t, w, h } = layout._size;
  return (layout._subplots.gl3d ?? []).map((name) => {
    const { domain: { x, y }, _scene: scene } = layout[name];
    return draw("image", {
      x: l + w * x[0], y: t + h * (1 - y[1]), width: w * (x[1] - x[0]), height: h * (y[1] - y[0]),
      preserveAspectRatio: "none", href: scene.toImage("png"),
    });
  });
}

// The fonts of the page that the texts of a picture are set in, as data: nothing is fetched where it is looked at.
async function embedFonts(picture) {
  const used = [...picture.querySelectorAll("text, tspan")].map((text) => text.style.fontFamily).join();
  const faces = [...document.styleSheets].flatMap(listFaces).filter((face) => used.includes(nameFamily(face)));
  const style = draw("style", {});
  style.append((await Promise.all(faces.map(embedFace))).join("\n"));
  return style;
}

function listFaces(sheet) {
  try {
    return [...sheet.cssRules].filter((rule) => rule instanceof CSSFontFaceRule);
  } catch {
    return []; // of another site, not to be read
  }
}

function nameFamily(face) {
  return face.style.getPropertyValue("font-family").replace(/["']/g, "");
}

async function embedFace(face) {
  const [, address] = face.cssText.match(/url\("?([^")]+)"?\)/) ?? [];
  if (!address) return "";
  const answer = await fetch(new URL(address, face.parentStyleSheet.href ?? location.href));
  return answer.ok ? face.cssText.replace(address, await readData(await answer.blob())) : "";
}

function readData(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}

async function paint(svg, picture) {
  const image = new Image();
  image.src = await readData(svg);
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = SHARP * picture.getAttribute("width");
  canvas.height = SHARP * picture.getAttribute("height");
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

// A line in pieces that are no wider than this: between words where it can be.
function breakLine(line, width) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = LETTERS;
  const lines = [""];
  const words = line.split(/(?<=\s)/).flatMap((word) => (pen.measureText(word).width > width ? [...word] : word));
  for (const word of words) {
    if (pen.measureText(lines.at(-1) + word.trimEnd()).width > width) lines.push("");
    lines[lines.length - 1] += word;
  }
  return lines;
}

function download(blob, name) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// Also on a page that was not sent by https, which has no clipboard.
async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const focus = document.activeElement;
  const field = Object.assign(document.createElement("textarea"), { value: text });
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
  focus?.focus({ preventScroll: true });
}

function draw(tag, attributes) {
  const made = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
