// Pointing and clicking. What is pointed at is {part, where?, stage?, layer?, word?}, `where` as in
// canvas_data.js.

const FINGER = 40; // pixels
const STORY = 10000; // milliseconds that the way to a story may take

function listenToPointer(canvas, signal) {
  const { stage, root } = canvas;
  const on = (name, act, more) => stage.addEventListener(name, act, { signal, ...more });
  on("pointermove", (event) => event.pointerType !== "touch" && point(canvas, event));
  on("pointerleave", ({ pointerType }) => pointerType !== "touch" && unpoint(canvas));
  on("click", (event) => press(canvas, event));
  on("wheel", (event) => roll(canvas, event), { passive: false });
  document.addEventListener("pointerover", ({ target }) => {
    const token = target.closest?.("[data-token]")?.dataset.token;
    if (!root.contains(target)) {
      pointAtRow(
        canvas, token === undefined ? null : Number(token) - canvas.data.window.start
      );
    }
  }, { signal });
}

function point(canvas, event) {
  const found = findAt(canvas, event);
  if (isSameTarget(found, canvas.hover)) return;
  canvas.hover = found;
  canvas.stage.style.cursor = found && found.part !== "row" ? "pointer" : "default";
  lightRow(canvas, found?.where?.row ?? null, found?.where?.key);
  canvas.chrome.read(found?.stage ? found : null, found);
  if (!canvas.moving) canvas.draw();
}

function unpoint(canvas) {
  canvas.hover = null;
  lightRow(canvas, null);
  canvas.chrome.read(null);
  canvas.draw();
}

// A row of the picture lights its token on the whole page, and the other way round; a weight also its key's.
function lightRow(canvas, row, key = row) {
  canvas.pointed = row;
  const { start } = canvas.data.window;
  const detail = row === null ? null : { row: row + start, key: key + start };
  canvas.root.dispatchEvent(new CustomEvent("bv-pointed", { bubbles: true, detail }));
}

function pointAtRow(canvas, row) {
  const inside = row !== null && row >= 0 && row < canvas.data.tokens.length ? row : null;
  if (inside === canvas.pointed) return;
  canvas.pointed = inside;
  canvas.draw();
}

function isSameTarget(one, other) {
  return JSON.stringify(nameTarget(one)) === JSON.stringify(nameTarget(other));
}

function nameTarget(target) {
  return target && [target.part, target.where, target.layer, target.word, target.strip];
}

// What stands at a point of the window.
function findAt(canvas, event) {
  const { x, y } = locate(canvas, event);
  return canvas.frame ? findTarget(canvas, x, y) : null;
}

function findTarget(canvas, x, y) {
  const { frame, place, data } = canvas;
  const row = Math.floor(frame.first + (y - frame.top) / frame.row);
  const under = ([, each]) => each.a > 0.5 && each.w > 1 && x >= each.x - 2 && x <= each.x + each.w + 2;
  const [part, box] = Object.entries(frame.parts).find(under) ?? [];
  const inside = y >= frame.top && row < Math.min(data.tokens.length, frame.first + frame.count);
  if (part === "weights") return findHead(canvas, x, y);
  if (!inside) return y < frame.top && !place.stop ? findTitle(canvas, part, x) : null;
  if (!part || part === "panel" || part === "collect") return { part: "row", where: { row } };
  if (part === "tokens") return { part, where: { row } };
  if (part === "words") return { part, ...findWord(canvas, x, y, row) };
  if (part.startsWith("ribbons")) return { part, layer: Number(part.split(".")[1]), where: { row } };
  return findCell(canvas, part, box, { row, x, y });
}

function findCell(canvas, part, box, { row, x, y }) {
  const stage = stageOf(canvas, part);
  if (!stage) return { part: "row", where: { row } };
  const { frame } = canvas;
  const inside = Math.max(0, Math.min(0.9999, (x - box.x) / box.w));
  if (part === "matrix") return { part, stage, where: { row, key: Math.floor(frame.first + inside * frame.count) } };
  const column = layStrip(canvas, part, stage, box).find(row, x, y);
  return column === undefined ? { part: "row", where: { row } } : { part, stage, where: { row, column } };
}

function findHead(canvas, x, y) {
  const { frame, data } = canvas;
  const stage = stageOf(canvas, "weights");
  const head = headBoxes(canvas).findIndex(
    (box) => x >= box.x - 4 && x <= box.x + box.size + 4 && y >= box.y - TITLE && y <= box.y + box.size + 4
  );
  if (head < 0 || !stage) return null;
  const { x: left, y: top, size } = headBoxes(canvas)[head];
  const place = (far) => Math.max(
    0, Math.min(data.tokens.length - 1, Math.floor(frame.first + (far / size) * frame.count))
  );
  return { part: "weights", stage, where: { head, row: place(y - top), key: place(x - left) } };
}

// Over the rows: of the pass a layer, of a layer the title of a strip that can be seen whole.
function findTitle(canvas, part, x) {
  if (canvas.place.level === "pass") return findBlock(canvas, x);
  const strip = canvas.place.level === "layer" && part && canvas.frame.parts[part].w > 24 && findStrip(canvas, part);
  return strip ? { part, strip } : null;
}

function findBlock({ frame, data }, x) {
  for (let layer = 0; layer < data.size.layers; layer++) {
    const [from, to] = [frame.parts[`ribbons.${layer}`], frame.parts[`output.${layer}`]];
    if (from.a > 0.5 && x >= from.x && x <= to.x + to.w) return { part: `layer.${layer}`, layer };
  }
  return null;
}

function findWord(canvas, x, y, row) {
  const card = cardBox(canvas);
  const word = Math.floor((y - card.y - 8) / WORD_LINE);
  const within = x >= card.x && word >= 0 && word < canvas.data.words.best.length;
  return within ? { word, where: { row: canvas.at } } : { where: { row } };
}

// A touch on a cell that is smaller than a finger first chooses it, a second one explains it.
function press(canvas, event) {
  if (event.target.closest("[data-does]")) return;
  const found = findAt(canvas, event);
  const box = found?.stage && found.part !== "weights" ? cellBox(canvas, found.part, found.where) : null;
  if (canvas.looked) return void (canvas.looked = false); // the finger looked through the loupe
  const small = box && Math.min(box.w, box.h) < FINGER && !findSpine(canvas, found.part);
  if (event.pointerType !== "touch" || !small || isSameTarget(found, canvas.hover)) return act(canvas, found);
  canvas.hover = found;
  lightRow(canvas, found.where.row);
  canvas.chrome.read(found, found, "tap again: how it was made");
  return canvas.draw();
}

// What a click does: a layer opens, a head opens, a cell is explained, a word's story is told, a token is chosen.
function act(canvas, found) {
  if (!found) return;
  const { place, data } = canvas;
  const { part, where, stage, strip } = found;
  const layer = found.layer ?? findSpine(canvas, part);
  if (strip) canvas.go({ strip: place.strip ? null : strip });
  else if (part === "row" || part === "tokens") canvas.go({ token: where.row + data.window.start });
  else if (part === "words") tellStory(canvas, found);
  else if (layer !== null && layer !== undefined) canvas.go({
    level: place.level === "pass" ? "layer" : place.level, layer,
  });
  else if (part === "weights") canvas.go({ level: "head", head: where.head });
  else if (stage) explainCell(canvas, stage, where);
}

// The layer whose output is drawn as a thin spine, in a level that is about another layer.
function findSpine({ place, frame }, part) {
  const layer = /^output\.(\d+)$/.exec(part)?.[1];
  const spine = layer !== undefined && place.level !== "pass" && frame.parts[part].w <= 24;
  return spine && Number(layer) !== place.layer ? Number(layer) : null;
}

// The likeliest word of a row, or one of the five of the chosen one. {word, share, address}
function wordOf({ data: { words } }, { word, where }) {
  return word === undefined ? words.top[where.row] : words.best[word];
}

// The page of the shortest story takes the place of this one: by a link, which the server makes when it is asked. Each
// step waits for the answer to the one before: a page that is left half-way would not know what was chosen in it.
function tellStory(canvas, found) {
  canvas.player.pause();
  canvas.flush();
  const asked = { token: found.where.row + canvas.data.window.start, id: wordOf(canvas, found).id };
  const app = canvas.root.closest(".stApp");
  const findLink = () => app.dataset.testScriptState !== "running" && app.querySelector(".st-key-canvas-story a");
  waitFor(canvas, () => !canvas.isWaiting, () => {
    canvas.send("story", asked);
    waitFor(canvas, findLink, (link) => link.click());
  });
}

// Act once something is found, unless the picture has gone by then or it takes too long.
function waitFor(canvas, find, act, until = performance.now() + STORY) {
  const found = canvas.stopped && find();
  if (found) return void act(found);
  if (canvas.stopped && performance.now() < until) requestAnimationFrame(() => waitFor(canvas, find, act, until));
}

// The page's listener opens the drawer, and brings the focus back here when it is closed.
// It says which cell, and with it a component of the residual stream: that needs no message of its own.
function explainCell(canvas, stage, where) {
  canvas.player.pause();
  const ask = canvas.root.querySelector(".bvc-ask");
  ask.dataset.cell = canvas.stages.write(stage, where);
  ask.click();
  if (isOfStream(canvas, stage)) canvas.go({ component: stage.columns[where.column] }, false);
}

// A wheel over the rows moves the window where not all of them are seen.
function roll(canvas, event) {
  const { frame, data } = canvas;
  const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
  if (!frame || data.window.total <= frame.count || event.ctrlKey || sideways) return;
  event.preventDefault();
  canvas.turned = (canvas.turned ?? 0) + event.deltaY / frame.row;
  const by = Math.trunc(canvas.turned);
  canvas.turned -= by;
  if (by) moveWindow(canvas, (canvas.wanted ?? data.window.start + canvas.first) + by);
}
