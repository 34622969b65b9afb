"""All heads of a trace, read once for all sessions: what several pages show of them."""

from __future__ import annotations

import time

from streamlit.delta_generator import DeltaGenerator

from bertviz_core.analysis.heads import Summary, summarize
from bertviz_core.tracing.remember import remember
from bertviz_core.tracing.trace import Trace

PICTURE = 32  # cells along one side of a head's small picture, at most
_SLOW_S = 0.5


def read_heads(trace: Trace, slot: DeltaGenerator | None = None) -> Summary:
    """All heads of a trace, read once for all sessions. slot: for a progress bar where that takes long; a page has it
    always, so that what stands below keeps its place."""
    return remember(trace, "heads", lambda: _read(trace, slot))


def _read(trace: Trace, slot: DeltaGenerator | None) -> Summary:
    start, layers = time.monotonic(), trace.model.config.num_hidden_layers

    def done(layer: int) -> None:
        if slot is not None and time.monotonic() - start > _SLOW_S:
            slot.progress((layer + 1) / layers, f"Reading the heads of layer {layer} …")

    found = summarize(trace, PICTURE, done)
    if slot is not None:
        slot.empty()
    return found


def describe_pooling(tokens: int) -> str:
    """How many tokens a cell of a small picture stands for; "" where that is one."""
    if tokens <= PICTURE:
        return ""
    most = -(-tokens // PICTURE)
    side = f"{most}" if tokens % PICTURE == 0 else f"{most - 1} to {most}"
    return (
        f" For {tokens} tokens a cell combines {side} neighbouring queries and keys: their attention weights, "
        "summed over the keys and averaged over the queries."
    )
