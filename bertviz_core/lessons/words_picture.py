"""What the handout of the lesson on words shows: a logit to be added up, and what leads at each visible token."""

from __future__ import annotations

from bertviz_core.formula.numbers import format_percent, write_fixed
from bertviz_core.lessons.drawing import (
    BLOCK,
    choose_rows,
    draw_box,
    draw_line,
    draw_picture,
    draw_text,
    isolate,
    shade,
    tell_left_out,
    write_figure,
    write_label,
    write_table,
)
from bertviz_core.lessons.lesson import Picture
from bertviz_core.lessons.scene import Scene
from bertviz_core.lessons.words_keys import (
    find_top,
    find_visible,
    has_predictions,
    measure_sure,
    quote_entry,
    read_parts,
)

_LEFT, _BAR, _HIGH, _NUMBER = 104.0, 150.0, 26.0, 70.0
_PARTS = ("above 0", "below 0", "bias")


def draw_words(scene: Scene) -> Picture:
    """The three parts of the first word's logit, with a box for their sum; and a table of the visible tokens."""
    if not has_predictions(scene):
        return Picture("")
    parts = read_parts(scene)
    figures = [
        write_figure(
            f"The logit of {isolate(quote_entry(scene, find_top(scene)))}, from three numbers", _draw_parts(parts)
        )
    ]
    if find_visible(scene):
        wide = len(find_visible(scene)) > BLOCK
        figures.append(write_figure("At each visible token: the first word", _write_visible(scene), wide))
    return Picture("".join(figures), (f"the logit is {write_fixed(sum(parts), 2)}",))


def _draw_parts(parts: tuple[float, float, float]) -> str:
    """Bars to the right of a line and to its left, each from where the one before ended."""
    ends = [0.0, parts[0], parts[0] + parts[1], sum(parts)]
    low, high = min(ends), max(ends)
    pixels = _BAR / ((high - low) or 1.0)
    zero = _LEFT - low * pixels
    drawn = [draw_line(zero, 0, zero, 4 * _HIGH, stroke="#888", stroke_dasharray="3 3")]
    for i, (name, value) in enumerate(zip(_PARTS, parts, strict=True)):
        begin, end = sorted((ends[i], ends[i + 1]))
        y = i * _HIGH + 4
        width = max(1.0, (end - begin) * pixels)
        drawn.append(draw_text(0, y + 13, name, font_size=12))
        drawn.append(draw_box(_LEFT + (begin - low) * pixels, y, width, _HIGH - 8, fill=shade(0.8 if i == 0 else 0.4)))
        right = _LEFT + _BAR + _NUMBER
        drawn.append(draw_text(right, y + 13, write_fixed(value, 4), font_size=12, text_anchor="end"))
    y = len(parts) * _HIGH + 4
    drawn.append(draw_text(0, y + 13, "logit", font_size=12, font_weight=700))
    drawn.append(draw_box(_LEFT + _BAR + 10, y - 2, _NUMBER - 8, _HIGH - 4, fill="none", stroke="#000"))
    return draw_picture(_LEFT + _BAR + _NUMBER + 4, y + _HIGH, "Three numbers, and an empty box for their sum", drawn)


def _write_visible(scene: Scene) -> str:
    sure = measure_sure(scene)
    visible = [*sure]
    shown = [visible[i] for i in choose_rows([-sure[token] for token in visible])]
    rows = [
        (
            f"{token} {write_label(scene.tokens[token])}",
            write_label(scene.name_top(token)),
            format_percent(sure[token]),
        )
        for token in shown
    ]
    return write_table(("token", "first word", "has"), rows, tell_left_out(len(shown), len(visible), "the least"))
