"""Where a number comes from, as pages and the drawer share it: taken apart once, and with each token hidden."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from bertviz_core.analysis.attention import list_counted
from bertviz_core.analysis.attribution import Attribution, Question, hide_measures, list_unhidden
from bertviz_core.analysis.methods import MOST_TOKENS, Methods, try_methods
from bertviz_core.analysis.origins import Origins, check_size, find_origins
from bertviz_core.errors import InputError
from bertviz_core.tracing.remember import recall
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.findings import Wanted
from bertviz_core.ui.frame.resources import work_out_once

NOTHING = 1e-12  # of a part in float64: what is less is rounding
MOST_ROWS, ROWS = 20, 14  # tokens that all have a row; of more, those whose parts are largest


def find_origins_of(trace: Trace, question: Question) -> Origins:
    """A number taken apart, remembered. Raises InputError where nothing carries it, or it would take much memory."""
    name = f"origins of {question}"
    if recall(trace, name) is None:
        check_size(trace)  # who is refused waits for no turn
    return work_out_once(trace, name, lambda: find_origins(trace, question))


def count_parts(trace: Trace, parts: np.ndarray) -> int:
    """How many tokens have a part: all that are no padding, and of padding what carries something, as to itself."""
    return len({*trace.encoding.real, *np.flatnonzero(parts).tolist()})


def sum_up(parts: Attribution) -> float:
    """All parts and the biases together."""
    return float(parts.parts.sum()) + parts.biases


def tell_rest(parts: Attribution) -> str:
    """What came from no token, inside a sentence."""
    return "the biases and changed numbers" if parts.changed else "the biases"


def read_counted(trace: Trace, parts: Attribution) -> tuple[list[int], np.ndarray]:
    """The tokens of which one may be called the largest, and their parts, of which what is rounding is 0."""
    tokens = list_counted(trace)
    return tokens, np.where(np.abs(parts.parts) < NOTHING, 0.0, parts.parts)[tokens]


def find_most(parts: np.ndarray, whole: float) -> int:
    """The place of the part that counts most towards the whole: the largest of those with its sign."""
    return int((parts if whole >= 0 else -parts).argmax())


def choose_rows(parts: np.ndarray) -> list[int]:
    """The tokens that have a row of their own, in sentence order."""
    if len(parts) <= MOST_ROWS:
        return list(range(len(parts)))
    return sorted(np.argsort(-np.abs(parts), kind="stable")[:ROWS].tolist())


def list_hidden(trace: Trace, parts: np.ndarray) -> tuple[int, ...]:
    """The tokens that have a row, and can be hidden."""
    can = set(list_unhidden(trace)) if trace.model.tokenizer.mask_id is not None else set[int]()
    return tuple(i for i in choose_rows(parts) if i in can)


def ask_hidden(trace: Trace, question: Question, parts: np.ndarray) -> Wanted[Mapping[int, float]] | None:
    """The finding: what hiding is measured by, with each token of a row hidden in turn; None where none can be."""
    shown = list_hidden(trace, parts)
    begin = partial(hide_measures, trace, question, shown)
    return Wanted(("measured", question.target, question.against, shown), trace, begin) if shown else None


def ask_methods(trace: Trace, question: Question) -> Wanted[Methods] | None:
    """The finding: what other methods say of the tokens; None of what is too long, or cannot be taken apart."""
    if len(trace.tokens) > MOST_TOKENS:
        return None
    try:
        find_origins_of(trace, question)
    except InputError:
        return None
    return Wanted(("methods", question.target, question.against), trace, partial(try_methods, trace, question))
