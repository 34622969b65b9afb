// What stands around the picture: the level with its headline, the readout, and on a phone the stages and levels.

const ICONS = { play: writeIcon("M2.5 1v10l8-5z"), pause: writeIcon("M2 1h3v10H2zM7 1h3v10H7z") };

class Chrome {
  constructor(canvas) {
    this.canvas = canvas;
    for (const name of ["crumbs", "title", "actions", "strip", "readout", "tabs", "live", "help", "quiet"]) {
      this[name] = canvas.root.querySelector(`.bvc-${name}`);
    }
    canvas.root.addEventListener("click", (event) => this.click(event));
  }

  style() {
    const { canvas: { root, colors, data } } = this;
    for (const name of ["text", "faint", "line", "surface", "accent", "first", "second", "paper"]) {
      root.style.setProperty(`--bvc-${name}`, colors[name]);
    }
    for (const kind of Object.keys(data.colors.kinds)) root.style.setProperty(`--bvc-${kind}`, colors.ink(kind));
  }

  // Buttons are made only where their words change: the one with the focus stays.
  draw() {
    const { canvas } = this;
    const { place } = canvas;
    canvas.root.dataset.level = place.level;
    canvas.root.dataset.stop = place.stop || "";
    this.write(this.crumbs, writeCrumbs(canvas));
    this.write(this.title, writeTitle(canvas));
    this.write(this.actions, writeActions(canvas));
    this.write(this.strip, writeStrip(canvas));
    this.write(this.tabs, writeTabs(canvas));
    this.strip.querySelector("[aria-pressed=true]")?.scrollIntoView({ block: "nearest", inline: "center" });
    canvas.player.show();
    this.read(canvas.hover?.stage ? canvas.hover : null, canvas.hover);
  }

  write(element, html) {
    if (element.written === html) return;
    const held = element.contains(document.activeElement) ? document.activeElement.dataset.does : null;
    element.innerHTML = element.written = html;
    if (held === null) return;
    const again = held && element.querySelector(`[data-does="${held}"]`);
    (again || this.canvas.stage).focus({ preventScroll: true });
  }

  // Buttons say what they do: data-does="NAME:VALUE".
  click({ target }) {
    const [name, value] = target.closest?.("[data-does]")?.dataset.does.split(/:(.*)/s) ?? [];
    const { canvas } = this;
    const does = {
      level: () => canvas.go({ level: value, stop: 0 }), group: () => this.choose(Number(value)), head: () => canvas.go(
        { head: Number(value) }
      ),
      play: () => canvas.player.toggle(), stop: () => canvas.player.goTo(Number(value)),
      speed: () => canvas.player.hurry(),
      end: () => canvas.player.end(), example: () => canvas.send("example", pickExample(canvas.data.examples[value])),
      quiet: () => this.hush(), component: () => canvas.go({ component: null }),
      close: () => this.hideHelp(), up: () => canvas.leave(),
    };
    does[name]?.();
  }

  // Draw the attention on special tokens, or leave it out.
  hush() {
    const { canvas } = this;
    canvas.quiet = !canvas.quiet;
    this.quiet.setAttribute("aria-checked", canvas.quiet);
    canvas.draw();
  }

  // The switch stands at the end of the legend, where there are ribbons from special tokens; on a phone over them.
  placeSwitch() {
    const { frame, data, place } = this.canvas;
    const ribbons = Object.entries(frame.parts).some(([part, { w }]) => part.startsWith("ribbons") && w > 8);
    this.quiet.hidden = !ribbons || Boolean(place.stop) || !data.tokens.some((token) => token.special);
    this.quiet.style.top = `${(frame.phone ? heading(this.canvas).y : legendLine(frame)) - 15}px`;
  }

  get switchWidth() {
    return this.quiet.hidden ? 0 : this.quiet.offsetWidth + 16;
  }

  choose(group) {
    const { canvas } = this;
    canvas.group = group;
    if (canvas.place.strip) return canvas.go({ strip: null });
    if (canvas.place.level === "pass" && !canvas.place.stop) {
      const layer = Math.max(0, Math.min(canvas.data.size.layers - 1, group - 1));
      if (layer !== canvas.place.layer) return canvas.go({ layer });
    }
    return canvas.refresh(true);
  }

  // On a phone: the next group of stages, or the one before; at a stop, the stop.
  turn(by) {
    const { canvas } = this;
    if (canvas.place.stop) return canvas.player.step(by);
    const groups = listGroups(canvas.survey());
    return this.choose(Math.max(0, Math.min(groups.length - 1, canvas.group + by)));
  }

  // The line under the picture: address, value, formula, from how many numbers, used by how many.
  read(target, pointed, more = "") {
    const { canvas } = this;
    const shown = target ?? this.readExplained();
    const hint = more && `<span>${more}</span>`;
    if (shown) return this.write(this.readout, writeReadout(canvas, shown) + hint);
    const idle = matchMedia("(hover: none)").matches ? "Tap any cell: its value and the formula that made it."
      : "Point at any cell: its address, its value and the formula that made it stand here.";
    return this.write(
      this.readout, `<span class="bvc-idle">${pointed ? tellPart(canvas, pointed) || idle : idle}</span>`
    );
  }

  readExplained() {
    const [found] = this.canvas.explained.cell ? this.canvas.stages.find(this.canvas.explained.cell) : [];
    return found ?? null;
  }

  say(text) {
    this.live.textContent = text;
  }

  showHelp() {
    const rows = KEYS.map(([keys, does]) => `<dt>${keys}</dt><dd>${does}</dd>`).join("");
    this.help.innerHTML = `<dl>${rows}</dl><button type="button" data-does="close">Close</button>`;
    this.help.showModal();
  }

  hideHelp() {
    const { open } = this.help;
    this.help.close();
    if (open) this.canvas.stage.focus({ preventScroll: true });
    return open;
  }
}

function writeIcon(path) {
  const size = 'width="12" height="12" viewBox="0 0 12 12"';
  return `<svg ${size} aria-hidden="true"><path d="${path}" fill="currentColor"/></svg>`;
}

function escapeHtml(text) {
  return String(text).replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);
}

function pickExample({ text, pair }) {
  return { text, pair };
}

function writeButton(does, words, more = "") {
  return `<button type="button" data-does="${escapeHtml(does)}" ${more}>${words}</button>`;
}

function writeCrumbs(canvas) {
  const { place } = canvas;
  if (place.stop) return `${writeButton("level:pass", "The whole pass")}<span>›</span><b>stop ${place.stop} of 9</b>`;
  const names = {
    pass: "The whole pass", layer: `Layer ${place.layer}`, head: `Head ${place.head}`,
    strip: place.strip && nameStage(stageOf(canvas, namePart(canvas, place.strip).part), canvas)[0],
  };
  const way = [...LEVELS.slice(0, LEVELS.indexOf(place.level) + 1), ...(place.strip ? ["strip"] : [])];
  const crumbs = way.map((level, i) => (i === way.length - 1 ? `<b aria-current="true">${names[level]}</b>`
    : writeButton(`level:${level}`, names[level]))).join("<span>›</span>");
  return crumbs + (place.component === null ? "" : writeComponent(place));
}

function tellFold({ place, frame, data }) {
  const total = data.size[place.strip === "neurons" ? "neurons" : "width"];
  const lines = frame?.lines > 1 ? `, line by line, ${writeCount(Math.ceil(total / frame.lines))} to a line` : "";
  return `All ${writeCount(total)} numbers of each token${lines}`;
}

// The chosen component, with which it is let go of.
function writeComponent({ component }) {
  const more = `class="bvc-component" aria-label="Component ${component}: let go of it"`;
  const name = '<span class="bvc-wide">component</span><span class="bvc-short">comp.</span>';
  return writeButton("component", `${name} ${component} <span aria-hidden="true">×</span>`, more);
}

function writeTitle(canvas) {
  const { place, data } = canvas;
  if (place.stop) return `<b>${escapeHtml(data.stops[place.stop - 1]?.title ?? "")}</b>`;
  if (place.level === "pass") return "";
  const { layer, head } = place;
  if (place.strip) return tellFold(canvas);
  if (place.level === "layer") {
    const found = joins(canvas, "sum") ? "adds what it found" : "keeps only what it found";
    return `<span class="bvc-wide">In layer ${layer} every</span><span class="bvc-short">Every</span> token looks around, ` +
      `${found}, then thinks<span class="bvc-wide"> for itself</span>`;
  }
  const name = `Head ${head} of layer ${layer}`;
  if (data.face === "difference") return `${name}: how its attention weights changed`;
  const most = findMost(canvas);
  if (!most) return name;
  const token = escapeHtml(canvas.token);
  if (!most.share) return `${name}: ${token} looks nowhere, all its attention weights are 0`;
  return `${name}: ${token} looks at <b class="bvc-kind-attention">“${escapeHtml(most.text)}”</b> with ` +
    `<b>${writePercent(most.share)}</b>`;
}

// Which token the chosen one looks at most, {text, share}; null where that is not known here.
function findMost(canvas) {
  const { data, place, at } = canvas;
  if (["layer", "head", "token"].every((name) => data.most[name] === place[name])) return data.most;
  const stage = stageOf(canvas, "matrix");
  if (!stage || !data.tokens[at] || data.tokens.length < data.window.total) return null;
  const weights = data.tokens.map((_, key) => readValue(stage, { row: at, key }));
  const share = Math.max(...weights);
  return { share, text: data.tokens[weights.indexOf(share)].text };
}

function writeActions(canvas) {
  const { data, place } = canvas;
  if (place.stop) return writeButton("end", "End the walk", 'class="bvc-button"');
  if (place.level === "head" && data.why) return `<span class="bvc-why">${escapeHtml(data.why)}</span>`;
  if (place.level !== "pass") return "";
  const others = data.examples.map((each, i) => ({ ...each, i })).filter(({ text }) => text !== data.sentence).slice(
    0, 3
  );
  const examples = others.map(({ name, text, pair, i }) => writeButton(`example:${i}`, escapeHtml(name),
    `class="bvc-example bvc-optional" title="${escapeHtml([text, pair].filter(Boolean).join(" / "))}"`));
  const show = `${ICONS.play}<span>Show me<span class="bvc-wide"> (2 min)</span></span>`;
  return writeButton("play", show, 'class="bvc-main"') +
    writeButton("", "Type your own", 'class="bvc-button bvc-optional" data-write') + examples.join("");
}

function writeStrip(canvas) {
  const { place, group, size, data } = canvas;
  if (innerWidth > PHONE || !size) return "";
  const write = (does, name, pressed) => writeButton(does, name, `aria-pressed="${pressed}" tabindex="${pressed - 1}"`);
  if (place.stop) return data.stops.map(({ name }, i) => write(`stop:${i + 1}`, name, place.stop === i + 1)).join("");
  const up = place.level === "pass" ? "" : writeButton("up", "‹ Up");
  return up + listGroups(canvas.survey()).map(([title], i) => {
    const pressed = group === i && !place.strip;
    const words = pressed ? title : title.replace("Layer ", "").replace("Embedding", "Embed"); // so that all fit
    return writeButton(`group:${i}`, words, `aria-label="${title}" aria-pressed="${pressed}" tabindex="${pressed - 1}"`);
  }).join("");
}

function writeTabs({ place }) {
  const tabs = [
    ["level:pass", "Pass", "pass"], ["level:layer", "Layer", "layer"], ["level:head", "Head", "head"],
    ["play", "Play", "play"],
  ];
  const now = place.stop ? "play" : place.level;
  const write = (does, name, pressed) => writeButton(does, name, `aria-pressed="${pressed}" tabindex="${pressed - 1}"`);
  return tabs.map(([does, name, is]) => write(does, name, is === now)).join("");
}

function writeReadout(canvas, { stage, where }) {
  const { data } = canvas;
  const value = readValue(stage, where);
  const mean = stage.size.length === 1;
  const sign = data.face === "difference" && value > 0 ? "+" : "";
  const face = data.changed && data.face !== "after" ? `<span class="bvc-count">${data.face}</span>` : "";
  const made = isPut(stage, where) ? "put there by a change"
    : `made from ${stage.from}${stage.used ? ` · used by ${stage.used}` : ""}`;
  return `<b class="bvc-value bvc-kind-${stage.kind}" data-value="${value}">${sign}${writeNumber(value)}</b>${face}` +
    `<span class="bvc-name">${escapeHtml(nameCell(canvas, stage, where))}</span><code class="bvc-address">${mean ? "" : escapeHtml(canvas.stages.write(stage, where))}</code>` +
    `<span class="bvc-formula">${isPut(stage, where) ? "" : stage.formula}</span><span class="bvc-count">${made}</span>`;
}

// What happens where the title of a strip is pressed.
function tellStrip(canvas, strip, press) {
  const { title, total } = stageOf(canvas, namePart(canvas, strip).part) ?? canvas.stages.get(strip);
  if (canvas.place.strip) return `${title}: all ${writeCount(total)} numbers of each token. ${press}: back.`;
  return `${title}. ${press}: all its ${writeCount(total)} numbers of each token.`;
}

// What stands under the pointer where that is no cell.
function tellPart(canvas, { part, layer, where, word, strip }) {
  const { data, stages } = canvas;
  if (strip) return tellStrip(canvas, strip, "Click");
  if (part === "words") {
    const best = wordOf(canvas, { where, word });
    const [said, at] = [best.word, data.tokens[where.row]?.text ?? canvas.place.token].map(escapeHtml);
    return `“${said}” at “${at}”: ${writePercent(best.share)}. Click it: its shortest story, back to the input.`;
  }
  if (layer === undefined) return "";
  const stage = stages.get(`ribbons.${layer}`);
  if (!part.startsWith("ribbons") || !stage) return `Layer ${layer}: click to open it.`;
  const token = escapeHtml(data.tokens[where.row].text);
  const weight = writePercent(readValue(stage, where));
  return `${escapeHtml(canvas.token)} looks at “${token}” with ${weight}: the mean of the ${data.size.heads} heads of ` +
    `layer ${layer}. Click: the layer opens, with each head's weight.`;
}

// What a cell is, in the words of the titles.
function nameCell({ data }, stage, { row, column, key, head }) {
  const of = (i) => `“${data.tokens[i].text}”`;
  const whose = [
    ...(stage.layer === null ? [] : [`layer ${stage.layer}`]), ...(head === undefined ? [] : [`head ${head}`]),
    key === undefined ? of(row) : `${of(row)} on ${of(key)}`,
    ...(column === undefined ? [] : [`${stage.kind === "ffn" ? "neuron" : "component"} ${stage.columns[column]}`]),
  ];
  return `${stage.title}: ${whose.join(", ")}`;
}
