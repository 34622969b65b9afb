"""What the handout of the lesson on changes shows: what each head is worth to the first word."""

from __future__ import annotations

from bertviz_core.lessons.drawing import WIDTH, draw_cell, draw_picture, draw_text, isolate, write_figure
from bertviz_core.lessons.lesson import Picture
from bertviz_core.lessons.scene import Scene
from bertviz_core.lessons.whatif_keys import find_top, has_needed, measure_heads, write_points
from bertviz_core.lessons.words_keys import quote_entry

_LEFT, _TOP, _HIGH = 58, 18, 24
_LEGIBLE = 34  # pixels of a cell in which a number can be read


def draw_whatif(scene: Scene) -> Picture:
    """A cell for each head, the darker the more the word loses without it; nothing where no head is needed."""
    if not has_needed(scene):
        return Picture("")
    word = isolate(quote_entry(scene, find_top(scene)))
    title = f"What each head is worth to {word} at {isolate(scene.here)}, in points: with it, minus without it"
    return Picture(write_figure(title, _draw_heads(scene), wide=True))


def _draw_heads(scene: Scene) -> str:
    losses = measure_heads(scene)
    layers, heads = losses.shape
    width, most = (WIDTH - _LEFT) / heads, float(losses.max())
    high = _HIGH if layers <= 12 else 13
    parts = [draw_text(_LEFT - 8, _TOP - 5, "head", font_size=12, text_anchor="end")]
    for head in range(heads):
        x = _LEFT + head * width + width / 2
        parts.append(draw_text(x, _TOP - 5, str(head), font_size=12, text_anchor="middle"))
    for layer in range(layers):
        y = _TOP + layer * high
        parts.append(draw_text(0, y + high / 2 + 4, f"layer {layer}", font_size=12))
        for head in range(heads):
            loss = float(losses[layer, head])
            text = write_points(loss) if width >= _LEGIBLE and high == _HIGH else "–" if loss < 0 else ""
            parts.append(draw_cell(_LEFT + head * width, y, width, high, max(0.0, loss / most), text, size=11))
    return draw_picture(WIDTH, _TOP + layers * high + 2, "What each head is worth", parts)
