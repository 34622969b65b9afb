"""What if one explained number were different: the menu in its explanation, and what changes already did to it."""

from __future__ import annotations

import math

import streamlit as st

from bertviz_core.analysis.what_if import Offer, list_scopes, offer_for_cell
from bertviz_core.formula.explain import Explanation
from bertviz_core.formula.numbers import format_number
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.frame.what_if import FROM_FRAGMENT, add_changes


def describe_change(view: View, why: Explanation) -> str:
    """The number in the pass without changes and in the one with them, if there are any."""
    found = view.outcome
    if not found.changed:
        return ""
    before, after = (float(trace[why.cell]) for trace in (found.before, found.after))
    return f"before {format_number(before)}, after {format_number(after)}, difference {format_number(after - before)}"


def show_menu(view: View, why: Explanation) -> None:
    """Another value for the explained number or for what lies around it, and the rules that fit its step."""
    if why.cell.path in view.trace.model.parameters:
        return
    around = list_scopes(view.trace, why.cell)
    with st.popover("Change this number", key="what-if-cell"):
        scope = st.selectbox("Set", list(around), key="what-if-scope") or next(iter(around))
        number = st.number_input(
            "to",
            value=why.value if math.isfinite(why.value) else 0.0,
            format="%.6g",
            step=None,
            key=f"what-if-number-{why.address}",
        )
        st.button("Run with this value", key="what-if-run", on_click=add_changes,
                  args=({around[scope]: number},), kwargs=FROM_FRAGMENT)  # fmt: skip
        _show_offers(offer_for_cell(view.trace, why.cell))
        st.caption("The forward pass runs again from there on. Every page lists the change until you undo it.")


def _show_offers(offers: list[Offer]) -> None:
    with st.container(horizontal=True):
        for i, offer in enumerate(offers):
            st.button(
                offer.label,
                key=f"what-if-rule-{i}",
                on_click=add_changes,
                args=(offer.changes,),
                kwargs=FROM_FRAGMENT,
            )
