"""How far one token's vector moves: turn and length at every layer, drawn true to scale."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import streamlit as st

from bertviz_core.analysis import layers
from bertviz_core.analysis.claims import Part, Said, say_largest
from bertviz_core.formula.numbers import format_degrees, format_short
from bertviz_core.formula.steps import EMBEDDING, NORM, RESIDUAL
from bertviz_core.formula.texts import name_token
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import table_html
from bertviz_core.ui.panels.card import open_card
from bertviz_core.ui.panels.derived import Values, show_values
from bertviz_core.ui.panels.passes import show_passes_html, tell_words
from bertviz_core.ui.panels.pictures import write_picture
from bertviz_core.ui.panels.said import tell_degrees
from bertviz_core.ui.views.layers_columns import STYLE, name_columns, render_row, render_stages


def show_way(view: View) -> None:
    """Every layer's turn of the chosen token's vector, and its length, true to scale, in the ladder's columns."""
    token, (angles, lengths) = view.chosen.token, _measure_way(view)
    see = "How far the vector moves"
    with open_card(view, NORM, see, "every stage of the token's way") as tools:
        with tools:
            show_values("way", Values(np.stack([np.append(np.nan, angles), lengths]), ["turn in degrees", "length"],
                                      name_columns(view)))  # fmt: skip
        st.html(STYLE)
        show_passes_html(view, [_render_way(one, *_measure_way(one)) for one in view.passes])
        st.caption(
            f"{tell_words(view)}"
            f"At {escape_markdown(name_token(view.trace.tokens, token))}: angles and lengths are true and on one "
            "scale. Flat: before the layer; coloured: after it; dashed: the change. "
            f"{tell_most(view)}"
        )  # fmt: skip


def tell_most(view: View) -> Said:
    """Which layer turns the chosen token's vector most."""
    angles = np.nan_to_num(_measure_way(view)[0])
    most = int(angles.argmax())
    parts = {"angle": tell_degrees(angles[most]), "layer": Part(most)}
    return say_largest(
        ("layer that turns most", "Layer {layer} turns it most, by {angle}."),
        ("no layer turns more", "No layer turns it more than layer {layer}, by {angle}."),
        parts,
        angles,
        (most,),
    )


def _measure_way(view: View) -> tuple[np.ndarray, np.ndarray]:
    """How far every layer turns the chosen token's vector, in degrees, and its length at every stage."""
    states = layers.stack_vectors(view.trace)[:, view.chosen.token].astype(np.float64)
    return layers.compute_angles(states[1:], states[:-1]), layers.compute_norms(states)


def _render_way(view: View, angles: np.ndarray, lengths: np.ndarray) -> str:
    turns = ["", *map(format_degrees, angles.tolist())]
    scale = 92 / (float(lengths.max()) or 1.0)
    first = _draw_arrow(0, 0, float(lengths[0]) * scale, 0, view.colors.kinds[EMBEDDING])
    pictures = [write_picture(116, 76, f'<g transform="translate(12 66)">{first}</g>')]
    for before, after, angle in zip(lengths[:-1], lengths[1:], angles, strict=True):
        pictures.append(_draw_turn(view, float(before) * scale, float(after) * scale, float(np.nan_to_num(angle))))
    sizes = [
        format_short(float(lengths[0])),
        *(f"{format_short(a)} → <b>{format_short(b)}</b>" for a, b in pairwise(lengths.tolist())),
    ]
    drawn = [f'<img alt="" src="{picture}">' for picture in pictures]
    rows = (("turn", turns), ("to scale", drawn), ("length", sizes))
    table = render_stages(view, "measure", (render_row(view, name, cells) for name, cells in rows))
    inside = f'<div style="--stages:{len(lengths)}">{table}</div>'
    return table_html.write_region("Turn and length by stage", inside, "bv-ladder bv-turns")


def _draw_turn(view: View, before: float, after: float, angle: float) -> str:
    """Two vectors span a plane: there, both are drawn true, with the change between their tips."""
    turn, kinds = math.radians(angle), view.colors.kinds
    x, y = after * math.cos(turn), -after * math.sin(turn)
    change = f'<path d="M{before:.1f} 0L{x:.1f} {y:.1f}" stroke="{kinds[RESIDUAL]}" stroke-dasharray="2 3"/>'
    parts = change + _draw_arrow(0, 0, before, 0, kinds[RESIDUAL]) + _draw_arrow(0, 0, x, y, kinds[NORM])
    return write_picture(116, 76, f'<g transform="translate({12 + max(0.0, -x):.1f} 66)">{parts}</g>')


def _draw_arrow(x: float, y: float, to_x: float, to_y: float, color: str) -> str:
    length, turn = math.hypot(to_x - x, to_y - y), math.degrees(math.atan2(to_y - y, to_x - x))
    size = min(7.0, length)
    return (
        f'<g transform="translate({x:.1f} {y:.1f}) rotate({turn:.1f})"><path d="M0 0H{length - size:.1f}" '
        f'stroke="{color}" stroke-width="2.2"/><path d="M{length:.1f} 0l{-size} -{size / 2}v{size}z" fill="{color}" '
        f'stroke="none"/></g>'
    )
