"""How each token's vector moves through the layers, what the head would read from it, and where it came from."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from bertviz_core.analysis.frames import list_places, make_frame
from bertviz_core.analysis.predictions import PROBS
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import TOKEN, VOCAB
from bertviz_core.formula.stages import Stage
from bertviz_core.formula.steps import Step
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.tracing.readonly import lock
from bertviz_core.tracing.remember import remember
from bertviz_core.tracing.trace import Trace

if TYPE_CHECKING:
    from bertviz_core.analysis.frames import DataFrame

COMPONENTS = 3
OF_ANGLES = "cf. Ethayarajh 2019"  # who looked at the angles of contextual vectors
_ROUNDING = 1e-6  # of the numbers in a sum that should be 0


def list_stages(trace: Trace) -> tuple[Address, ...]:
    """The addresses of the tokens' vectors: before the first layer, and after every layer."""
    layers = range(trace.model.config.num_hidden_layers)
    return (Address("embeddings.LayerNorm"), *(Address.in_layer(i, "output.LayerNorm") for i in layers))


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


def compute_cosine(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The cosine between each vector and the one at its place; 0 where one is zero. The last axis disappears."""
    return _bound((scale_to_unit(x) * scale_to_unit(y)).sum(axis=-1))


def compute_angles(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The angle between each vector and the one at its place, 0 to 180 degrees; NaN where one has no length.

    By the half-angle form, which is exact for vectors that point nearly the same way. The last axis disappears.
    """
    x, y = scale_to_unit(x), scale_to_unit(y)
    angles = np.degrees(2 * np.arctan2(compute_norms(x - y), compute_norms(x + y)))
    return np.where(x.any(axis=-1) & y.any(axis=-1), angles, np.nan)


def compute_turns(states: np.ndarray) -> np.ndarray:
    """The cosine of each vector with the same token's one stage before, nan where one is zero: (stage - 1, token)."""
    return compute_known_cosine(states[1:], states[:-1])


def compute_known_cosine(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The cosine between each vector and the one at its place; nan where one is zero. The last axis disappears."""
    return np.where(are_directed(x) & are_directed(y), compute_cosine(x, y), np.nan)


def are_directed(rows: np.ndarray) -> np.ndarray:
    """Which vectors point anywhere: those of a length above 0. The last axis disappears."""
    return np.asarray(rows.any(axis=-1))


def compute_cosines(rows: np.ndarray) -> np.ndarray:
    """The cosine between every two rows of a matrix; nan where one is zero."""
    directions, directed = scale_to_unit(rows), are_directed(rows)
    return np.where(directed[:, None] & directed, _bound(directions @ directions.T), np.nan)


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
    """The principal components of all tokens at all stages, one basis for all; worked out once.

    Padding has points, but no part in the basis.
    """
    return remember(trace, "projection", lambda: _project(stack_vectors(trace), trace.encoding.real))


def _project(states: np.ndarray, real: Sequence[int]) -> Projection:
    found = find_principal_components(states[:, list(real)], COMPONENTS)
    return replace(found, points=lock((states - found.mean) @ found.directions.T))


def list_others(trace: Trace, token: int) -> list[int]:
    """The tokens to compare one with: all others but padding, or all others where there is nothing else."""
    others = [i for i in range(len(trace.tokens)) if i != token]
    real = set(trace.encoding.real)
    return [i for i in others if i in real] or others


def find_nearest(cosines: np.ndarray, trace: Trace, token: int) -> int:
    """The other token whose vector points most the same way, padding left out; itself where no other cosine is defined.

    cosines: (token, token).
    """
    others = [i for i in list_others(trace, token) if not np.isnan(cosines[token, i])]
    return others[int(cosines[token, others].argmax())] if others else token


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
    return Projection(lock((states - mean) @ directions.T), lock(directions), lock(mean), lock(shares))


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
        rows = torch.from_numpy(np.stack([self.trace[address.fix(token=self.token)] for address in addresses]))
        env = ChainMap({addresses[-1].path: rows}, dict(self.trace.model.parameters))
        with torch.inference_mode():
            for step in self.steps:
                env[step.address] = self._put(step.address, step.expr.value(env))
        return env

    def _put(self, address: str, rows: Tensor) -> Tensor:
        """The rows with what changes put there of this token: whatever the head is given, they put it."""
        own = range(self.token, self.token + 1)
        inside = [each for override in self.trace.overrides(Address(address)) if (each := override.within(own))]
        rows = rows.clone() if inside else rows
        for override in inside:
            for i in range(len(rows)):
                override.apply(rows[i : i + 1])
        return rows

    @cached_property
    def probs(self) -> np.ndarray:
        """The vocabulary's probabilities at every stage: (stage, vocab). Worked out once for all."""
        return remember(self.trace, f"lens at {self.token}", self._read)

    def _read(self) -> np.ndarray:
        """What the head gives at every stage; at the last one what the pass has, also where a change put it there."""
        rows = self.env[PROBS.path].numpy().copy()
        rows[-1] = self.trace[PROBS.fix(token=self.token)]
        return lock(rows)

    def list_best(self, k: int) -> tuple[list[int], ...]:
        """The k most probable entries at every stage, best first; ranked once."""
        name = f"lens ranked at {self.token}, {k}"
        probs = self.probs
        return remember(self.trace, name, lambda: tuple(rank_top(row, k) for row in probs))

    def table(self, k: int = 5) -> DataFrame:
        """A row for each stage and place: the entry there, and its probability."""
        best = np.array(self.list_best(k))
        places = list_places(stage=len(best), rank=np.arange(1, best.shape[1] + 1))
        words, ids = self.trace.model.tokenizer, best.reshape(-1)
        named = [words.name(int(i)) for i in ids]
        return make_frame(
            {**places, "vocab": ids, "vocab_text": named, "probability": self.probs[places["stage"], ids]}
        )

    def ranks(self, word: int) -> np.ndarray:
        """The place of a vocabulary entry at every stage, 1 for the most probable."""
        return (self.probs > self.probs[:, [word]]).sum(axis=1) + 1

    def worked(self, stage: int, word: int) -> tuple[str, float]:
        """One probability with its numbers, as LaTeX, and what these give: also where a change puts another one."""
        at = {TOKEN: range(stage, stage + 1), VOCAB: range(word, word + 1)}
        expr = self.trace.program.by_address[PROBS.path].expr
        return expr.worked(self.env, at), float(expr.work(self.env, at))

    @property
    def places(self) -> list[Address]:
        """The rows of the head's tensors in which a change of this token's numbers can stand."""
        return [Address(step.address).fix(token=self.token) for step in self.steps]


def read_first_choices(trace: Trace, tokens: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
    """The entry that the lens puts first, and its probability, at every stage: two arrays (token, stage).

    What was read of a token is remembered.
    """
    entries, shares = zip(*(_read_first_choice(trace, token) for token in tokens), strict=True)
    return np.stack(entries), np.stack(shares)


def _read_first_choice(trace: Trace, token: int) -> tuple[np.ndarray, np.ndarray]:
    winners = list_winners(trace, token)
    return np.array([each.id for each in winners]), np.array([each.probability for each in winners])


@dataclass(frozen=True)
class Winner:
    """The vocabulary entry that the lens puts first at one stage, and where the last stage's winner stands there.

    layer: the layer that the stage comes after, None for the embeddings; final_rank: 1 for the most probable.
    """

    layer: int | None
    id: int
    word: str
    probability: float
    final_probability: float
    final_rank: int


def list_winners(trace: Trace, token: int) -> tuple[Winner, ...]:
    """Who leads at every stage of a token's way, the embeddings first; nobody without the LM head. Remembered."""
    if PROBS not in trace:
        return ()
    return remember(trace, f"winners at {token}", lambda: tuple(_read_winners(trace, token)))


def _read_winners(trace: Trace, token: int) -> Iterator[Winner]:
    lens, name = Lens(trace, token), trace.model.tokenizer.name
    probs = lens.probs
    first = probs.argmax(axis=-1)
    final = int(first[-1])
    for stage, (best, rank) in enumerate(zip(first.tolist(), lens.ranks(final).tolist(), strict=True)):
        share, of_final = float(probs[stage, best]), float(probs[stage, final])
        yield Winner(stage - 1 if stage else None, best, name(best), share, of_final, rank)


def average_attention(trace: Trace) -> Iterable[np.ndarray]:
    """Each layer's attention, averaged over its heads: (query, key)."""
    for layer in range(trace.model.config.num_hidden_layers):
        yield trace[ATTENTION_WEIGHTS.in_layer(layer)].mean(axis=0)


def roll_out_attention(trace: Trace) -> np.ndarray:
    """The rollout of a pass; worked out once, since it needs the attention of every layer."""
    return remember(trace, "rollout", lambda: lock(roll_out(average_attention(trace))))


def roll_out(layers: Iterable[np.ndarray]) -> np.ndarray:
    """Attention followed back through all layers (Abnar & Zuidema 2020): (layer, query, key), rows summing to 1.

    Half of what a token takes along counts as attention, half as its own residual path.
    """
    result: list[np.ndarray] = []
    for attention in layers:
        mixed = mix_with_residual(attention)
        result.append(mixed @ result[-1] if result else mixed)
    return np.stack(result)


def mix_with_residual(attention: np.ndarray) -> np.ndarray:
    """A layer's mean attention (query, key), half of it replaced by the token itself; rows divided by their sum.

    That is 1, unless a change put weights there that do not sum to 1. A row that sums to 0 cannot be divided: it stays.
    """
    mixed = add_residual(attention)
    sums = mixed.sum(axis=-1, keepdims=True)
    return mixed / np.where(find_cancelled(mixed)[:, None], 1.0, sums)


def add_residual(attention: np.ndarray) -> np.ndarray:
    """Half of a layer's mean attention (query, key) and half of the token itself."""
    return 0.5 * attention + 0.5 * np.eye(len(attention), dtype=attention.dtype)


def find_cancelled(rows: np.ndarray) -> np.ndarray:
    """Which rows of a matrix sum to 0, but for rounding: one bool each."""
    return np.abs(rows.sum(axis=-1)) <= _ROUNDING * np.abs(rows).sum(axis=-1)
