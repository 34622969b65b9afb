"""How tokens are called on axes and in menus, and what they look like."""

from __future__ import annotations

from collections.abc import Iterable

from bertviz_core.analysis.ranking import center_range
from bertviz_core.tracing.trace import Trace

_MANY = 30  # tokens; from so many on nobody counts them


def label_tokens(trace: Trace, shown: range | None = None) -> list[str]:
    """Each token with its position, in sentence order."""
    tokens = trace.tokens
    return [f"{i} {tokens[i]}" for i in shown or range(len(tokens))]


def center_words(trace: Trace, center: int, size: int) -> range:
    """`center_range` of a trace's tokens, which begins with a whole word: with that of its first piece, or with the
    next one where `center` would then be left out; as it is, where neither has room."""
    shown = center_range(center, size, len(trace.tokens))
    begins = [i for i in range(center + 1) if not i or not list_looks(trace, i)["piece"]]
    back = max(i for i in begins if i <= shown.start)
    if center < back + len(shown):
        return range(back, back + len(shown))
    return range(min((i for i in begins if i > shown.start), default=shown.start), shown.stop)


def name_masked(trace: Trace) -> str:
    """What attention mask 0 keeps out: padding, unless a change masks another token; "" where nothing is kept out."""
    pad, encoding = trace.model.tokenizer.pad_id, trace.encoding
    masked = [i for i, mask in zip(encoding.ids, encoding.mask, strict=True) if not mask]
    return "" if not masked else "padding" if all(i == pad for i in masked) else "tokens with mask 0"


def is_numbered(trace: Trace, i: int) -> bool:
    """Whether a token's position is said beside it: where its text stands more than once, and where tokens are many."""
    return len(trace.tokens) >= _MANY or trace.tokens.count(trace.tokens[i]) > 1


def name_token_short(trace: Trace, i: int) -> str:
    """What a token is called outside of sentences: its text, with its position in front of it where that is said."""
    return f"{i} {trace.tokens[i]}" if is_numbered(trace, i) else trace.tokens[i]


def tell_tokens_apart(trace: Trace, shown: Iterable[int] | None = None) -> list[str]:
    """What tokens are called on the axes of charts: all of them, where none are given."""
    return [name_token_short(trace, i) for i in (range(len(trace.tokens)) if shown is None else shown)]


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
