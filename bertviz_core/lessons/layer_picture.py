"""What the handout of the lesson on a layer shows: two arrows to be added, and what attention adds to each token."""

from __future__ import annotations

from math import cos, isfinite, radians, sin

from bertviz_core.formula.numbers import format_degrees, format_short, write_fixed
from bertviz_core.lessons.drawing import (
    draw_box,
    draw_line,
    draw_picture,
    draw_text,
    isolate,
    shade,
    write_figure,
    write_label,
)
from bertviz_core.lessons.layer_keys import is_short, measure_tokens, read_sum
from bertviz_core.lessons.lesson import Picture
from bertviz_core.lessons.scene import Scene

_WIDE, _HIGH, _EDGE = 330.0, 190.0, 34.0  # of the arrows
_LEFT, _BAR, _ROW = 80.0, 240.0, 15.5  # of the bars
_DARK, _PALE = shade(0.85), shade(0.35)
_UNITS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)


def draw_layer(scene: Scene) -> Picture:
    """The chosen token's vector and what attention adds to it, one arrow behind the other; and bars for all tokens."""
    was, added, total, angle = read_sum(scene)
    figures: list[str] = []
    boxes: tuple[str, ...] = ()
    if isfinite(angle):
        title = f"{isolate(scene.here)}: what was, and what is added"
        figures.append(write_figure(title, _draw_arrows(was, added, angle)))
        boxes = (f"the sum is {write_fixed(total, 2)} long",)
    if is_short(scene):
        figures.append(write_figure("Lengths, for all tokens", _draw_bars(scene)))
    return Picture("".join(figures), boxes)


def _draw_arrows(was: float, added: float, angle: float) -> str:
    """True to angle and length, with a measure for what is to be drawn."""
    turn = radians(angle)
    across, up = added * cos(turn), added * sin(turn)
    least, most = min(0.0, was + across), max(was, was + across)
    pixels = min((_WIDE - 2 * _EDGE) / (most - least), (_HIGH - 2 * _EDGE) / up if up else _WIDE)
    x, y = _EDGE - least * pixels, max(_EDGE + up * pixels, 60.0)
    middle, end = (x + was * pixels, y), (x + (was + across) * pixels, y - up * pixels)
    unit = max((each for each in _UNITS if each * pixels < _WIDE / 3), default=_UNITS[0])
    below = y + 34
    parts = [
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 10 5 0 10z"/></marker></defs>',
        draw_line(x, y, *middle, stroke_width=2.2, marker_end="url(#tip)"),
        draw_line(*middle, *end, stroke=_DARK, stroke_width=2.2, marker_end="url(#tip)"),
        draw_line(*middle, middle[0] + 40, y, stroke="#666", stroke_dasharray="3 3"),
        draw_text((x + middle[0]) / 2, y + 15, f"was {write_fixed(was, 2)}", font_size=12, text_anchor="middle"),
        draw_text(
            (middle[0] + end[0]) / 2, end[1] - 8, f"added {write_fixed(added, 2)}", font_size=12, text_anchor="middle"
        ),
        draw_text(middle[0] + 44, y + 4, format_degrees(angle), font_size=12),
        draw_line(_EDGE, below, _EDGE + unit * pixels, below),
        *(draw_line(at, below - 4, at, below + 4) for at in (_EDGE, _EDGE + unit * pixels)),
        draw_text(_EDGE + unit * pixels + 6, below + 4, f"= {format_short(unit)}", font_size=12),
    ]
    return draw_picture(_WIDE, below + 10, "Two arrows, one behind the other", parts)


def _draw_bars(scene: Scene) -> str:
    sums = measure_tokens(scene)
    pixels = _BAR / (float((sums.was + sums.added).max()) or 1.0)
    parts = [
        draw_box(_LEFT, 1, 11, 11, fill=_PALE),
        draw_text(_LEFT + 16, 11, "was", font_size=12),
        draw_box(_LEFT + 56, 1, 11, 11, fill=_DARK),
        draw_text(_LEFT + 72, 11, "added", font_size=12),
    ]
    for i, token in enumerate(scene.tokens):
        y, was, added = 18 + i * _ROW, float(sums.was[i]) * pixels, float(sums.added[i]) * pixels
        bold = 700 if i == scene.token else 400
        name = write_label(token)
        parts.append(draw_text(_LEFT - 6, y + 12, name, font_size=12, text_anchor="end", font_weight=bold))
        parts.append(draw_box(_LEFT, y, was, _ROW - 2.5, fill=_PALE))
        parts.append(draw_box(_LEFT + was, y, added, _ROW - 2.5, fill=_DARK))
    return draw_picture(_LEFT + _BAR + 4, 20 + len(scene.tokens) * _ROW, "What was there and what is added", parts)
