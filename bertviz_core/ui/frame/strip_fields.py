"""What the strip of What if offers beside its slider: how much around a number is changed, another value, rules."""

from __future__ import annotations

import math

import streamlit as st

from bertviz_core.analysis.what_if import list_scopes, offer_for_cell
from bertviz_core.formula.address import Address
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import state
from bertviz_core.ui.frame.what_if import FROM_FRAGMENT, SLID, add_changes


def show_fields(trace: Trace, place: Address) -> Address:
    """The fields for a place; gives the address that is to be changed, the place itself or what lies around it."""
    with st.container(key="what-if-fields", gap=None):
        with st.container(horizontal=True, vertical_alignment="bottom", key="what-if-values", wrap=False):
            where = _show_scopes(trace, place) if _is_cell(trace, place) else place
            value = float(trace[place]) if _is_cell(trace, place) else 0.0
            number = st.number_input(
                "to",
                value=value if math.isfinite(value) else 0.0,
                format="%.6g",
                step=None,
                label_visibility="collapsed",
                key=f"what-if-number-{place}",
            )
            st.button("Run with this value", key="what-if-run", on_click=_change, args=(where, number))
        with st.container(horizontal=True, key="what-if-rules", wrap=False):
            for i, offer in enumerate(offer_for_cell(trace, place)):
                st.button(
                    offer.label,
                    key=f"what-if-rule-{i}",
                    on_click=add_changes,
                    args=(offer.changes,),
                    kwargs=FROM_FRAGMENT,
                )
    return where


def _is_cell(trace: Trace, place: Address) -> bool:
    return not trace.dims(place)


def _show_scopes(trace: Trace, place: Address) -> Address:
    around = list_scopes(trace, place)
    scope = st.selectbox("Set", list(around), key="what-if-scope", label_visibility="collapsed")
    return around[scope or next(iter(around))]


def _change(where: Address, number: float) -> None:
    state.write(SLID, "")
    add_changes({where: number}, from_fragment=True)
