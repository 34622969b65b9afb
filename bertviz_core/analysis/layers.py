"""How each token's vector moves through the layers, what the head would read from it, and where it came from."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from bertviz_core.formula.address import join_layer
from bertviz_core.formula.dims import TOKEN, VOCAB
from bertviz_core.formula.stages import Stage
from bertviz_core.formula.steps import Step
from bertviz_core.tracing.trace import Trace

COMPONENTS = 3
_PROBS = "cls.predictions.probs"
_projections: WeakKeyDictionary[Trace, Projection] = WeakKeyDictionary()
_rollouts: WeakKeyDictionary[Trace, np.ndarray] = WeakKeyDictionary()
_read: WeakKeyDictionary[Trace, dict[int, tuple[np.ndarray, np.ndarray]]] = WeakKeyDictionary()


def list_stages(trace: Trace) -> tuple[str, ...]:
    """The addresses of the tokens' vectors: before the first layer, and after every layer."""
    layers = range(trace.model.config.num_hidden_layers)
    return ("embeddings.LayerNorm", *(join_layer(i, "output.LayerNorm") for i in layers))


def stack_vectors(trace: Trace) -> np.ndarray:
    """Every token's vector at every stage: (stage, token, hidden)."""
    return np.stack([trace[address] for address in list_stages(trace)])


def compute_norms(states: np.ndarray) -> np.ndarray:
    """The Euclidean length of each vector; the last axis disappears."""
    return np.sqrt(np.square(states, dtype=np.float64).sum(axis=-1))


def scale_to_unit(states: np.ndarray) -> np.ndarray:
    """Each vector divided by its length; a zero vector stays zero."""
    lengths = compute_norms(states)[..., None]
    return states / np.where(lengths == 0, 1.0, lengths)


def compute_turns(states: np.ndarray) -> np.ndarray:
    """The cosine between each vector and the same token's one stage before: (stage - 1, token)."""
    directions = scale_to_unit(states)
    return _bound((directions[1:] * directions[:-1]).sum(axis=-1))


def compute_cosines(rows: np.ndarray) -> np.ndarray:
    """The cosine between every two rows of a matrix."""
    directions = scale_to_unit(rows)
    return _bound(directions @ directions.T)


def _bound(cosines: np.ndarray) -> np.ndarray:
    """Cosines without the last bit by which rounding may put them beyond 1."""
    return cosines.clip(-1, 1)


@dataclass(frozen=True)
class Projection:
    """Vectors seen along the directions in which they differ most (principal components).

    points: (stage, token, component); directions: (component, hidden), of length 1; mean: (hidden,); shares: the part
    of all variance that lies along each component.
    """

    points: np.ndarray
    directions: np.ndarray
    mean: np.ndarray
    shares: np.ndarray


def project_stages(trace: Trace) -> Projection:
    """The principal components of all tokens at all stages, one basis for all; kept as long as its trace."""
    if trace not in _projections:
        _projections[trace] = find_principal_components(stack_vectors(trace), COMPONENTS)
    return _projections[trace]


def find_principal_components(states: np.ndarray, count: int) -> Projection:
    """The first principal components of all vectors, by singular value decomposition.

    Each direction is turned so that its largest entry is positive. Where there are fewer directions than asked for,
    the rest are zero.
    """
    width = states.shape[-1]
    rows = states.reshape(-1, width).astype(np.float64)
    mean = rows.mean(axis=0)
    centered = rows - mean
    small = np.linalg.qr(centered, mode="r") if len(rows) > width else centered  # same right singular vectors, sooner
    _, sizes, found = np.linalg.svd(small, full_matrices=False)
    directions, shares = np.zeros((count, width)), np.zeros(count)
    kept = min(count, len(found))
    largest = np.abs(found[:kept]).argmax(axis=1)
    directions[:kept] = found[:kept] * np.where(found[range(kept), largest] < 0, -1.0, 1.0)[:, None]
    shares[:kept] = sizes[:kept] ** 2 / ((sizes**2).sum() or 1.0)
    return Projection((states - mean) @ directions.T, directions, mean, shares)


@dataclass(frozen=True)
class Lens:
    """The language model head, read at every stage of one token's way (the logit lens).

    The head's own steps are run; only its input is another one: a matrix whose rows are the token's vectors, one a
    stage, stands where the last layer's output stands in the pass.
    """

    trace: Trace
    token: int

    @property
    def steps(self) -> tuple[Step, ...]:
        """The head's steps, from its input to the probabilities."""
        return tuple(step for step in self.trace.program.steps if step.stage is Stage.PREDICTIONS)

    @cached_property
    def env(self) -> Mapping[str, Tensor]:
        """The head's tensors by address, computed from the token's vectors; rows are stages."""
        addresses = list_stages(self.trace)
        rows = torch.from_numpy(np.stack([self.trace[f"{address}[token={self.token}]"] for address in addresses]))
        env = ChainMap({addresses[-1]: rows}, dict(self.trace.model.parameters))
        with torch.inference_mode():
            for step in self.steps:
                env[step.address] = step.expr.value(env)
        return env

    @property
    def probs(self) -> np.ndarray:
        """The vocabulary's probabilities at every stage: (stage, vocab)."""
        return self.env[_PROBS].numpy()

    def ranks(self, word: int) -> np.ndarray:
        """The place of a vocabulary entry at every stage, 1 for the most probable."""
        scores = self.env["cls.predictions.decoder"].numpy()
        return (scores > scores[:, [word]]).sum(axis=1) + 1

    def worked(self, stage: int, word: int) -> str:
        """One probability with its numbers, as LaTeX."""
        at = {TOKEN: range(stage, stage + 1), VOCAB: range(word, word + 1)}
        return self.trace.program.by_address[_PROBS].expr.worked(self.env, at)


def read_first_choices(trace: Trace, tokens: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
    """The entry that the lens puts first, and its probability, at every stage: two arrays (token, stage).

    What was read of a token is kept as long as its trace.
    """
    read = _read.setdefault(trace, {})
    wanted = list(tokens)
    for token in wanted:
        if token not in read:
            probs = Lens(trace, token).probs
            read[token] = probs.argmax(axis=-1), probs.max(axis=-1)
    entries, shares = zip(*(read[token] for token in wanted), strict=True)
    return np.stack(entries), np.stack(shares)


def average_attention(trace: Trace) -> Iterable[np.ndarray]:
    """Each layer's attention, averaged over its heads: (query, key)."""
    for layer in range(trace.model.config.num_hidden_layers):
        yield trace[join_layer(layer, "attention.self.probs")].mean(axis=0)


def roll_out_attention(trace: Trace) -> np.ndarray:
    """The rollout of a pass; kept as long as its trace, since it needs the attention of every layer."""
    if trace not in _rollouts:
        _rollouts[trace] = roll_out(average_attention(trace))
    return _rollouts[trace]


def roll_out(layers: Iterable[np.ndarray]) -> np.ndarray:
    """Attention followed back through all layers (Abnar & Zuidema 2020): (layer, query, key), rows summing to 1.

    Half of what a token takes along counts as attention, half as its own residual path.
    """
    result: list[np.ndarray] = []
    for attention in layers:
        mixed = 0.5 * attention + 0.5 * np.eye(len(attention), dtype=attention.dtype)
        mixed /= mixed.sum(axis=-1, keepdims=True)
        result.append(mixed @ result[-1] if result else mixed)
    return np.stack(result)
