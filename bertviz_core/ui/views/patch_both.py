"""What the page Patch is about: which pass's numbers are put into which, and the number of both that is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from bertviz_core.analysis.ablation import cut_place, list_outcomes
from bertviz_core.analysis.answers import END, START
from bertviz_core.analysis.patching import Measure, Patching, check_fit, patch_each
from bertviz_core.analysis.predictions import PROBS, SCORES
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.errors import InputError
from bertviz_core.formula.address import Address
from bertviz_core.formula.texts import name_token
from bertviz_core.tracing.changes import Changes
from bertviz_core.tracing.identity import name_pass
from bertviz_core.tracing.remember import remember_apart
from bertviz_core.tracing.taken import Pairs, Taken
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import state, url
from bertviz_core.ui.frame.findings import Wanted
from bertviz_core.ui.frame.keys import WITH, Key
from bertviz_core.ui.frame.resources import get_store
from bertviz_core.ui.frame.second import get_hidden, get_second, reads_sentence
from bertviz_core.ui.frame.view import View

RESTORE, LOSE = DIRECTIONS = ("restore", "lose")  # the first pass's numbers into the second, or the other way
WORDS, LOGIT, PROBABILITY = OF_WORDS = ("two words", "logit", "probability")
UNNAMED = ("first pass", "second pass")  # the passes, where no one word tells them apart
DIRECTION, MEASURE = Key("direction", RESTORE), Key("measure", "")
WORD, INSTEAD = Key("patch-word", ""), Key("patch-instead", "")
_PLAIN_SIGNS = " -.,'!?:;()/*+=@“”‘’…"  # of words, that formulas write as they are
_OTHERWISE = {"#": r"\#", '"': "”"}  # and those that they write so
_OFFERED = 8  # words of each pass
_FEWEST = 2  # words, as one is compared with another
LIKELY = 0.01  # a word that neither pass finds so probable is not chosen by the rule


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two passes. name: what tells it from the other; token: where words are read; text, pair, masked: what
    was read."""

    trace: Trace
    name: str
    token: int
    text: str
    pair: str | None
    masked: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Both:
    """The two passes, and what is measured. pairs: of the target's tokens and the source's; differing: the pairs of
    them that are not the same token; offered: what can be measured; kind, names: what is, and of what; there: the
    source's measure."""

    source: Side
    target: Side
    pairs: Pairs
    offered: tuple[str, ...]
    kind: str
    names: tuple[str, ...]
    measure: Measure
    there: Measure
    restore: bool

    @property
    def differing(self) -> Pairs:
        own, other = self.target.trace.tokens, self.source.trace.tokens
        return tuple((i, j) for i, j in self.pairs if own[i] != other[j])

    @property
    def whole(self) -> bool:
        """Whether every token of the target is matched, so that what is put at all matched ones is put at all."""
        return len(self.pairs) == len(self.target.trace.tokens)

    @property
    def same(self) -> bool:
        """Whether it is twice the same pass."""
        return name_pass(self.source.trace) == name_pass(self.target.trace)

    @property
    def wanted(self) -> Wanted[Patching]:
        """The finding: every patch of every grid."""
        source, target = self.source.trace, self.target.trace
        cells = (*self.measure.cells, *self.there.cells)
        return Wanted(
            ("patched", self.pairs, cells, *name_pass(source)),
            target,
            partial(patch_each, source, target, self.pairs, self.measure, self.there),
        )


def bind_choices() -> None:
    """Direction, measure and words stand in the URL; a measure or word that is not named there is chosen by a rule."""
    url.bind(DIRECTION, DIRECTIONS)
    for key in (MEASURE, WORD, INSTEAD):
        url.bind(key)


def read_both(view: View) -> Both | None:
    """Both passes and their measure; None where there is no second pass. Raises InputError where nothing can be
    patched or measured."""
    first = drop_taken(view)
    second = get_second(view, by_place=True) or get_hidden(view, by_place=True)
    if second is None:
        return None
    check_fit(first, second.trace, second.pairs)
    here, there = _find_tokens(view, first, second.pairs)
    names = _name_sides(first, second.trace, second.pairs)
    one = Side(first, names[0], here, view.text, view.pair, view.masked)
    text = state.read(WITH) if reads_sentence() else view.text
    two = Side(second.trace, names[1], there, text, view.pair, second.masked)
    return _measure_both(one, two, second.pairs)


def drop_taken(view: View) -> Trace:
    """The pass on screen without the patches that were kept as changes."""
    after = view.outcome.after
    rest: Changes = {where: value for where, value in after.changes.items() if not isinstance(value, Taken)}
    if len(rest) == len(after.changes):
        return after
    return get_store().get(after.model, view.text, view.pair, len(after.tokens), view.masked, changes=rest)


def _find_tokens(view: View, first: Trace, pairs: Pairs) -> tuple[int, int]:
    """Where words are read in either pass: at the chosen token, else at a blank, else at a word that both have."""
    tokenizer, chosen = first.model.tokenizer, view.chosen.token
    mask = tokenizer.mask_id
    special = tokenizer.special_tokens - (set() if mask is None else {tokenizer.token(mask)})
    words = [pair for pair in pairs if first.tokens[pair[0]] not in special]
    blanks = [pair for pair in words if first.encoding.ids[pair[0]] == tokenizer.mask_id]
    asked = [pair for pair in words if pair[0] == chosen]
    return next(iter((*asked, *blanks, *words)), pairs[0])


def tell_token(view: View, both: Both) -> str:
    """Why words are read elsewhere than at the chosen token; "" where they are read there."""
    first = both.source if both.restore else both.target
    chosen = view.chosen.token
    if first.token == chosen or both.kind not in OF_WORDS:
        return ""
    tokens = first.trace.tokens
    why = "is matched with none of the other pass, or special"
    return f"{name_token(tokens, chosen)} {why}: words are read at {name_token(tokens, first.token)}."


def _name_sides(first: Trace, second: Trace, pairs: Pairs) -> tuple[str, str]:
    """The one word by which the two differ, else which of them it is."""
    apart = [(first.tokens[i], second.tokens[j]) for i, j in pairs if first.tokens[i] != second.tokens[j]]
    whole = len(pairs) == len(first.encoding.real) == len(second.encoding.real)
    return apart[0] if len(apart) == 1 and whole else UNNAMED


def list_measures(trace: Trace, token: int) -> dict[str, Measure | None]:
    """What can be measured of a pass, by name; None of words, which are still to be chosen."""
    words = dict.fromkeys(OF_WORDS) if PROBS in trace else {}
    others = {
        cut_place(name): Measure(cell)
        for name, cell in list_outcomes(trace, token, 0).items()
        if not cell.path.startswith(PROBS.path)
    }
    return {**words, **others}


def list_shared(one: Side, two: Side, pairs: Pairs) -> dict[str, tuple[Measure | None, Measure | None]]:
    """What can be measured of both, by name, each as the first pass and as the second has it.

    pairs: of their tokens. An answer in a text is the first pass's, and the second one's at the matched token.
    """
    others, matched = list_measures(two.trace, two.token), dict(pairs)
    axes = {bound.enter("probs").path: bound.name for bound in (START, END)}
    found = dict[str, tuple[Measure | None, Measure | None]]()
    for name, here in list_measures(one.trace, one.token).items():
        axis = axes.get(here.cell.path) if here else None
        if here is None or axis is None:
            if name in others:
                found[name] = here, others[name]
        elif here.cell.path in two.trace and here.cell.at[axis] in matched:
            found[name] = here, Measure(Address(here.cell.path).fix(**{axis: matched[here.cell.at[axis]]}))
    return found


def _measure_both(one: Side, two: Side, pairs: Pairs) -> Both:
    shared = list_shared(one, two, pairs)
    offered = (*shared,)
    if not offered:
        raise InputError("The two passes have no answer in common to measure. Choose a model with a head for words.")
    asked = state.read(MEASURE)
    kind = asked if asked in offered else offered[0]
    if kind in OF_WORDS:
        chosen = choose_words(one, two)[: 2 if kind == WORDS else 1]
        names = tuple(one.trace.model.tokenizer.name(i) for i in chosen)
        measures = [_measure_words(side, kind, chosen) for side in (one, two)]
    else:
        names, measures = (kind,), [*shared[kind]]
    restore = state.read(DIRECTION) != LOSE
    source, target = (one, two) if restore else (two, one)
    there, measure = measures if restore else measures[::-1]
    assert measure is not None and there is not None
    turned = tuple(sorted((j, i) for i, j in pairs)) if restore else pairs
    return Both(source, target, turned, offered, kind, names, measure, there, restore)


def _measure_words(side: Side, kind: str, words: Sequence[int]) -> Measure:
    where = (PROBS if kind == PROBABILITY else SCORES).fix(token=side.token)
    return Measure(*(where.fix(vocab=i) for i in words))


def choose_words(one: Side, two: Side) -> tuple[int, int]:
    """The word that is measured and the one that it is compared with: as asked for, else those of the likely ones
    that the first pass makes likelier than the second by most and by least."""
    rise = _measure_rises(one, two)
    asked = [one.trace.model.tokenizer.id(state.read(key).strip()) for key in (WORD, INSTEAD)]
    word = asked[0] if asked[0] is not None else max(rise, key=rise.__getitem__)
    instead = asked[1] if asked[1] is not None else min((i for i in rise if i != word), key=rise.__getitem__)
    return word, instead


def _measure_rises(one: Side, two: Side) -> Mapping[int, float]:
    """By how much the first pass makes each of the likely words likelier than the second. Remembered."""

    def measure() -> dict[int, float]:
        first, second = (side.trace.recomputed(PROBS.fix(token=side.token)) for side in (one, two))
        return {i: float(first[i]) - float(second[i]) for i in _list_likely(one, two)}

    name = f"words at {one.token} above those at {two.token} of pass {two.trace.number}"
    return remember_apart(one.trace, name, measure)


def list_words(one: Side, two: Side) -> list[int]:
    """The words that either pass finds likely, at least two, the likeliest of both together first."""
    return [*_measure_rises(one, two)]


def _list_likely(one: Side, two: Side) -> list[int]:
    shares = [side.trace.recomputed(PROBS.fix(token=side.token)) for side in (one, two)]
    best = dict.fromkeys(i for row in shares for i in rank_top(row, _OFFERED))
    both = sorted(best, key=lambda i: -float(shares[0][i] + shares[1][i]))
    kept = [i for i in both if max(float(row[i]) for row in shares) >= LIKELY]
    return kept if len(kept) > 1 else both[:_FEWEST]


def tell_measured(both: Both) -> str:
    """What is measured, in words."""
    if both.kind == WORDS:
        return f"logit of “{both.names[0]}” less logit of “{both.names[1]}”"
    if both.kind in OF_WORDS:
        return f"{both.kind} of “{both.names[0]}”"
    return f"probability of {both.kind if '“' in both.kind else f'“{both.kind}”'}"


def write_measure(both: Both) -> str:
    """The measure as LaTeX."""
    if both.kind == WORDS:
        one, two = (_tex(name) for name in both.names)
        return rf"L_{{\text{{{one}}}}} - L_{{\text{{{two}}}}}"
    if both.kind in OF_WORDS:
        return rf"{'P' if both.measure.cell.path == PROBS.path else 'L'}_{{\text{{{_tex(both.names[0])}}}}}"
    return rf"P_{{\text{{{_tex(both.kind)}}}}}"


def _tex(word: str) -> str:
    """A word inside of \\text: without what LaTeX or HTML reads."""
    return "".join(sign if sign.isalnum() or sign in _PLAIN_SIGNS else _OTHERWISE.get(sign, "·") for sign in word)


def read_values(both: Both) -> tuple[float, float]:
    """The measure in the source and in the target."""
    return both.there.read(both.source.trace), both.measure.read(both.target.trace)


def list_others(both: Both) -> Mapping[str, Sequence[str]]:
    """The tokens of either pass that no patch reaches, by the pass's name."""
    return {
        side.name: [name_token(side.trace.tokens, i) for i in side.trace.encoding.real if i not in matched]
        for side, matched in (
            (both.target, {i for i, _ in both.pairs}),
            (both.source, {j for _, j in both.pairs}),
        )
    }
