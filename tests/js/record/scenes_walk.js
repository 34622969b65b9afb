// Scenes of the walk: every stop as its picture comes about, with other numbers, on a phone.

import { MOTION } from "../../../bertviz_core/ui/components/canvas/reading.js";

const STOPS = MOTION.map((_, i) => i + 1);
const MOMENTS = [0.1, 0.45]; // as parts of the time that a picture takes to come about
const PRESSED = [4, 6];
/** @type {Record<string, { stops: number[], scene: object }>} where stops are other ones */
const OTHERS = {
  "with changes": { stops: [1, 2, 5, 6], scene: { pass: "changed" } },
  "with other rules": { stops: [8, 9], scene: { pass: "rules" } },
  "with numbers put in their place": { stops: [2, 4, 7, 8, 9, 10], scene: { pass: "put" } },
  "of a long sentence": { stops: [1, 2, 4, 5, 6, 7, 10], scene: { pass: "long" } },
  narrow: { stops: [5, 8, 9], scene: { size: "narrow" } },
  "on a phone": { stops: STOPS, scene: { size: "phone" } },
};

// A stop that is gone to, and seen a part of its time later.
function goTo(stop, part) {
  return (visit) => {
    visit.press(`stop:${stop}`);
    visit.skip(500); // the way there
    visit.skip(part * MOTION[stop - 1] * 1000 - 500);
  };
}

/** @returns {import("./scenes.js").Scene[]} */
function listStop(stop) {
  const place = { stop };
  return [
    { name: "as it ends", like: "canvas-walk: it plays", place, presses: PRESSED.includes(stop) ? "acts" : "words" },
    ...MOMENTS.map((part) => ({ name: `after ${part} of its time`, rests: false, does: goTo(stop, part) })),
    { name: "a step before its end", place, does: (visit) => visit.type("Shift ArrowLeft") },
    ...Object.entries(OTHERS).filter(([, { stops }]) => stops.includes(stop)).map(([name, { scene }]) => ({ name, ...scene, place })),
  ];
}

// What the walk does by itself and by hand.
/** @type {import("./scenes.js").Scene[]} */
const PLAYED = [
  { name: "it plays", does: (visit) => visit.press("play") },
  { name: "it plays on", does: (visit) => {
    visit.press("play");
    visit.skip(9000);
  } },
  { name: "it goes on to the second stop", does: (visit) => {
    visit.press("play");
    visit.skip(60000);
    visit.skip(400);
  } },
  { name: "it goes on to the last stop", like: "canvas-stop-10: as it ends", place: { stop: 9 }, does: (visit) => {
    visit.press("play");
    visit.skip(60000);
    visit.skip(400);
  } },
  { name: "it waits while it is pointed at", does: (visit) => {
    visit.press("play");
    visit.canvas.stage.send("pointerenter");
    visit.point([500, 300]);
    visit.skip(60000);
  } },
  { name: "it pauses", does: (visit) => {
    visit.press("play");
    visit.skip(3000);
    visit.press("play");
    visit.wait(200);
  }, presses: "acts" },
  { name: "twice as fast", does: (visit) => {
    visit.press("play");
    visit.press("speed");
    visit.skip(1000);
  } },
  { name: "step by step", like: "canvas-stop-6: as it ends", place: { stop: 6 }, does: (visit) => {
    visit.enter();
    visit.type("Shift ArrowLeft", "Shift ArrowLeft");
  } },
  { name: "a word of the sentence is pointed at", like: "canvas-stop-3: as it ends", place: { stop: 3 }, does: (visit) => visit.find("[data-part]").send("pointerover") },
  { name: "it is over", like: "canvas-stop-10: as it ends", place: { stop: 10 }, does: (visit) => {
    visit.press("play");
    visit.skip(500);
  } },
];

/** @type {Record<string, import("./scenes.js").Scene[]>} */
export const WALK = { "canvas-walk": PLAYED, ...Object.fromEntries(STOPS.map((stop) => [`canvas-stop-${stop}`, listStop(stop)])) };
