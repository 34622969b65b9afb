"""All heads at once: read once a trace, drawn as one map to choose from."""

from __future__ import annotations

import json
import time

import numpy as np
import streamlit as st

from bertviz_core.analysis.heads import Summary, find_roles, summarize
from bertviz_core.formula.numbers import format_number
from bertviz_core.tracing.remember import remember
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.components import list_colors, load_component
from bertviz_core.ui.frame import state
from bertviz_core.ui.frame.view import View

PICTURE = 32  # cells along one side of a head's small picture, at most
_SLOW_S = 0.5

_map = load_component("head_map")


def read_heads(trace: Trace) -> Summary:
    """All heads of a trace, read once for all sessions; with a progress bar where that takes long."""
    return remember(trace, "heads", lambda: _read(trace))


def _read(trace: Trace) -> Summary:
    slot, start, layers = st.empty(), time.monotonic(), trace.model.config.num_hidden_layers

    def done(layer: int) -> None:
        if time.monotonic() - start > _SLOW_S:
            slot.progress((layer + 1) / layers, f"Reading the heads of layer {layer} …")

    found = summarize(trace, PICTURE, done)
    slot.empty()
    return found


def show_head_map(view: View, all_heads: Summary) -> None:
    """Every head's attention as a small picture; choosing one sets layer and head for all pages."""
    layers, heads, size, _ = all_heads.pictures.shape
    header = {
        "shape": [layers, heads, size],
        "chosen": [view.chosen.layer, view.chosen.head],
        "notes": [_list_notes(all_heads, layer, head) for layer in range(layers) for head in range(heads)],
        "scale": view.colors.share,
        "colors": list_colors(view.colors),
    }
    text = json.dumps(header).encode()
    _map(
        key="head-map",
        data=len(text).to_bytes(4, "little") + text + all_heads.pictures.tobytes(),
        on_head_change=_choose_head,
    )
    st.caption(
        "Rows of the map are layers, columns are heads. In each picture rows are queries and columns are keys, in "
        "sentence order; a stronger colour is a larger attention weight. Choose a head with a click, or with the arrow "
        f"keys and Enter; the menus Layer and Head above do the same.{_describe_pooling(all_heads.tokens)}"
    )


def _describe_pooling(tokens: int) -> str:
    if tokens <= PICTURE:
        return ""
    most = -(-tokens // PICTURE)
    side = f"{most}" if tokens % PICTURE == 0 else f"{most - 1} to {most}"
    return (
        f" For {tokens} tokens a cell combines {side} neighbouring queries and keys: their attention weights, "
        "summed over the keys and averaged over the queries. The lines and the matrix below show single tokens."
    )


def _list_notes(all_heads: Summary, layer: int, head: int) -> list[str]:
    numbers = all_heads.of(layer, head)
    return [
        ", ".join(role.name for role in find_roles(numbers)) or "no role",
        f"entropy {format_number(numbers['entropy'])} of {format_number(float(np.log2(all_heads.tokens)))} bits",
        f"mean distance {numbers['distance']:.1f} tokens",
    ]


def _choose_head() -> None:
    state.choose_head(*state.read_event("head-map", "head"))
