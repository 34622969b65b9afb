"""What neurons of the feed-forward networks fire at, over many texts: means, and the texts of the largest values.

After Geva et al. 2021, Transformer Feed-Forward Layers Are Key-Value Memories, section 3. One trace is held at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from bertviz_core.analysis.asked import check_whole
from bertviz_core.analysis.frames import list_places, make_frame
from bertviz_core.errors import InputError
from bertviz_core.programs.names import Leaf
from bertviz_core.tracing.many import list_traces
from bertviz_core.tracing.readonly import lock
from bertviz_core.tracing.trace import Trace

if TYPE_CHECKING:
    from bertviz_core.analysis.frames import DataFrame

ACTIVATION = Leaf("intermediate.activation")
_MOST = 100  # texts of a neuron
_OFTEN = 64  # texts, after which tokens that no neuron needs any more are let go


@dataclass(frozen=True)
class Firing:
    """A large value of a neuron. text: the number of the trace; token: the position; tokens: of the whole text."""

    value: float
    text: int
    token: int
    tokens: tuple[str, ...]

    def __str__(self) -> str:
        marked = (f"«{token}»" if i == self.token else token for i, token in enumerate(self.tokens))
        return f"{self.value:.3f}  {' '.join(marked).replace(' ##', '')}"


@dataclass(frozen=True, eq=False)
class Neurons:
    """What every neuron of a model gave over texts, as its activation has it.

    texts: how many were read; means, active: over all their tokens the mean value, and the share of values above 0,
    (layer, intermediate); values, found, places: the largest values, one a text, in falling order, with the number of
    the text and the position of the token, (layer, intermediate, rank); sentences: the tokens of those texts by number.
    """

    texts: int
    means: np.ndarray
    active: np.ndarray
    values: np.ndarray
    found: np.ndarray
    places: np.ndarray
    sentences: Mapping[int, tuple[str, ...]]

    def top(self, layer: int, neuron: int) -> tuple[Firing, ...]:
        """The largest values of one neuron, the largest first. Raises InputError for one that is not there."""
        layer = check_whole("The layer", layer, self.values.shape[0])
        neuron = check_whole("The neuron", neuron, self.values.shape[1])
        rows = (self.values[layer, neuron], self.found[layer, neuron], self.places[layer, neuron])
        return tuple(
            Firing(float(value), int(text), int(token), self.sentences[int(text)])
            for value, text, token in zip(*rows, strict=True)
        )

    def table(self) -> DataFrame:
        """A row for each neuron and place: the value, its text and token, and the neuron's mean and share above 0."""
        layers, neurons, ranks = self.values.shape
        places = list_places(layer=layers, intermediate=neurons, rank=np.arange(1, ranks + 1))
        columns = {"value": self.values, "text": self.found, "token": self.places}
        tokens = [self.sentences[text][i] for text, i in zip(self.found.flat, self.places.flat, strict=True)]
        flat = {name: each.reshape(-1) for name, each in columns.items()}
        means, active = (np.repeat(each, ranks) for each in (self.means, self.active))
        return make_frame({**places, **flat, "token_text": tokens, "mean": means, "active": active})


def neurons(traces: Trace | Iterable[Trace], k: int = 5) -> Neurons:
    """Of every neuron the texts that it fires at most, over one text or many, read one after the other.

    k: how many texts of each; of a text its largest value counts. Values are those of the activation, without a unit,
    (layer, intermediate, rank); padding is left out. What is held does not grow with the texts. Raises InputError where
    there is no text or the traces are of two models, ArgumentError for what is no trace. Source: Geva et al. 2021,
    Transformer Feed-Forward Layers Are Key-Value Memories.

        >>> found = bv.neurons(bv.run_many(model, ["He sat by the river.", "She saw the king."]), k=1)
        >>> found.values.shape
        (6, 1536, 1)
        >>> print(found.top(5, 923)[0])
        3.815  [CLS] «he» sat by the river . [SEP]
    """
    gathered = _Gathered(check_whole("The number of texts of a neuron", k, _MOST + 1, 1))
    for trace in list_traces(traces):
        gathered.add(trace)
    return gathered.finish()


class _Gathered:
    """The largest values so far, and sums."""

    def __init__(self, k: int) -> None:
        self._k, self._texts, self._tokens = k, 0, 0
        self._sums = self._active = np.zeros(())
        self._top: tuple[np.ndarray, ...] = ()  # values, texts, places: each (rank, layer, intermediate)
        self._sentences: dict[int, tuple[str, ...]] = {}

    def add(self, trace: Trace) -> None:
        layers = range(trace.model.config.num_hidden_layers)
        values = np.stack([trace[ACTIVATION.in_layer(i)][list(trace.encoding.real)] for i in layers])
        self._sums = self._sums + values.sum(axis=1, dtype=np.float64)
        self._active = self._active + (values > 0).sum(axis=1)
        place = values.argmax(axis=1)
        largest = np.take_along_axis(values, place[:, None], axis=1)[:, 0]
        new = (largest, np.full(largest.shape, self._texts), np.array(trace.encoding.real)[place])
        self._top = tuple(np.stack([each, *old]) for each, old in zip(new, self._top or ((), (), ()), strict=True))
        self._keep_largest()
        self._sentences[self._texts] = tuple(trace.tokens)
        self._texts += 1
        self._tokens += values.shape[1]
        if self._texts % _OFTEN == 0:
            self._let_go()

    def _keep_largest(self) -> None:
        """The k largest, of equal ones the text that came first."""
        values, texts, _ = self._top
        order = np.lexsort((texts, -values), axis=0)[: self._k]
        self._top = tuple(np.take_along_axis(each, order, axis=0) for each in self._top)

    def _let_go(self) -> None:
        needed = set(np.unique(self._top[1]).tolist())
        self._sentences = {text: tokens for text, tokens in self._sentences.items() if text in needed}

    def finish(self) -> Neurons:
        if not self._texts:
            raise InputError("There are no texts to read. Give at least one trace.")
        self._let_go()
        values, texts, places = (lock(np.ascontiguousarray(np.moveaxis(each, 0, -1))) for each in self._top)
        means, active = lock(self._sums / self._tokens), lock(self._active / self._tokens)
        return Neurons(self._texts, means, active, values, texts, places, MappingProxyType(self._sentences))
