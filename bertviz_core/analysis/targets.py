"""The numbers of a pass that one asks where they come from: logits of words, of classes, of an answer's two ends."""

from __future__ import annotations

from bertviz_core.analysis.answers import END, LOGITS, SPANS, START, find_answer
from bertviz_core.analysis.predictions import PROBS, RELATIONS, SCORES, rank_words
from bertviz_core.analysis.ranking import find_strongest, rank_top
from bertviz_core.errors import AddressError
from bertviz_core.formula.address import Address, Where
from bertviz_core.formula.dims import TOKEN_AXES
from bertviz_core.formula.texts import name_token
from bertviz_core.tracing.trace import Trace

_WORDS, _ENDS = 10, 3  # of those that are offered: the likeliest words, and the likeliest tokens for an end
_RELATION, _CLASSIFIER = Address("cls.seq_relationship"), Address("classifier")
_LOGITS = (SCORES, _RELATION, _CLASSIFIER, START, END)


def list_targets(trace: Trace, token: int) -> list[Address]:
    """The logits that are offered at a token: of each head of the model the likeliest first; words before classes.

    Without any head: the strongest component of the token's last vector.
    """
    found: list[Address] = []
    if PROBS in trace:
        found += [SCORES.fix(token=token, vocab=i) for *_, i in rank_words(trace, token, _WORDS)]
    for logits, axis in ((_RELATION, "relation"), (_CLASSIFIER, "label")):
        if logits in trace:
            here = logits.fix(token=token) if "token" in trace.dims(logits) else logits
            found += [here.fix(**{axis: i}) for i in rank_top(trace[here], trace.shape(here)[0])]
    if LOGITS in trace:
        best = find_answer(trace)
        for end, axis, first in ((START, "start", best.start), (END, "end", best.end)):
            found += [end.fix(**{axis: i}) for i in dict.fromkeys([first, *rank_top(trace[end], _ENDS)])]
    return found or [_find_strongest(trace, token)]


def _find_strongest(trace: Trace, token: int) -> Address:
    row = Address.in_layer(trace.model.config.num_hidden_layers - 1, "output.LayerNorm").fix(token=token)
    return row.fix(hidden=find_strongest(trace[row]))


def read_target(trace: Trace, token: int, where: Where) -> Address | None:
    """A cell that somebody asks for, if it is of a logit that is offered at this token; None if it is not."""
    try:
        symbol, fixed = trace.layout.one_cell(where)
    except AddressError:
        return None
    offered = {each.path for each in list_targets(trace, token)}
    place = {axis.name: fixed[axis] for axis in symbol.axes}
    elsewhere = place.get("token", token) != token
    return None if symbol.address not in offered or elsewhere else Address(symbol.address).fix(**place)


def find_target(trace: Trace, cell: Address) -> Address | None:
    """The logit whose origin answers where a cell comes from: itself, that behind a probability, a span's start; None
    where it is neither."""
    if cell.path == SPANS.path:
        return START.fix(start=cell.at["start"])
    logits = Address(cell.path.removesuffix(".probs") if cell.path != PROBS.path else SCORES.path, cell.index)
    return logits if logits.whole in _LOGITS and logits.path in trace else None


def list_rivals(target: Address, offered: list[Address]) -> list[Address]:
    """Those of the offered numbers that the target can be compared with: of the same head, at the same place."""
    return [each for each in offered if each.path == target.path and each != target]


def find_reader(target: Address) -> int:
    """The token whose last vector a number is read from: its own; that of [CLS] where it has none."""
    return next((i for axis, i in target.index if axis in TOKEN_AXES), 0)


def name_target(trace: Trace, target: Address) -> str:
    """What a number stands for, inside a sentence: `“people”`, `B follows A`, `an answer from “rome”`."""
    axis, i = target.index[-1]
    if axis == "vocab":
        return f"“{trace.model.tokenizer.name(i)}”"
    if axis in ("start", "end"):
        return f"an answer {'from' if axis == 'start' else 'up to'} {name_token(trace.tokens, i)}"
    if axis == "hidden":
        return f"component {i} of {name_token(trace.tokens, target.at['token'])} after the last layer"
    return {"relation": RELATIONS, "label": trace.model.labels}[axis][i]
