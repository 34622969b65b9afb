"""How tokens are called on axes and in menus, and what they look like."""

from __future__ import annotations

from bertviz_core.tracing.trace import Trace

_MANY = 30  # tokens; from so many on nobody counts them


def label_tokens(trace: Trace, shown: range | None = None) -> list[str]:
    """Each token with its position, in sentence order."""
    tokens = trace.tokens
    return [f"{i} {tokens[i]}" for i in shown or range(len(tokens))]


def name_tokens(trace: Trace, shown: range | None = None) -> list[str]:
    """What tokens are called on the axes of charts: where they are few the order tells their positions."""
    tokens = trace.tokens
    return label_tokens(trace, shown) if len(tokens) >= _MANY else [tokens[i] for i in shown or range(len(tokens))]


def describe_token(trace: Trace, i: int) -> dict[str, object]:
    """A token as a component draws it: where it stands, its text, and what it looks like."""
    return {"index": i, "text": trace.tokens[i], **list_looks(trace, i)}


def list_looks(trace: Trace, i: int) -> dict[str, bool]:
    """What a token looks like: special, a piece of a word, padding, of the second sentence."""
    token, encoding = trace.tokens[i], trace.encoding
    return {
        "special": token in trace.model.tokenizer.special_tokens,
        "piece": token.startswith("##"),
        "pad": not encoding.mask[i],
        "second": bool(encoding.segments[i]),
    }
