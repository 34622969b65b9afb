"""What the handout of the lesson on attention shows: the map of a head, and one row of it, worked out step by step."""

from __future__ import annotations

from bertviz_core.formula.numbers import format_percent, write_fixed
from bertviz_core.lessons.attention_keys import list_weighed
from bertviz_core.lessons.drawing import (
    BLOCK,
    LARGEST_MAP,
    Cell,
    choose_rows,
    draw_box,
    draw_cell,
    draw_picture,
    draw_text,
    isolate,
    tell_left_out,
    write_figure,
    write_label,
    write_table,
)
from bertviz_core.lessons.lesson import Picture
from bertviz_core.lessons.scene import Scene

_CELL, _LEFT, _RIGHT = 19, 76, 34  # pixels of the map
_TILTED = 5.1  # pixels that a letter of a tilted name is high
_TOLD = 0.0095  # a weight from which on its percentage is written into its cell


def draw_attention(scene: Scene) -> Picture:
    """The map, if there are few enough tokens, and the row's table with boxes for the weights that are asked about."""
    real, weighed = scene.trace.encoding.real, list_weighed(scene)
    row = scene.read_row("probs")
    figures = [write_figure("Attention weights", _draw_map(scene, real, weighed))] if len(real) <= LARGEST_MAP else []
    figures.append(write_figure(f"The row of {isolate(scene.here)}, step by step", _write_row(scene, real, weighed)))
    boxes = tuple(f"{scene.quote(key)}: {format_percent(float(row[key]))}" for key in weighed)
    return Picture("".join(figures), boxes)


def _draw_map(scene: Scene, real: tuple[int, ...], weighed: tuple[int, ...]) -> str:
    weights, count = scene.trace[scene.find_attention("probs")], len(real)
    names = [write_label(scene.tokens[i]) for i in real]
    top = 12 + _TILTED * max(map(len, names))
    parts: list[str] = []
    for i, query in enumerate(real):
        y, x = top + i * _CELL, _LEFT + i * _CELL + _CELL / 2
        name, here = names[i], query == scene.token
        looks = {"font_size": 12, "font_weight": 700 if here else 400}
        parts.append(draw_text(_LEFT - 6, y + 13.5, name, text_anchor="end", **looks))
        parts.append(draw_text(x, top - 5, name, transform=f"rotate(-45 {x:.1f} {top - 5})", font_size=12))
        for j, key in enumerate(real):
            weight = float(weights[query, key])
            told = here and key not in weighed and weight > _TOLD
            text = f"{100 * weight:.0f}" if told else ""
            parts.append(draw_cell(_LEFT + j * _CELL, y, _CELL, _CELL, weight, text))
    if scene.token in real:
        y = top + real.index(scene.token) * _CELL
        ring = {"fill": "none", "stroke": "#000", "stroke_width": 1.6}
        parts.append(draw_box(_LEFT - 1.5, y - 1.5, count * _CELL + 1.5, _CELL + 1.5, **ring))
    size = count * _CELL
    return draw_picture(_LEFT + size + _RIGHT, top + size + 2, "Attention weights", parts)


def _write_row(scene: Scene, real: tuple[int, ...], weighed: tuple[int, ...]) -> str:
    """Where it is long, without the dot products."""
    products, scores, row = (scene.read_row(leaf) for leaf in ("products", "scores", "probs"))
    chosen = choose_rows([float(scores[key]) for key in real], [real.index(key) for key in weighed])
    shown, first = [real[i] for i in chosen], int(len(chosen) > BLOCK)
    head = ("1 dot product", f"2 ÷ √{scene.model.config.head_dim}, 3 mask", "4 softmax")
    rows: list[list[Cell]] = []
    for key in shown:
        weight = None if key in weighed else format_percent(float(row[key]))
        cells = [write_fixed(float(products[key]), 2), write_fixed(float(scores[key]), 2), weight]
        rows.append([f"{key} {write_label(scene.tokens[key])}", *cells[first:]])
    note = tell_left_out(len(shown), len(real), "the largest scores, and those asked about")
    return write_table(("key", *head[first:]), rows, note)
