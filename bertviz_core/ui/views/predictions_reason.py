"""How one word's probability comes about: the terms of its logit, its logit among all, and the softmax."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bertviz_core.analysis.claims import Part, Said, say, say_largest
from bertviz_core.analysis.made_from import is_put
from bertviz_core.analysis.predictions import PROBS, SCORES, run_softmax
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.figures.softmax import SortedTerms, draw_all_scores, draw_sorted_terms, draw_stack
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex, format_number, format_percent, write_factor
from bertviz_core.formula.steps import PREDICTION
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived
from bertviz_core.ui.panels.put import tell_put, write_result
from bertviz_core.ui.panels.said import tell_number
from bertviz_core.ui.views.predictions_words import read_word

_VECTOR = Address("cls.predictions.transform.LayerNorm")
_ROW, _BIAS = Address("cls.predictions.decoder.weight"), Address("cls.predictions.decoder.bias")
_BARS = 72  # of the scores of all entries
_TERMS = 312  # pixels: as high as the words beside them
_NAMED, _MARKED = 7, 12  # of the likeliest entries
_ENDS = (30, 100, 1000)  # ranks at which the groups of a stack end


@derived
def show_score(view: View, vocab: int) -> Derived:
    """The products whose sum is the entry's logit, largest first; and below them those of the entry beside it."""
    trace, token = view.trace, view.chosen.token
    found = [_add_up(view, i) for i in (vocab, _choose_other(view, vocab))]
    own, cell = found[0], SCORES.fix(token=token, vocab=vocab)
    word, other = (trace.model.tokenizer.name(each.vocab) for each in found)
    names = [f"component {i}" for i in range(len(own.terms))]
    sums = [SortedTerms(f"“{name}”", each.terms, each.bias, str(SCORES.fix(token=token, vocab=each.vocab)))
            for name, each in zip((word, other), found, strict=True)]  # fmt: skip
    return Derived(
        "score-terms",
        f"1 · Logit of “{word}”, and of “{other}”",
        draw_sorted_terms(sums, names, view.colors, view.colors.kinds[PREDICTION], _TERMS),
        Origin(
            f"{_VECTOR.fix(token=token)} and {_ROW.fix(vocab=vocab)}",
            PREDICTION,
            view.typeset(trace.step(SCORES)),
            tell_largest(view).text,
            write_result(trace, cell, "L", own.worked),
            f"{len(own.terms)} products each, largest first",
        ),
        values=Values(
            np.stack([own.vector, *(column for each in found for column in (each.row, each.terms))], axis=1),
            names,
            ["vector", *(f"{what} of “{name}”" for name in (word, other) for what in ("row", "product"))],
        ),
        note=tell_put(view, cell).strip(),
        start=cell,
    )


@dataclass(frozen=True, eq=False)
class _Added:
    """How an entry's logit is added up, over the components (hidden,): of a token's vector, of the entry's row."""

    vocab: int
    vector: np.ndarray
    row: np.ndarray
    bias: float

    @cached_property
    def terms(self) -> np.ndarray:
        return self.vector.astype(np.float64) * self.row

    @cached_property
    def parts(self) -> tuple[float, float, float]:
        """What raises, what lowers, and the bias."""
        return float(self.terms[self.terms > 0].sum()), float(self.terms[self.terms <= 0].sum()), self.bias

    @property
    def worked(self) -> str:
        up, down, bias = self.parts
        return f"{format_latex(up)} {_sign(down)} {_sign(bias)} = {format_latex(up + down + bias)}"


def _add_up(view: View, vocab: int) -> _Added:
    vector = view.trace[_VECTOR.fix(token=view.chosen.token)]
    return _Added(vocab, vector, view.trace[_ROW.fix(vocab=vocab)], float(view.trace[_BIAS.fix(vocab=vocab)]))


def _choose_other(view: View, vocab: int) -> int:
    """The entry that one is compared with: the likeliest, or the next where that is the one itself."""
    best = rank_top(view.guide.trace[SCORES.fix(token=view.chosen.token)].astype(np.float64), 2)
    return best[1] if vocab == best[0] else best[0]


def tell_largest(view: View) -> Said:
    """The largest of the products that make up the logit of the entry whose way is shown."""
    vector, row = view.trace[_VECTOR.fix(token=view.chosen.token)], view.trace[_ROW.fix(vocab=read_word(view))]
    terms = vector.astype(np.float64) * row
    best = int(terms.argmax())
    parts = {
        "product": tell_number(terms[best]),
        "component": Part(best),
        "number": tell_number(vector[best]),
        "weight": tell_number(row[best]),
    }
    worked = "{number} · {weight} = {product}."
    if terms[best] <= 0:
        return say("No product is above 0.")
    return say_largest(
        ("largest product", f"Component {{component}} raises it most: {worked}"),
        ("no larger product", f"No component raises it more than {{component}}: {worked}"),
        parts,
        terms,
        (best,),
    )


@derived
def show_all_scores(view: View, vocab: int) -> Derived:
    """The entry's logit among those of the whole vocabulary."""
    trace, token = view.trace, view.chosen.token
    scores = trace[SCORES.fix(token=token)].astype(np.float64)
    best = rank_top(scores, _MARKED)
    marked = list(dict.fromkeys([*best, vocab]))
    names = {i: trace.model.tokenizer.name(i) for i in marked}
    main, other = names[vocab], _choose_other(view, vocab)
    apart = abs(float(scores[vocab] - scores[other]))
    factor = float(np.exp(apart))
    counts, edges = np.histogram(scores, np.linspace(scores.min(), scores.max(), _BARS + 1))  # of any width
    chart = draw_all_scores(
        counts, edges, {names[i]: float(scores[i]) for i in marked}, main, view.colors, view.colors.kinds[PREDICTION]
    )
    return Derived(
        "scores-of-all",
        f"2 · Among {len(scores):,} logits",
        chart.offer(picks.pick_points(trace, SCORES.fix(token=token), marked)),
        Origin(
            SCORES.fix(token=token),
            PREDICTION,
            r"\frac{P_a}{P_b} = e^{L_a - L_b}",
            "entries at each height; lines: the words above",
            rf"e^{{{format_latex(apart)}}} = {format_latex(factor)}",
        ),
        values=Values(
            np.stack([edges[:-1], edges[1:], counts], axis=1),
            [str(i) for i in range(len(counts))],
            ["from", "to", "entries"],
        ),
        note=f"“{escape_markdown(main)}”: {_tell_apart(view, vocab, other)}",
    )


@derived
def show_softmax(view: View, vocab: int) -> Derived:
    """The softmax's denominator laid end to end: the entries with the highest logits one by one, the rest by rank."""
    trace, token = view.trace, view.chosen.token
    cell = PROBS.fix(token=token, vocab=vocab)
    found = run_softmax(trace[SCORES.fix(token=token)])
    z, main = float(found.sums[-1]), trace.model.tokenizer.name(vocab)
    place = int(np.flatnonzero(found.ids == vocab)[0])
    term, named = float(found.terms[place]), list(dict.fromkeys([*found.ids[:_NAMED].tolist(), vocab]))
    given = dict(zip(found.ids.tolist(), (found.terms / z).tolist(), strict=True))
    shares = {trace.model.tokenizer.name(i): given[i] for i in named}
    groups = _group_tail(found.shares, place)
    comes = "would come" if is_put(trace, cell) else "comes"
    return Derived(
        "softmax-stack",
        f"3 · Softmax: how “{main}” {comes} to {format_percent(term / z)}",
        draw_stack({**shares, **groups}, main, len(groups), view.colors, view.colors.kinds[PREDICTION]).offer(
            [*picks.pick_points(trace, PROBS.fix(token=token), named), *[""] * len(groups)]
        ),
        Origin(
            PROBS.fix(token=token),
            PREDICTION,
            view.typeset(trace.step(PROBS)),
            f"{len(found.ids):,} powers of e, end to end; hatched: the tail, grouped by rank.",
            write_result(
                trace,
                cell,
                "P",
                rf"\frac{{{format_latex(term)}}}{{{format_latex(z)}}} = "
                rf"{format_latex(term / z)}",
            ),
        ),
        values=Values(np.array([[*shares.values(), *groups.values()]]), ["share"], [*shares, *groups]),
        note=tell_put(view, cell).strip(),
        start=cell,
    )


def _tell_apart(view: View, vocab: int, other: int) -> str:
    """How far two entries' logits lie apart, and what the softmax makes of that."""
    trace = view.trace
    own, its = (float(trace[SCORES.fix(token=view.chosen.token, vocab=i)]) for i in (vocab, other))
    name = f"“{escape_markdown(trace.model.tokenizer.name(other))}”"
    if own == its:
        return f"As high as {name}."
    factor = f"a factor of {write_factor(float(np.exp(abs(own - its))))}"
    put = any(is_put(trace, PROBS.fix(token=view.chosen.token, vocab=i)) for i in (vocab, other))
    makes = (
        f"the softmax makes that {factor}, but a change puts other probabilities there"
        if put
        else (f"{factor} between their probabilities")
    )
    return f"{format_number(abs(own - its))} {'above' if own > its else 'below'} {name}: {makes}."


def _group_tail(shares: np.ndarray, place: int) -> dict[str, float]:
    """What groups of ranks hold together, but for the entry at one place; by name. shares: cumulative, by rank."""
    ends = [end for end in _ENDS if end < len(shares)] + [len(shares)] * (len(shares) > _NAMED)
    found = {}
    for start, end in zip([_NAMED, *ends], ends, strict=False):
        own = float(shares[place] - shares[place - 1]) if start <= place < end else 0.0
        name = f"{start + 1:,} on" if end == len(shares) else f"{start + 1:,}–{end:,}"
        found[name] = float(shares[end - 1] - shares[start - 1]) - own
    return found


def _sign(value: float) -> str:
    """A further summand, with its sign before it."""
    return f"{'-' if value < 0 else '+'} {format_latex(abs(value))}"
