"""What the strip of What if offers beside its slider: how much around a number is changed, another value, rules."""

from __future__ import annotations

import math
from collections.abc import Mapping

import streamlit as st

from bertviz_core.analysis.what_if import list_scopes, offer_for_cell
from bertviz_core.formula.address import Address
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import state
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.what_if import FROM_FRAGMENT, SLID, add_changes

_SCOPE, _NUMBER = Key("what-if-scope", ""), Key("what-if-number", 0.0)


def show_fields(trace: Trace, place: Address) -> Address:
    """The fields for a place; gives the address that is to be changed, the place itself or what lies around it."""
    with st.container(key="what-if-fields", gap=None):
        with st.container(horizontal=True, vertical_alignment="bottom", key="what-if-values", wrap=False):
            around = list_scopes(trace, place) if _is_cell(trace, place) else {}
            where = _show_scopes(around) if around else place
            value, number = float(trace[place]) if around else 0.0, _NUMBER.of(place)
            st.number_input(
                "to",
                value=value if math.isfinite(value) else 0.0,
                format="%.6g",
                step=None,
                label_visibility="collapsed",
                key=number.name,
            )
            st.button("Run with this value", key="what-if-run", on_click=_change, args=(around, place, number))
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


def _show_scopes(around: Mapping[str, Address]) -> Address:
    st.selectbox("Set", list(around), key=_SCOPE.name, label_visibility="collapsed")
    return _find_scope(around)


def _find_scope(around: Mapping[str, Address]) -> Address:
    """What is chosen of what lies around a number, at first that number itself."""
    return around.get(state.read(_SCOPE)) or next(iter(around.values()))


def _change(around: Mapping[str, Address], place: Address, number: Key[float]) -> None:
    """Take what the fields say now: who types and presses at once is ahead of what was drawn."""
    state.write(SLID, "")
    add_changes({_find_scope(around) if around else place: state.read(number)}, from_fragment=True)
