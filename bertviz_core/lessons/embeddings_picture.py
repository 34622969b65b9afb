"""What the handout of the lesson on embeddings shows: three rows of a token, to be added."""

from __future__ import annotations

import numpy as np

from bertviz_core.analysis.ranking import rank_top
from bertviz_core.formula.numbers import format_number
from bertviz_core.lessons.drawing import WIDTH, draw_box, draw_cell, draw_picture, draw_text, isolate, write_figure
from bertviz_core.lessons.embeddings_keys import find_component, read_rows
from bertviz_core.lessons.lesson import Picture
from bertviz_core.lessons.scene import Scene

_COLUMNS, _LEFT, _TOP, _HIGH = 8, 92, 18, 26
_ROWS = ("word", "position", "segment", "sum")


def draw_embeddings(scene: Scene) -> Picture:
    """The three rows at those components where their sum is largest in size, with boxes for the sums."""
    rows = read_rows(scene)
    sums = rows.sum(axis=0)
    asked = find_component(scene)
    components = sorted({asked, *rank_top(np.abs(sums), _COLUMNS)})
    title = f"The three rows of {isolate(scene.here)}, where their sum is largest in size"
    body = _draw_rows(rows, components, asked)
    note = "<p>The darker a cell, the larger its number in size. Fill in the sums.</p>"
    boxes = tuple(f"component {i}: {format_number(float(sums[i]))}" for i in components)
    return Picture(write_figure(title, body + note, wide=True), boxes)


def _draw_rows(rows: np.ndarray, components: list[int], most: int) -> str:
    width, largest = (WIDTH - _LEFT) / len(components), float(np.abs(rows[:, components]).max()) or 1.0
    parts = [draw_text(0, _TOP - 5, "component", font_size=12)]
    for i, name in enumerate(_ROWS):
        bold = 700 if i == len(rows) else 400
        parts.append(draw_text(0, _TOP + i * _HIGH + 17, name, font_size=12, font_weight=bold))
    for column, component in enumerate(components):
        x, bold = _LEFT + column * width, 700 if component == most else 400
        center = x + width / 2
        parts.append(draw_text(center, _TOP - 5, str(component), text_anchor="middle", font_size=12, font_weight=bold))
        for i, value in enumerate(rows[:, component].tolist()):
            part = abs(value) / largest
            parts.append(draw_cell(x, _TOP + i * _HIGH, width, _HIGH, part, format_number(value)))
        box = {"fill": "none", "stroke": "#000", "stroke_width": 1.6 if component == most else 0.7}
        parts.append(draw_box(x + 1, _TOP + len(rows) * _HIGH + 1, width - 3, _HIGH - 2, **box))
    return draw_picture(WIDTH, _TOP + len(_ROWS) * _HIGH + 2, "Three rows, and empty boxes for their sum", parts)
