"""Which head the likeliest answer needs most: every head is zeroed in turn, in the background."""

from __future__ import annotations

from functools import partial

from bertviz_core.analysis.ablation import Ablation, list_worked, zero_heads
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.findings import Wanted


def ask_worth(trace: Trace, token: int) -> Wanted[Ablation] | None:
    """The finding: every head zeroed; None where there is nothing that it could be worth something to."""
    cells = list_worked(trace, token)
    return Wanted(("worth", cells), trace, partial(zero_heads, trace, cells)) if cells else None


def recall_needed(trace: Trace, token: int) -> tuple[int, int] | None:
    """The layer and head that the likeliest answer needs most, where that is known already."""
    asked = ask_worth(trace, token)
    found = asked.recall() if asked else None
    return found.value.most_needed if found and found.whole and found.value else None
