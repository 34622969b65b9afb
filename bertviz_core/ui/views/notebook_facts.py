"""Sizes, settings, ids and texts that the documents print, each beside what the loaded model says."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from bertviz_core.analysis import notebook
from bertviz_core.analysis.facts import Checked, check_fact, needs_sentence
from bertviz_core.documents.printed import FACTS, OTHERS, Fact
from bertviz_core.formula.steps import RESIDUAL
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import table_html
from bertviz_core.ui.panels.card import open_card

_LONGEST = 60
_SAME = "✓"  # begins the verdict on what is as printed


def show_facts(view: View) -> None:
    """Everything that the notebook prints besides tensors."""
    facts = [Fact(_name_cell(fact.cell), fact.what, fact.printed, fact.of, fact.slip) for fact in FACTS]
    _render_facts(view, "Sizes, settings, ids and texts", "cell", facts, "the notebook (001)")


def count_same(view: View) -> tuple[int, int]:
    """How many of these the loaded model has as they are printed, and how many there are."""
    found = _check(view, FACTS)
    return sum(verdict.startswith(_SAME) for _, verdict in found), len(found)


def show_other_facts(view: View) -> None:
    """The sizes of BERT that other documents print."""
    _render_facts(
        view,
        "Sizes in the other documents",
        "document",
        OTHERS,
        "the forward-pass note (000), the formula post (003) and the encoder article (004)",
    )


def _name_cell(place: str) -> str:
    return f"In [{place}]" if place.isdigit() else place.replace("after ", "after In ").replace("before ", "before In ")


def _render_facts(view: View, see: str, where: str, facts: Sequence[Fact], of: str) -> None:
    typed = notebook.is_sentence(view.trace)
    found = _check(view, facts)
    same = sum(verdict.startswith(_SAME) for _, verdict in found)
    held = sum(needs_sentence(one.fact) for one, _ in found) if not typed else 0
    with open_card(view, RESIDUAL, see, f"from {of}"):
        heads = table_html.write_heads((where, "what", "printed", "this model", "verdict"))
        table = table_html.write_table(heads, map(_render_row, found))
        st.html(table_html.write_region(escape(see), table, "bv-table bv-facts"))
        for slip in dict.fromkeys(fact.slip for fact in facts if fact.slip):
            st.caption(f"An error in the document: {slip}")
        st.caption(
            f"{same} of {len(facts)} agree with this model. {_tell_held(held)}Sizes may differ if the loaded model is "
            "not BERT base. A dash: the forward pass of a trained model does not read it, or this model has no such "
            "part."
        )


def _check(view: View, facts: Sequence[Fact]) -> list[tuple[Checked, str]]:
    """Each beside what the loaded model says, with a verdict, "" where the sentence is another."""
    typed = notebook.is_sentence(view.trace)
    return [
        (one, "" if needs_sentence(one.fact) and not typed else _write_verdict(one))
        for one in (check_fact(view.trace, fact) for fact in facts)
    ]


def _tell_held(held: int) -> str:
    """How many are not compared, since they belong to the notebook's sentence and another is loaded."""
    if not held:
        return ""
    return f"Not compared, since they are those of the notebook's sentence: {held}. "


def _render_row(found: tuple[Checked, str]) -> str:
    one, verdict = found
    ours = "–" if one.ours is None else _tell_list(one.ours)
    cells = (one.fact.what, _tell_list(one.fact.printed), ours, verdict)
    return table_html.write_row(escape(one.fact.cell), table_html.write_cells(map(escape, cells)))


def _write_verdict(one: Checked) -> str:
    if one.fact.slip:
        return "✗ error"
    if one.ours is None:
        return ""
    return f"{_SAME} same" if one.same else "✗ differs"


def _tell_list(text: str) -> str:
    """A long list of names is told by its length."""
    names = text.split()
    if len(text) <= _LONGEST or text.startswith("["):
        return text
    return f"{names[0]} and {len(names) - 1} more"
