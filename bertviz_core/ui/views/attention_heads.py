"""All heads of a layer as small maps, each with what it is worth to the answer; a click chooses one."""

from __future__ import annotations

from html import escape
from pathlib import Path

import numpy as np
import streamlit as st

from bertviz_core.analysis.ablation import Ablation, cut_place
from bertviz_core.figures.thumbnails import draw_thumbnail
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.sharing.findings import Found
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame.findings import WAITS, show_finding, tell_progress
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.derived import show_values
from bertviz_core.ui.panels.passes import tell_pass
from bertviz_core.ui.views.heads import read_heads
from bertviz_core.ui.views.heads_ablation import ask_worth, measure_worth, tell_fall
from bertviz_core.ui.views.heads_numbers import make_values
from bertviz_core.ui.views.heads_worth import FORMULA, Worth, list_marks

_STYLE = read_css(Path(__file__).with_name("attention_heads.css"))
_SOURCE = "derived: one pass without each head"


def show_heads(view: View) -> None:
    """The chosen layer's heads, with what the answer's probability gains by each, as that becomes known."""
    st.html(_STYLE)
    asked = ask_worth(view)
    if asked is None:
        _show(view, None)
    else:
        show_finding("layer-worth", asked, lambda found: _show(view, found))


def _show(view: View, found: Found[Ablation] | None) -> None:
    layer, all_heads = view.chosen.layer, read_heads(view.trace)
    worth = None if found is None else measure_worth(view, all_heads, found)
    where = ATTENTION_WEIGHTS.in_layer(layer)
    heading = Heading(f"All {view.trace.model.config.num_attention_heads} heads of layer {layer}",
                      "a click chooses one" if worth is None else f"what {worth.name} gains by each, in {worth.unit}",
                      "" if worth is None else FORMULA, "" if worth is None else _SOURCE)  # fmt: skip
    with open_card(view, ATTENTION, heading, where, name="layer-heads") as tools:
        st.html(render_heads(view, all_heads.pictures[layer], worth))
        if found is not None and worth is not None:
            st.caption(_tell(view, found, worth))
            with tools:
                show_values("layer-worth", make_values(worth.of_heads))


def _tell(view: View, found: Found[Ablation], worth: Worth) -> str:
    """How far the passes are; when all are run, which head of all the answer needs most."""
    progress = tell_progress(found, "heads zeroed")
    if progress or found.value is None:
        return progress
    return f"{tell_pass(view)}Of all {worth.of_heads.size} heads: {tell_fall(found.value, cut_place(worth.name))}."


def render_heads(view: View, pictures: np.ndarray, worth: Worth | None) -> str:
    """A layer's heads as buttons. pictures: (head, query, key) shares from 0 to 255, several tokens in one where there
    are many; worth: what stands under each, if anything does."""
    layer, chosen = view.chosen.layer, view.chosen.head
    marks = None if worth is None else list_marks(worth, view.colors)[layer * len(pictures) :]
    rows = []
    for head, picture in enumerate(pictures):
        image = draw_thumbnail(picture / 255, view.colors, ATTENTION, share=True, end=1.0)
        mark, said = "", f"layer {layer}, head {head}"
        if worth is not None and marks is not None:
            told = marks[head]
            mark = f'<b style="background:{told["back"]};color:{told["ink"]}">{told["text"] or WAITS}</b>'
            said = ", ".join(filter(None, (said, worth.write_both(layer, head))))
        rows.append(
            f'<button data-head="{layer},{head}" aria-pressed="{str(head == chosen).lower()}" title="{escape(said)}" '
            f'aria-label="{escape(said)}"><img src="{image}" alt=""><span>{head}</span>{mark}</button>'
        )
    return (f'<div class="bv-layer-heads" role="group" aria-label="Heads of layer {layer}" data-picture>'
            f'{"".join(rows)}</div>')  # fmt: skip
