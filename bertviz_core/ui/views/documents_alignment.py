"""Two programs side by side on screen: one entry a step, its formula in both, its shape, its place, its choices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import streamlit as st

from bertviz_core.analysis.alignment import Pair, align_programs, measure_difference
from bertviz_core.formula.notations import NOTATIONS
from bertviz_core.formula.numbers import format_number
from bertviz_core.formula.stages import Stage
from bertviz_core.formula.steps import Step
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame import style, url
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.panel import format_shape
from bertviz_core.ui.views.documents import AS_WRITTEN, NOTATION, Side

_STYLE = read_css(Path(__file__).with_name("documents_alignment.css"))
_ALL = "all"
_SIGNS = {"same": "= same", "different": "≠ different", "missing": "− missing", "extra": "+ extra"}
_GROUPS = ("Embeddings", "Layer", "The first layer again, cell by cell", "After the last layer")
_RELATION = Key("relation", _ALL)


def show_side_by_side(view: View, left: Side, right: Side) -> None:
    """Every step before, in and after the chosen layer, or those that stand in one relation."""
    st.html(_STYLE)
    layer = view.chosen.layer
    grouped = [
        (pair, group) for pair in align_programs(left.program, right.program) if (group := _find_group(pair, layer))
    ]
    count = Counter(pair.relation for pair, _ in grouped)
    url.bind(_RELATION, (_ALL, *_SIGNS))
    with st.container(horizontal=True):
        asked = st.segmented_control("Show", (_ALL, *_SIGNS), required=True, key=_RELATION.name, wrap=True)
        st.segmented_control("Formulas", (AS_WRITTEN, *NOTATIONS), required=True, key=NOTATION.name, wrap=True)
    told = ", ".join(f"{count[one]} {one}" for one in _SIGNS)
    st.caption(
        f"Steps before, in and after layer {layer}: {told}. Missing and extra refer to the {right.title}. "
        "Same means the same formula; its numbers still differ where its inputs differ."
    )
    for group in _GROUPS:
        rows = [pair for pair, own in grouped if own == group and asked in (_ALL, pair.relation)]
        if rows:
            _show(view, f"Layer {layer}" if group == "Layer" else group, rows, left, right)


def _find_group(pair: Pair, layer: int) -> str:
    """Where a step stands; nothing for those of other layers."""
    step = pair.step
    if step.layer is not None:
        return "Layer" if step.layer == layer else ""
    if step.repeats:
        return _GROUPS[2] if layer == 0 else ""
    return _GROUPS[0] if step.stage is Stage.EMBEDDINGS else _GROUPS[3]


def _show(view: View, title: str, rows: Sequence[Pair], left: Side, right: Side) -> None:
    with st.container(border=True, key=f"pairs-{rows[0].address}"):
        st.markdown(f"## {title}")
        st.markdown("\n".join(_write_entry(view, pair, left, right) for pair in rows))


def _write_entry(view: View, pair: Pair, left: Side, right: Side) -> str:
    trace = (right if pair.right else left).trace
    head = f"- **{_SIGNS[pair.relation]}** &ensp; `{pair.address}` :small[{format_shape(trace, pair.address)}]"
    told = " ".join(filter(None, (_write_reads(pair), _write_apart(pair, left, right))))
    lines = [f"{head}  \n  :small[{told}]" if told else head]
    return "\n".join(
        [*lines, *(_write_formula(view, side, step) for side, step in ((left, pair.left), (right, pair.right)))]
    )


def _write_reads(pair: Pair) -> str:
    """What only one of two different formulas reads."""
    parts = ((pair.lacks, "Does not read"), (pair.adds, "Also reads"))
    return " ".join(f"{verb} {', '.join(f'`{leaf}`' for leaf in leaves)}." for leaves, verb in parts if leaves)


def _write_apart(pair: Pair, left: Side, right: Side) -> str:
    """How far apart the two results are; scores over the vocabulary are told by the words they choose."""
    if not (pair.left and pair.right) or left.name == right.name or "vocab" in pair.left.dims:
        return ""
    if not np.issubdtype(right.trace[pair.address].dtype, np.floating):
        return ""
    largest = measure_difference(left.trace, right.trace, pair.address)
    told = f"Largest difference on this sentence: {format_number(largest)}."
    return f"{told} {_write_why(pair, left, right)}" if pair.relation == "same" and largest else told


def _write_why(pair: Pair, left: Side, right: Side) -> str:
    """Why the same formula gives other numbers: what it reads is another."""
    assert pair.left
    both = (leaf.address for leaf in pair.left.leaves if leaf.address in right.program.by_address)
    apart = [leaf for leaf in both if measure_difference(left.trace, right.trace, leaf)]
    named = ", ".join(f"`{leaf}`" for leaf in apart)
    return f"The formula is the same, what it reads is not: {named}." if apart else ""


def _write_formula(view: View, side: Side, step: Step | None) -> str:
    if step is None:
        return f"  - :gray[{side.title}]  \n    –"
    formula = step.typeset(style.make_painter(view.colors), side.notation)
    choice = f"  \n    :small[{escape_markdown(step.choice)}]" if step.choice else ""
    return (
        f"  - :gray[{side.title}]  \n    $\\displaystyle {formula}$  \n"
        f"    :small[{step.meaning} :gray[{step.source}]]{choice}"
    )
