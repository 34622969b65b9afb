// The pictures of the stops: each comes about in `time`, 0 to 1, from the numbers that the server worked out.

const STOP_PICTURES = [];

function drawStopPicture(canvas, sketch) {
  const { place, data, frame, player } = canvas;
  const stop = data.stops[place.stop - 1];
  const { x, w, a } = frame.parts.panel;
  const draw = STOP_PICTURES[place.stop];
  if (stop && draw && a > 0.6 && w > 120) draw(canvas, sketch, { x, w, y: 4, h: frame.top + frame.row * frame.count - 4 }, stop.worked, player.time);
}
