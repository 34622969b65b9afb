"""The steps in which two programs differ, by the stage they belong to, each stage with a link to its page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import streamlit as st

from bertviz_core.analysis.alignment import Pair, align_programs, measure_scores
from bertviz_core.formula.address import Address
from bertviz_core.formula.notations import Notation
from bertviz_core.formula.numbers import format_number
from bertviz_core.formula.stages import Stage
from bertviz_core.formula.steps import PREDICTION, Step
from bertviz_core.programs.bert import SEGMENT_IDS
from bertviz_core.ui.frame import site, style
from bertviz_core.ui.frame.resources import get_store
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import open_card
from bertviz_core.ui.views.documents import Side, list_sides


def show_differences(view: View, left: Side, right: Side) -> None:
    """Both formulas of every step that differs, of the layers in the chosen one; what only one of the two has."""
    layer = view.chosen.layer
    pairs = [
        pair
        for pair in align_programs(left.program, right.program)
        if pair.relation != "same" and pair.step.layer in (None, layer) and not pair.step.repeats
    ]
    stages: dict[Stage, list[Pair]] = {}
    for pair in pairs:
        stages.setdefault(pair.step.stage, []).append(pair)
    both = f"{left.title} and {right.title}, layer {layer}"
    with open_card(view, PREDICTION, "The steps that differ", both):
        if not stages:
            st.markdown("None: the two describe one forward pass.")
        for stage in sorted(stages, key=list(Stage).index):
            with st.container(key=f"differ-{stage.name.lower()}", gap=None):
                site.show_link(site.find_page(stage), stage.title)
                st.markdown(_write_stage(view, stages[stage], left, right))
        for side in list_sides(left, right):
            if side.document:
                about = f"**{side.title}**: {side.document.what} {side.document.differs}"
                st.caption(f"{about} {_tell_segments(view, side)}")


def _tell_segments(view: View, side: Side) -> str:
    """What it changes that a document gives both sentences of a pair segment 0; nothing where it does not."""
    program = side.program
    looked_up = "embeddings.token_type_embeddings" in program.by_address and "token_type_ids" not in program.leaves
    if not (looked_up and any(view.trace.encoding.segments)):
        return ""
    told = "**Your input is a pair, and it gives both sentences segment 0.**"
    trace, store = view.trace, get_store()
    real, zero = (
        store.get(trace.model, view.text, view.pair, len(trace.tokens), view.masked, changes=changes)
        for changes in (None, {Address(SEGMENT_IDS.address): 0.0})
    )
    apart = measure_scores(real, zero)
    if apart is None:
        return told
    words = f"gives another best word at {apart.changed} of {apart.tokens} tokens"
    if not apart.changed:
        words = "changes no token's best word"
    return f"{told} In BERT that alone moves a logit by up to {format_number(apart.largest)}, and {words}."


def _write_stage(view: View, pairs: Sequence[Pair], left: Side, right: Side) -> str:
    changed = [pair for pair in pairs if pair.left and pair.right]
    head = f"| step | {left.title} | {right.title} |\n|---|---|---|"
    rows = [
        f"| `{_drop_layer(pair.address)}` | {_typeset(view, left.notation, pair.left)} "
        f"| {_typeset(view, right.notation, pair.right)} |"
        for pair in changed
    ]
    only = {
        left: [pair.address for pair in pairs if pair.right is None],
        right: [pair.address for pair in pairs if pair.left is None],
    }
    return "\n\n".join(filter(None, ["\n".join([head, *rows]) if rows else "", _write_only(only)]))


def _write_only(only: Mapping[Side, Sequence[str]]) -> str:
    """What only one of the two has; of a LayerNorm, which has steps inside, the whole."""
    return " &ensp; ".join(
        f"Only in {'the ' if side.document else ''}{side.title}: "
        f"{', '.join(f'`{_drop_layer(one)}`' for one in _drop_inner(addresses))}."
        for side, addresses in only.items()
        if addresses
    )


def _drop_inner(addresses: Sequence[str]) -> Iterable[str]:
    return (one for one in addresses if one.rpartition(".")[0] not in addresses)


def _drop_layer(address: str) -> str:
    """Without the layer, which is the chosen one."""
    return Address(address).leaf


def _typeset(view: View, notation: Notation, step: Step | None) -> str:
    """A formula that can stand in a table of Markdown."""
    if step is None:
        return "–"
    formula = step.typeset(style.make_painter(view.colors), notation)
    return f"${formula}$".replace("|", r"\vert ")
