"""All heads of the chosen layer beside each other, as small maps; a click chooses one."""

from __future__ import annotations

from html import escape
from pathlib import Path

import numpy as np
import streamlit as st

from bertviz_core.analysis.heads import find_roles
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.thumbnails import draw_thumbnail
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.tracing.remember import remember
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.head_maps import describe_pooling, read_heads
from bertviz_core.ui.panels.panel import format_shape
from bertviz_core.ui.panels.passes import show_passes_html

_STYLE = read_css(Path(__file__).with_name("attention_heads.css"))


def show_heads(view: View) -> None:
    """The layer's attention maps, each on the scale of the large one."""
    address = ATTENTION_WEIGHTS.in_layer(view.chosen.layer)
    step = view.trace.step(address)
    count = view.trace.model.config.num_attention_heads
    heading = Heading(f"All {count} heads of layer {view.chosen.layer}", "the same map of each", view.typeset(step))
    st.html(_STYLE)
    with open_card(view, ATTENTION, heading, address, format_shape(view.trace, address), name="layer-heads"):
        show_passes_html(view, [_render_heads(one) for one in view.passes])
        told = "Padding is left out." if not all(view.trace.encoding.mask) else ""
        if told := f"{told}{describe_pooling(len(view.trace.encoding.real))}".strip():
            st.caption(told)


def _render_heads(view: View) -> str:
    layer, summary = view.chosen.layer, read_heads(view.trace)
    pictures = remember(
        view.trace,
        f"maps of layer {layer} as pictures on {view.colors.surface}",
        lambda: tuple(_draw_map(view.colors, picture) for picture in summary.pictures[layer]),
    )
    buttons = "".join(
        _render_head(view, head, picture, ", ".join(role.name for role in find_roles(summary.of(layer, head))))
        for head, picture in enumerate(pictures)
    )
    return f'<div class="bv-layer-heads" role="group" aria-label="Heads of layer {layer}">{buttons}</div>'


def _draw_map(colors: Palette, shares: np.ndarray) -> str:
    """A head's map. shares: (query, key) from 0 to 255, several tokens in one where there are many."""
    return draw_thumbnail(shares / 255, colors, ATTENTION, share=True, end=1.0)


def _render_head(view: View, head: int, image: str, roles: str) -> str:
    """One head's button. image: of its map."""
    chosen, said = str(head == view.chosen.head).lower(), escape(", ".join(filter(None, (f"head {head}", roles))))
    return (
        f'<button data-head="{view.chosen.layer},{head}" aria-pressed="{chosen}" aria-label="{said}" title="{said}">'
        f'<img src="{image}" alt="">{head}</button>'
    )
