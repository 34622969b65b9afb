"""How tokens are called on axes and in menus."""

from __future__ import annotations

from bertviz_core.trace import Trace


def labels(trace: Trace, shown: range | None = None) -> list[str]:
    """Each token with its position, in sentence order."""
    tokens = trace.tokens
    return [f"{i} {tokens[i]}" for i in shown or range(len(tokens))]
