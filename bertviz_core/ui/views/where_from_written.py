"""Who wrote a number: each head, each feed-forward block, the embeddings and the biases, which add up too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import streamlit as st

from bertviz_core.analysis.attribution import Question, name_rest
from bertviz_core.analysis.components import Components
from bertviz_core.analysis.digits import fit_sum
from bertviz_core.errors import InputError
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.written import draw_written, draw_written_blocks
from bertviz_core.formula.numbers import write_fixed
from bertviz_core.formula.steps import ATTENTION, EMBEDDING, FFN, RESIDUAL
from bertviz_core.formula.texts import write_count
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame import site
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.derived import Derived, Origin, Second, Values, derived
from bertviz_core.ui.views.where_from_question import name_kind, pick_part, read_question
from bertviz_core.ui.walk.origin import find_origins_of
from bertviz_core.ui.walk.worked_components import BLOCK, HEAD

_FORMULA = r"L = e + \sum_{l,h} a_{l,h} + \sum_l f_l + b"
_MEASURES = (
    "What a head itself carried to the {what}, but for its values’ bias, in this one pass. What the answer loses "
    "without the head, all its weights at 0, is another number: later layers then read something else too. So its "
    "strongest head may be another."
)
_SOURCE = "nostalgebraist 2020; Elhage et al. 2021"
_STYLE = read_css(Path(__file__).with_name("where_from.css"))


def show_written(view: View) -> None:
    """The card; nothing where the number cannot be taken apart, which the first card says."""
    question = read_question(view)
    try:
        found = [find_origins_of(one.trace, question).components for one in view.passes]
    except InputError:
        return
    if None in found:
        st.info("This program’s layers have no heads and feed-forward block to tell apart.", icon=":material/info:")
    else:
        _show(view, question)


def tell_measures(view: View) -> None:
    """What the card measures, and where another measure of heads is."""
    st.caption(_MEASURES.format(what=name_kind(read_question(view))))
    site.show_link(site.get_page("heads"), "Heads: the answer without each head")


@derived
def _show(view: View, question: Question) -> Derived:
    found = find_origins_of(view.trace, question).components
    assert found is not None
    heads = found.heads.sum(axis=-1)
    layers, blocks = range(len(heads)), pick_part(question, BLOCK, "layer={n}")
    return Derived(
        "written",
        "Who wrote it",
        draw_written(heads, pick_part(question, HEAD, "layer={y},head={x}"), view.colors),
        Origin(
            question.target,
            FFN,
            _FORMULA,
            "direct parts; they add up too",
            "",
            _SOURCE,
            "; ".join((pick_part(question, HEAD, "layer=*,head=*"), pick_part(question, BLOCK, "layer=*"))),
        ),
        values=Values(
            np.column_stack([heads, heads.sum(axis=1), found.blocks]),
            [f"layer {i}" for i in layers],
            [*(f"head {i}" for i in range(heads.shape[1])), "heads", "feed-forward"],
        ),
        table=_render_sum(found, view.colors),
        beside=Second(
            draw_written_blocks(found.blocks, blocks, view.colors, view.colors.cells[FFN]),
            "What each feed-forward block wrote",
        ),
        sides=(7, 4),
    )


def _render_sum(found: Components, colors: Palette) -> str:
    """The four sums as pieces of one bar, as wide as they are large, and as an equation; biases here are those of a
    block alone, not what became of them on their way."""
    told = "Biases and changed numbers" if found.changed else "Biases"
    pieces = {
        "embeddings": (found.embeddings, EMBEDDING),
        write_count(found.heads.shape[0] * found.heads.shape[1], "head"): (float(found.heads.sum()), ATTENTION),
        f"{len(found.blocks)} feed-forward": (float(found.blocks.sum()), FFN),
        name_rest(bool(found.changed)): (found.biases, RESIDUAL),
    }
    digits = fit_sum([amount for amount, _ in pieces.values()], found.total)
    bar = "".join(
        f'<i style="flex:{abs(amount):.6g} 0 0;--of:{colors.cells[kind]}"{" data-below" if amount < 0 else ""}></i>'
        for amount, kind in pieces.values()
    )
    terms = " + ".join(
        f'<b style="color:{colors.kinds[kind]}">{name}</b> {write_fixed(amount, digits.terms)}'
        for name, (amount, kind) in pieces.items()
    )
    return (
        f'{_STYLE}<div class="bv-fourfold" aria-hidden="true">{bar}</div><p class="bv-fourfold-sum">{terms} = '
        f"<b>{write_fixed(found.total, digits.total)}</b>. <span>{told} here are those added directly, those of "
        "values among them, so they are other than above.</span></p>"
    )
