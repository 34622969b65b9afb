"""The parts of sentences with numbers, as pages write them: words in quotation marks, counts, percentages, lengths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bertviz_core.analysis.claims import Claim, Part, Relation
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import choose_percent, format_degrees, format_number, format_percent, format_short
from bertviz_core.formula.texts import join_words, name_token
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.labels import escape_markdown, quote


def name_word(text: str) -> Part:
    """A token or a word, in quotation marks, as it stands."""
    return Part(text, quote)


def tell_token(tokens: Sequence[str], i: int) -> Part:
    """One of a sentence's tokens, told from those that are written alike."""
    return Part(name_token(tokens, i), escape_markdown)


def name_plain(text: str) -> Part:
    """Somebody else's words without quotation marks, as they stand."""
    return Part(text, escape_markdown)


def tell_count(amount: int) -> Part:
    """A whole number, its thousands set apart."""
    return Part(int(amount), "{:,}".format)


def tell_percent(part: float) -> Part:
    """A part of a whole, 1 being all of it."""
    return Part(float(part), format_percent)


def tell_percents(part: float, other: float) -> tuple[Part, Part]:
    """Two parts of a whole that are compared, with digits that tell them apart."""
    write = choose_percent(float(part), float(other))
    return Part(float(part), write), Part(float(other), write)


def tell_number(value: float) -> Part:
    """A number in full."""
    return Part(float(value), format_number)


def tell_short(value: float) -> Part:
    """A number where there is little room."""
    return Part(float(value), format_short)


def tell_degrees(angle: float) -> Part:
    """An angle in degrees."""
    return Part(float(angle), format_degrees)


def tell_tied(name: str, form: str, shares: np.ndarray) -> Claim:
    """That several entries share the highest of these probabilities. form: with {count}, {all} and {share}."""
    best = int(shares.argmax())
    count = tell_count(int((shares == shares[best]).sum()))
    parts = {"share": tell_percent(shares[best]), "count": count, "all": tell_count(len(shares))}
    return Claim(name, form, parts, Relation.TIED, shares, (best,))


def tell_alike(trace: Trace, where: Address) -> str:
    """To stand behind the name of a probability's outcome: that it is one of several of which none is more probable; ""
    where it is not."""
    axis, place = where.index[-1]
    row = trace[where.without(axis)]
    count = int((row == row[place]).sum())
    return f", one of {count:,} that tie," if count > 1 and row[place] == row.max() else ""


def tell_nowhere(value: float) -> Part:
    """A number that is compared, but stands nowhere in the sentence."""
    return Part(float(value), repr)


def tell_others(trace: Trace, sizes: np.ndarray, shown: Sequence[int], count: int) -> str:
    """To stand behind tokens that are shown as the `count` with the largest numbers: those of them that are shown for
    another reason, padding left out; nothing where there are none. sizes: (token,)."""
    real = trace.encoding.real
    least = sizes[list(real)][rank_top(sizes[list(real)], count)].min()
    others = [escape_markdown(name_token(trace.tokens, i)) for i in shown if i in real and sizes[i] < least]
    return f" and {join_words(others)}" if others else ""


def tell_shown(shown: Sequence[int], count: int, what: str = "tokens") -> str:
    """Which of so many are shown: from which to which, or how many where one between them is left out; "" for all."""
    if len(shown) == count:
        return ""
    whole = list(shown) == list(range(shown[0], shown[-1] + 1)) and shown[-1] < count
    return f"Shown: {what} {shown[0]}–{shown[-1]} of {count}." if whole else f"Shown: {len(shown)} of {count} {what}."
