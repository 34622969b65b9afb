"""What heads do over many sentences: means of statistics, roles by rule, and how well heads find arcs of a parse.

After Clark et al. 2019, What Does BERT Look At?, sections 3 and 4.2. One trace is held at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from bertviz_core.analysis.frames import list_places, make_frame, stack_frames
from bertviz_core.analysis.heads import STATISTICS, compute_statistics, drop_padding, find_roles
from bertviz_core.analysis.words import Arc, Parse, check_parse, place_words
from bertviz_core.errors import InputError
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.tracing.many import list_traces
from bertviz_core.tracing.readonly import lock
from bertviz_core.tracing.trace import Trace

if TYPE_CHECKING:
    from bertviz_core.analysis.frames import DataFrame

TO_HEAD, TO_DEPENDENT = "dependent to head", "head to dependent"


@dataclass(frozen=True, eq=False)
class Found:
    """How often heads find the word that a word depends on, over all arcs of one label.

    arcs: how many; to_head: (layer, head) of these the share where the dependent attends most to its head, of all
    other words; to_dependent: the share where, of all other words, its head attends most to it; offset, baseline: which
    step along the sentence leads there most often, and in which share.
    """

    arcs: int
    to_head: np.ndarray
    to_dependent: np.ndarray
    offset: int
    baseline: float

    @property
    def best(self) -> tuple[int, int, float]:
        """The layer and head that find it most often, in whichever direction, and how often."""
        shares = np.maximum(self.to_head, self.to_dependent)
        layer, head = np.unravel_index(int(shares.argmax()), shares.shape)
        return int(layer), int(head), float(shares[layer, head])


@dataclass(frozen=True, eq=False)
class Roles:
    """What every head of a model does, on average over texts.

    texts: how many were read; numbers: by name of a statistic the mean over the texts that have something to measure,
    (layer, head), NaN where none has; labels: by label of an arc how well each head finds it.
    """

    texts: int
    numbers: Mapping[str, np.ndarray]
    labels: Mapping[str, Found]

    def of(self, layer: int, head: int) -> tuple[str, ...]:
        """The roles of a head: those whose rule holds for its means."""
        own = {name: float(means[layer, head]) for name, means in self.numbers.items()}
        return tuple(role.name for role in find_roles(own))

    def table(self) -> DataFrame:
        """A row for each head: layer, head, the mean of each statistic, and its roles."""
        layers, heads = next(iter(self.numbers.values())).shape
        places = list_places(layer=layers, head=heads)
        means = {name: means.reshape(-1) for name, means in self.numbers.items()}
        named = [", ".join(self.of(layer, head)) for layer, head in np.ndindex(layers, heads)]
        return make_frame({**places, **means, "roles": named})

    def label_table(self) -> DataFrame:
        """A row for each label, direction and head: how often it finds the arc, and how often one fixed step does."""
        return stack_frames(
            {
                **list_places(label=[label], direction=[direction], layer=shares.shape[0], head=shares.shape[1]),
                "share": shares.reshape(-1),
                **{name: np.full(shares.size, getattr(found, name)) for name in ("arcs", "offset", "baseline")},
            }
            for label, found in self.labels.items()
            for direction, shares in ((TO_HEAD, found.to_head), (TO_DEPENDENT, found.to_dependent))
        )

    def best(self, name: str) -> tuple[int, int]:
        """The layer and head whose mean of a statistic is largest. Raises InputError where there is none."""
        means = self.numbers.get(name)
        if means is None or np.isnan(means).all():
            known = ", ".join(each for each, own in self.numbers.items() if not np.isnan(own).all())
            raise InputError(f"There is no mean of {name!r}. Choose one of these: {known}.")
        layer, head = np.unravel_index(int(np.nanargmax(means)), means.shape)
        return int(layer), int(head)


def roles(traces: Trace | Iterable[Trace], parses: Iterable[Parse] | None = None) -> Roles:
    """What each head does over one text or many: read one after the other, so that `run_many` can give them.

    parses: for each text its words, and arcs as (dependent, head, label) with words counted from 0: what spaCy or a
    treebank has. The answer's `numbers` are means of shares of 1 (`previous`, `next`, `self`, `cls`, `sep`,
    `punctuation`, `same_word`, `evenness`), of bits (`entropy`) and of tokens (`distance`), each (layer, head): of a
    text the mean over its queries, padding left out, then the mean over texts. `of(layer, head)` names the roles;
    `labels` says how often each head finds a word's head. Raises InputError where traces are of two models, or words
    are not those of the text; ArgumentError for what is no trace. Source: Clark et al. 2019, What Does BERT Look At?

        >>> found = bv.roles(bv.run(model, text) for text in ("He sat by the river.", "She saw the king."))
        >>> found.numbers["previous"].shape
        (6, 12)
        >>> found.best("previous")
        (0, 2)
        >>> words, arcs = ["She", "saw", "the", "king", "."], [(0, 1, "nsubj"), (2, 3, "det"), (3, 1, "obj")]
        >>> bv.roles(bv.run(model, "She saw the king."), parses=[(words, arcs)]).labels["det"].arcs
        1
    """
    means, scores, texts = _Means(), dict[str, _Score](), 0
    for trace, parse in _pair(list_traces(traces), parses):
        for name, values in _measure(trace).items():
            means.add(name, values)
        if parse is not None:
            words, arcs = check_parse(parse)
            _score(trace, place_words(trace, words), arcs, scores)
        texts += 1
    if not texts:
        raise InputError("There are no texts to read. Give at least one trace.")
    numbers = {name: lock(values) for name, values in means.values().items() if name in STATISTICS}
    labels = {label: score.finish() for label, score in sorted(scores.items())}
    return Roles(texts, MappingProxyType(numbers), MappingProxyType(labels))


def _pair(traces: Iterator[Trace], parses: Iterable[Parse] | None) -> Iterator[tuple[Trace, Parse | None]]:
    """Each trace with its parse. Raises InputError where there are not as many of both."""
    given: Iterator[Parse | None] = repeat(None) if parses is None else iter(parses)
    nothing = object()
    for number, trace in enumerate(traces):
        parse = next(given, nothing)
        if parse is nothing:
            raise InputError(f"There are {number} parses, and more texts. Give one for each, if only ([], []).")
        yield trace, parse  # pyright: ignore[reportReturnType] - what is not there was refused
    if parses is not None and next(given, nothing) is not nothing:
        raise InputError("There are more parses than texts. Give one for each text.")


def _measure(trace: Trace) -> dict[str, np.ndarray]:
    """Every statistic of every head of a pass: (layer, head)."""
    layers = [compute_statistics(*drop_padding(trace, i)) for i in range(trace.model.config.num_hidden_layers)]
    return {name: np.stack([layer[name] for layer in layers]) for name in layers[0]}


@dataclass
class _Means:
    """Means of arrays by name, without what is NaN."""

    sums: dict[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    counts: dict[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])

    def add(self, name: str, values: np.ndarray) -> None:
        there = ~np.isnan(values)
        self.sums[name] = self.sums.get(name, 0.0) + np.where(there, values, 0.0)
        self.counts[name] = self.counts.get(name, 0) + there

    def values(self) -> dict[str, np.ndarray]:
        found = {name: np.full(sums.shape, np.nan) for name, sums in self.sums.items()}
        for name, out in found.items():
            np.divide(self.sums[name], self.counts[name], out=out, where=self.counts[name] > 0)
        return found


class _Score:
    """The arcs of one label, as they are counted."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.to_head, self.to_dependent = np.zeros(shape, dtype=int), np.zeros(shape, dtype=int)
        self.offsets: Counter[int] = Counter()

    def finish(self) -> Found:
        arcs = self.offsets.total()
        (offset, often), *_ = self.offsets.most_common(1)
        return Found(arcs, lock(self.to_head / arcs), lock(self.to_dependent / arcs), offset, often / arcs)


def _score(trace: Trace, members: np.ndarray, arcs: Sequence[Arc], scores: dict[str, _Score]) -> None:
    """Count which heads find the arcs of one text. members: (word, token) which tokens are a word's."""
    config = trace.model.config
    for dependent, head, label in arcs:
        score = scores.setdefault(label, _Score((config.num_hidden_layers, config.num_attention_heads)))
        score.offsets[head - dependent] += 1
    for layer in range(config.num_hidden_layers if arcs else 0):
        weights = _join_words(trace[ATTENTION_WEIGHTS.in_layer(layer)], members)
        attended, attending = weights.argmax(axis=2), weights.argmax(axis=1)
        for dependent, head, label in arcs:
            scores[label].to_head[layer] += attended[:, dependent] == head
            scores[label].to_dependent[layer] += attending[:, dependent] == head


def _join_words(probs: np.ndarray, members: np.ndarray) -> np.ndarray:
    """(head, word, word) from (head, query, key): a word gives its pieces' mean and gets their sum; itself -1."""
    giving = members / members.sum(axis=1, keepdims=True)
    joined = giving @ probs.astype(np.float64) @ members.T
    places = np.arange(len(members))
    joined[:, places, places] = -1.0
    return joined
