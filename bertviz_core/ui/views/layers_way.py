"""How far one token's vector moves: turn and length at every layer, drawn true to scale."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import streamlit as st

from bertviz_core.analysis import layers
from bertviz_core.formula.numbers import format_degrees, format_short
from bertviz_core.formula.steps import NORM, RESIDUAL
from bertviz_core.ui.frame.keys import LAYER
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import table_html
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.derived import Values, show_values
from bertviz_core.ui.panels.passes import show_passes_html, tell_words
from bertviz_core.ui.panels.pictures import write_picture
from bertviz_core.ui.views.layers_columns import STYLE, name_columns

_ALL, _LEAST, _MOST = 264, 24, 44  # pixels of all layers, and of one
_FLAT = 0.6  # part of the longest vector that has room upwards at least, so that none is too long for its row


def show_way(view: View) -> None:
    """Every layer's turn of the chosen token's vector, and its length, true to scale, a row a layer."""
    angles, lengths = _measure_way(view)
    heading = Heading("How far it turns", "to scale; grey: before, hue: after", _write_turn(view), "lengths")
    with open_card(view, NORM, heading, "every stage of the token's way", name="way") as tools:
        with tools:
            show_values(
                "way",
                Values(
                    np.stack([np.append(np.nan, angles), lengths]), ["turn in degrees", "length"], name_columns(view)
                ),
            )
        st.html(STYLE)
        show_passes_html(view, [_render_way(one, *_measure_way(one)) for one in view.passes])
        dashed = f"Dashed: before {view.outcome.yours}. " if _read_before(view, angles, lengths) else ""
        if told := f"{dashed}{tell_words(view)}".strip():
            st.caption(told)


def _write_turn(view: View) -> str:
    before, after = (
        rf"\textcolor{{{view.colors.kinds[kind]}}}{{X^{{({stage})}}}}"
        for kind, stage in ((RESIDUAL, "l"), (NORM, "l+1"))
    )
    return rf"\cos \theta = \cos({before}, {after})"


def _measure_way(view: View) -> tuple[np.ndarray, np.ndarray]:
    """How far every layer turns the chosen token's vector, in degrees, and its length at every stage."""
    states = layers.stack_vectors(view.trace)[:, view.chosen.token].astype(np.float64)
    return layers.compute_angles(states[1:], states[:-1]), layers.compute_norms(states)


def _read_before(view: View, angles: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Turns and lengths before the changes; None where that is not shown, or the same."""
    if view.ghost is None:
        return None
    before = _measure_way(view.unchanged)
    same = (np.array_equal(*each, equal_nan=True) for each in zip(before, (angles, lengths), strict=True))
    return None if all(same) else before


def _render_way(view: View, angles: np.ndarray, lengths: np.ndarray) -> str:
    high = max(_LEAST, min(_MOST, _ALL // len(angles)))
    was = _read_before(view, angles, lengths)
    ways = [(angles, lengths), *([was] if was else [])]
    scale = (high - 8) / (max(_reach_up(*way) for way in ways) or 1.0)
    rows: list[str] = []
    for layer in range(len(angles)):
        ends = [(float(long[layer + 1]) * scale, float(turns[layer])) for turns, long in ways]
        drawn = _draw_turn(view, float(lengths[layer]) * scale, ends, high)
        rows.append(_render_turn(view, layer, angles, lengths, drawn))
    table = table_html.write_table(table_html.write_heads(("layer", "to scale", "turn", "length")), rows)
    return table_html.write_region(
        "Turn and length by layer", f'<div style="--high:{high}px">{table}</div>', "bv-turns"
    )


def _reach_up(angles: np.ndarray, lengths: np.ndarray) -> float:
    """How high the highest tip lies above the vector before, or a part of how long the longest is if that is more."""
    tips = lengths[1:] * np.sin(np.radians(np.nan_to_num(angles)))
    return max(float(tips.max(initial=0.0)), float(lengths.max()) * _FLAT)


def _render_turn(view: View, layer: int, angles: np.ndarray, lengths: np.ndarray, drawn: str) -> str:
    """One layer, with its picture."""
    name = f'<button data-choose="{LAYER.name}={layer}"><span>layer </span>{layer}</button>'
    ends = "→".join(format_short(float(lengths[stage])) for stage in (layer, layer + 1))
    cells = table_html.write_cells((f'<img alt="" src="{drawn}">', format_degrees(float(angles[layer])), ends))
    return table_html.write_row(name, cells, "bv-at" if layer == view.chosen.layer else "")


def _draw_turn(view: View, before: float, ends: Sequence[tuple[float, float]], high: int) -> str:
    """Two vectors span a plane: there, both are drawn true. before: the length of the first in pixels; ends: the length
    and the turn in degrees of the second, then, dashed where it is another, of that before the changes."""
    kinds = view.colors.kinds
    tip, *others = (_find_tip(*end) for end in ends)
    ghosts = [other for other in others if other != tip]
    dashed = "".join(_draw_line(*ghost, kinds[NORM], "1.5", ' stroke-dasharray="3 2"') for ghost in ghosts)
    parts = f"{_draw_line(before, 0, kinds[RESIDUAL])}{dashed}{_draw_line(*tip, kinds[NORM])}"
    across = [0.0, before, *(x for x, _ in (tip, *ghosts))]
    left = -min(across)
    wide = math.ceil(left + max(across) + 6)
    return write_picture(wide, high - 2, f'<g transform="translate({left + 3:.1f} {high - 5})">{parts}</g>')


def _find_tip(length: float, angle: float) -> tuple[float, float]:
    """Where a vector ends that is turned by so many degrees, in pixels: upwards is less."""
    turn = math.radians(float(np.nan_to_num(angle)))
    return length * math.cos(turn), -length * math.sin(turn)


def _draw_line(x: float, y: float, color: str, wide: str = "2.5", dashes: str = "") -> str:
    return f'<path d="M0 0L{x:.1f} {y:.1f}" stroke="{color}" stroke-width="{wide}"{dashes}/>'
