"""What the strip of What if offers beside its slider: how much around a number is changed, another value, rules."""

from __future__ import annotations

import math
from collections.abc import Mapping

import streamlit as st

from bertviz_core.analysis.what_if import list_scopes, offer_for_cell
from bertviz_core.formula.address import Address
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import state
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.what_if import SLID, add_changes, take_offer

_SCOPE, _NUMBER = Key("what-if-scope", ""), Key("what-if-number", 0.0)
_SLID_LAYER, _SLID_HEAD = Key("what-if-slid-layer", 0), Key("what-if-slid-head", 0)
_CHOICE_WIDTH = 104  # pixels, of a layer's and a head's choice


def show_fields(trace: Trace, place: Address) -> Address:
    """The fields for a place; gives the address that is to be changed, the place itself or what lies around it.

    Of a whole head another may be chosen; all its weights get one value from a cell of it.
    """
    where = place
    with st.container(key="what-if-fields", gap=None):
        with st.container(horizontal=True, vertical_alignment="bottom", key="what-if-values", wrap=False):
            if _is_head(place):
                _show_heads(trace, place)
            else:
                where = _show_value(trace, place)
        with st.container(horizontal=True, key="what-if-rules", wrap=False):
            for i, offer in enumerate(offer_for_cell(trace, place)):
                st.button(offer.label, key=f"what-if-rule-{i}", on_click=take_offer, args=(offer.changes,))
    return where


def _show_value(trace: Trace, place: Address) -> Address:
    """How much around a number is changed, and to what."""
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
    return where


def _is_cell(trace: Trace, place: Address) -> bool:
    return not trace.dims(place)


def _is_head(place: Address) -> bool:
    """Whether it is a whole head of one layer."""
    layer, head = place.layer, place.at.get("head")
    return layer is not None and head is not None and place == ATTENTION_WEIGHTS.in_layer(layer).fix(head=head)


def _show_heads(trace: Trace, place: Address) -> None:
    """Every layer and head, as the page that the strip lies on need not have a choice of them."""
    layer, head = _SLID_LAYER.of(place), _SLID_HEAD.of(place)
    config = trace.model.config
    for key, noun, count, now in (
        (layer, "Layer", config.num_hidden_layers, place.layer),
        (head, "Head", config.num_attention_heads, place.at["head"]),
    ):
        st.selectbox(
            f"{noun} that slides",
            range(count),
            index=now or 0,
            format_func=f"{noun} {{}}".format,
            key=key.name,
            on_change=_slide_head,
            args=(place, layer, head),
            label_visibility="collapsed",
            width=_CHOICE_WIDTH,
        )


def _slide_head(place: Address, layer: Key[int], head: Key[int]) -> None:
    state.write(SLID, str(place.move(state.read(layer), state.read(head))))


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
