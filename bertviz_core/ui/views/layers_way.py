"""How far one token's vector moves: turn and length at every layer, drawn true to scale."""

from __future__ import annotations

import math

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
        if told := tell_words(view):
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


def _render_way(view: View, angles: np.ndarray, lengths: np.ndarray) -> str:
    high = max(_LEAST, min(_MOST, _ALL // len(angles)))
    scale = (high - 8) / (_reach_up(angles, lengths) or 1.0)
    rows = (
        _render_turn(
            view, layer, before * scale, after * scale, angle, high, f"{format_short(before)}→{format_short(after)}"
        )
        for layer, (before, after, angle) in enumerate(
            zip(lengths[:-1].tolist(), lengths[1:].tolist(), angles.tolist(), strict=True)
        )
    )
    table = table_html.write_table(table_html.write_heads(("layer", "to scale", "turn", "length")), rows)
    return table_html.write_region(
        "Turn and length by layer", f'<div style="--high:{high}px">{table}</div>', "bv-turns"
    )


def _reach_up(angles: np.ndarray, lengths: np.ndarray) -> float:
    """How high the highest tip lies above the vector before, or a part of how long the longest is if that is more."""
    tips = lengths[1:] * np.sin(np.radians(np.nan_to_num(angles)))
    return max(float(tips.max(initial=0.0)), float(lengths.max()) * _FLAT)


def _render_turn(view: View, layer: int, before: float, after: float, angle: float, high: int, lengths: str) -> str:
    """One layer. before, after: lengths in pixels."""
    name = f'<button data-choose="{LAYER.name}={layer}"><span>layer </span>{layer}</button>'
    picture = f'<img alt="" src="{_draw_turn(view, before, after, float(np.nan_to_num(angle)), high)}">'
    cells = table_html.write_cells((picture, format_degrees(angle), lengths))
    return table_html.write_row(name, cells, "bv-at" if layer == view.chosen.layer else "")


def _draw_turn(view: View, before: float, after: float, angle: float, high: int) -> str:
    """Two vectors span a plane: there, both are drawn true."""
    turn, kinds = math.radians(angle), view.colors.kinds
    x, y = after * math.cos(turn), -after * math.sin(turn)
    left = max(0.0, -x)
    parts = _draw_line(before, 0, kinds[RESIDUAL]) + _draw_line(x, y, kinds[NORM])
    wide = math.ceil(left + max(before, x) + 6)
    return write_picture(wide, high - 2, f'<g transform="translate({left + 3:.1f} {high - 5})">{parts}</g>')


def _draw_line(x: float, y: float, color: str) -> str:
    return f'<path d="M0 0L{x:.1f} {y:.1f}" stroke="{color}" stroke-width="2.5"/>'
