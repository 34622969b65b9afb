// What draws on a canvas: it keeps what was drawn, in order.

const DRAWN = ["fillRect", "roundRect", "rect", "drawImage", "strokeRect", "putImageData"];

class Pen {
  font = "";
  globalAlpha = 1;
  drawn = [];

  // Half a font's size wide a letter.
  measureText(text) {
    return { width: (parseFloat(/[\d.]+px/.exec(this.font)[0]) / 2) * String(text).length };
  }

  clearRect() {
    this.drawn = [];
  }

  // Turned and scaled; of what was drawn before it nothing is left.
  setTransform(...given) {
    this.drawn = [];
    this.turned = given;
  }

  save() {}
  restore() {}
  beginPath() {}
  fill() {}
  clip() {}
}

// Of another canvas the image that was put on it last.
function copy(given) {
  return given?.pen ? given.pen.drawn.at(-1)?.given[0] ?? null : given;
}

export function openPen() {
  const pen = new Pen();
  for (const does of DRAWN) pen[does] = (...given) => pen.drawn.push({ does, given: given.map(copy), color: pen.fillStyle, depth: pen.globalAlpha });
  return pen;
}
