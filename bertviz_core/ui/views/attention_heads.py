"""All heads of the chosen layer beside each other, as small maps with what each is worth; a click chooses one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from pathlib import Path

import numpy as np
import streamlit as st

from bertviz_core.analysis.ablation import Ablation, cut_place, find_outcomes
from bertviz_core.analysis.heads import find_roles
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.thumbnails import draw_thumbnail
from bertviz_core.formula.address import Address
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.sharing.findings import Found
from bertviz_core.tracing.remember import remember
from bertviz_core.tracing.store import is_long
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame.findings import WAITS, show_finding
from bertviz_core.ui.frame.labels import tell_left_out
from bertviz_core.ui.frame.needed import ask_worth
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.head_maps import describe_pooling, read_heads
from bertviz_core.ui.panels.panel import format_shape
from bertviz_core.ui.panels.passes import show_passes_html
from bertviz_core.ui.panels.worth import Worth, find_base
from bertviz_core.ui.views.attention_row import is_square

_STYLE = read_css(Path(__file__).with_name("attention_heads.css"))


def show_heads(view: View) -> None:
    """The layer's attention maps, each on the scale of the large one, and what each head is worth to the answer."""
    address = ATTENTION_WEIGHTS.in_layer(view.chosen.layer)
    count = view.trace.model.config.num_attention_heads
    base = find_base(view)
    alone = not view.outcome.compared and not is_long(len(view.trace.tokens))
    asked = ask_worth(base, view.chosen.token) if alone else None
    outcomes = find_outcomes(base, view.chosen.token)
    zeroed = "" if base is view.trace else " where none is zeroed"
    says = (
        "the same map of each"
        if asked is None
        else f"below each, what it is worth to {cut_place(next(iter(outcomes)))}{zeroed}"
    )
    heading = Heading(f"All {count} heads of layer {view.chosen.layer}", says)
    st.html(_STYLE)
    with open_card(view, ATTENTION, heading, address, format_shape(view.trace, address), name="layer-heads"):
        if asked is None and (drawn := _draw_differences(view)):
            st.html(f"{_render_maps(view, drawn)}<p>after − before</p>")
        elif asked is None:
            show_passes_html(view, [_render_heads(one) for one in view.passes])
        else:
            show_finding("layer-worth", asked, partial(_draw_worth, view, outcomes))
        if told := f"{tell_left_out(view.trace)}{describe_pooling(len(view.trace.encoding.real))}".strip():
            st.caption(told)


def _draw_worth(view: View, outcomes: Mapping[str, Address], found: Found[Ablation]) -> None:
    """The maps with a place for what each is worth, and below them in which unit that is."""
    worth = Worth(found.value, outcomes, 0, read_heads(view.trace), (view.chosen.layer, view.chosen.head))
    unit = WAITS if worth.found is None else f"in {worth.unit}"
    st.html(f"{_render_heads(view, worth)}<p>{unit}</p>")


def _draw_differences(view: View) -> list[str]:
    """Of two passes, the maps of the one after less those before, all on one scale; none of other maps than these."""
    passes = [read_heads(one.trace).pictures[view.chosen.layer] for one in view.passes]
    if len(passes) < 2 or passes[0].shape != passes[1].shape:
        return []
    before, after = (np.asarray(maps, dtype=np.float64) / 255 for maps in passes)
    end = float(np.abs(after - before).max()) or 1.0
    return [draw_thumbnail(one, view.colors, ATTENTION, end=end) for one in after - before]


def _render_heads(view: View, worth: Worth | None = None) -> str:
    pictures = remember(
        view.trace,
        f"maps of layer {view.chosen.layer} as pictures on {view.colors.surface}",
        lambda: tuple(_draw_map(view.colors, one) for one in read_heads(view.trace).pictures[view.chosen.layer]),
    )
    return _render_maps(view, pictures, worth)


def _render_maps(view: View, pictures: Sequence[str], worth: Worth | None = None) -> str:
    """The heads as buttons. pictures: of each one's map."""
    layer, summary = view.chosen.layer, read_heads(view.trace)
    buttons = "".join(
        _render_head(view, head, picture, [role.name for role in find_roles(summary.of(layer, head))], worth)
        for head, picture in enumerate(pictures)
    )
    kind = "bv-layer-heads" + " bv-worths" * bool(worth) + " bv-six" * is_square(view)
    return f'<div class="{kind}" role="group" aria-label="Heads of layer {layer}">{buttons}</div>'


def _draw_map(colors: Palette, shares: np.ndarray) -> str:
    """A head's map. shares: (query, key) from 0 to 255, several tokens in one where there are many."""
    return draw_thumbnail(shares / 255, colors, ATTENTION, share=True, end=1.0)


def _render_head(view: View, head: int, image: str, roles: Sequence[str], worth: Worth | None) -> str:
    """One head's button. image: of its map; worth: has a place also while it is not known."""
    told = _tell_worth(worth, view.chosen.layer, head) if worth else ("", "")
    chosen = str(head == view.chosen.head).lower()
    said = escape(", ".join(filter(None, (f"head {head}", *roles, told[1]))))
    below = f"<small>{told[0]}</small>" if worth else ""
    return (
        f'<button data-head="{view.chosen.layer},{head}" aria-pressed="{chosen}" aria-label="{said}" title="{said}">'
        f'<img src="{image}" alt="">{head}{below}</button>'
    )


def _tell_worth(worth: Worth, layer: int, head: int) -> tuple[str, str]:
    """What a head is worth, in short and in words; of what is not known yet, nothing in words."""
    one = float(worth.of_heads[layer, head])
    if np.isnan(one):
        return WAITS.strip(), ""
    text = worth.write(one)
    return text, f"worth {text} {worth.unit}"
