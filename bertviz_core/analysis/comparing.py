"""Two passes side by side: how far apart they bring each token, which heads look elsewhere, and what they answer.

The angle of contextual vectors of one word: cf. Ethayarajh 2019. Between two models an angle says something only where
one was trained on from the other: the axes of others have nothing to do with each other.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

import numpy as np

from bertviz_core.analysis.compared_answers import Answers, find_answers
from bertviz_core.analysis.layers import compute_angles, compute_known_cosine, list_stages
from bertviz_core.errors import ArgumentError
from bertviz_core.formula.address import Address
from bertviz_core.formula.texts import join_words
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.tracing.identity import name_pass
from bertviz_core.tracing.matching import check_pairs, match_tokens
from bertviz_core.tracing.readonly import lock
from bertviz_core.tracing.taken import Pairs
from bertviz_core.tracing.trace import Trace


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two passes compared. What cannot be compared is empty, and told in `said`.

    tokens: of each pass; pairs: a token of the one, and that of the other which it is matched with; stages: the
    addresses of the vectors that both have; cosines, angles: (stage, pair) of their two vectors, from -1 to 1 and in
    degrees, NaN where one has no direction; moved: (layer, head, pair) how much of a matched token's attention goes
    elsewhere in the other pass, from 0 to 1; answers: of both; same: whether it is twice the same pass; said: what is
    not comparable, in sentences.
    """

    tokens: tuple[tuple[str, ...], tuple[str, ...]]
    pairs: Pairs
    stages: tuple[Address, ...]
    cosines: np.ndarray
    angles: np.ndarray
    moved: np.ndarray = field(repr=False)
    answers: Answers | None
    same: bool
    said: tuple[str, ...]

    @property
    def heads(self) -> np.ndarray:
        """(layer, head) how much the two maps differ: the mean over matched tokens of what goes elsewhere, 0 for the
        same map, 1 for nothing in common."""
        return average_moved(self.moved)

    def sort_heads(self) -> tuple[tuple[int, int], ...]:
        """Layer and head of every head, those whose maps differ most first."""
        return sort_heads(self.heads)


def compare(one: Trace, other: Trace, pairs: Pairs | None = None, at: tuple[int, int] | None = None) -> Comparison:
    """Two passes side by side: other sentences, other changes, or other models.

    pairs: which token of the one is which of the other; by default equal word pieces in the same order are matched. at:
    the two tokens whose readings are compared where nothing else is answered. The answer's `angles` are degrees and its
    `cosines` numbers from -1 to 1, (stage, pair). Raises InputError for a token that is not there or matched twice,
    ArgumentError for what is no trace.

        >>> both = bv.compare(trace, bv.run(model, "When in Paris, do as the [MASK] do."))
        >>> len(both.pairs), both.angles.shape
        (11, (7, 11))
    """
    for trace in (one, other):
        if not isinstance(trace, Trace):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may have no types
            raise ArgumentError.of("Two traces are compared", trace, "Give what bv.run returns, twice.")
    matched = match_tokens(one, other) if pairs is None else check_pairs(pairs, one, other)
    stages = list_shared_stages(one, other)
    cosines, angles = measure_angles(one, other, matched, stages)
    return Comparison(
        (tuple(one.tokens), tuple(other.tokens)),
        matched,
        stages,
        cosines,
        angles,
        measure_moved(one, other, matched) if not tell_heads(one, other) else lock(np.zeros((0, 0, len(matched)))),
        find_answers(one, other, matched, at),
        name_pass(one) == name_pass(other),
        tell_apart(one, other, matched),
    )


def list_shared_stages(one: Trace, other: Trace) -> tuple[Address, ...]:
    """The addresses of the tokens' vectors that both passes have: before the first layer, and after each."""
    shared = [stage for stage in list_stages(one) if stage in one and stage in other]
    return tuple(shared) if one.model.config.hidden_size == other.model.config.hidden_size else ()


def measure_angles(one: Trace, other: Trace, pairs: Pairs, stages: Sequence[Address]) -> tuple[np.ndarray, np.ndarray]:
    """Cosine and angle of each matched token's two vectors: twice (stage, pair)."""
    here, there = list_sides(pairs)
    found = np.zeros((2, len(stages), len(pairs)))
    for i, stage in enumerate(stages):
        x, y = one[stage][here].astype(np.float64), other[stage][there].astype(np.float64)
        found[:, i] = compute_known_cosine(x, y), compute_angles(x, y)
    return lock(found[0]), lock(found[1])


def list_sides(pairs: Pairs) -> tuple[list[int], list[int]]:
    """The matched tokens of either pass."""
    return [here for here, _ in pairs], [there for _, there in pairs]


def measure_moved(one: Trace, other: Trace, pairs: Pairs) -> np.ndarray:
    """(layer, head, pair) ½ Σ |A − A'| of each matched token: over matched keys, and all others as one."""
    *_, (_, found) = measure_by_layer(one, other, pairs)
    return found


def measure_by_layer(one: Trace, other: Trace, pairs: Pairs) -> Generator[tuple[float, np.ndarray]]:
    """`measure_moved` layer by layer, NaN in those that are not known yet: how much is done, and what is known."""
    config = one.model.config
    found = np.full((config.num_hidden_layers, config.num_attention_heads, len(pairs)), np.nan)
    for layer in range(len(found)):
        first, second = read_folded(one, other, pairs, ATTENTION_WEIGHTS.in_layer(layer))
        found[layer] = np.abs(first - second).sum(axis=-1) / 2
        yield (layer + 1) / len(found), lock(found.copy())


def read_folded(one: Trace, other: Trace, pairs: Pairs, weights: Address) -> list[np.ndarray]:
    """Attention weights of both passes, of a layer or a head, as `fold_unmatched` gives them."""
    return [fold_unmatched(trace[weights], side) for trace, side in zip((one, other), list_sides(pairs), strict=True)]


def fold_unmatched(weights: np.ndarray, matched: Sequence[int]) -> np.ndarray:
    """(…, query, key) of the matched tokens only, with one more key for all that are not: (…, pair, pair + 1)."""
    rows = weights[..., list(matched), :].astype(np.float64)
    rest = np.setdiff1d(np.arange(weights.shape[-1]), matched)
    return np.concatenate([rows[..., list(matched)], rows[..., rest].sum(axis=-1, keepdims=True)], axis=-1)


def average_moved(moved: np.ndarray) -> np.ndarray:
    """(layer, head) of (layer, head, pair): NaN where no token is matched."""
    return lock(moved.mean(axis=-1) if moved.shape[-1] else np.full(moved.shape[:-1], np.nan))


def sort_heads(heads: np.ndarray) -> tuple[tuple[int, int], ...]:
    """Layer and head of (layer, head), the largest first, equal ones in order; without those that are not known."""
    known = np.flatnonzero(~np.isnan(heads.ravel()))
    order = known[np.argsort(-heads.ravel()[known], kind="stable")]
    return tuple((int(i) // heads.shape[1], int(i) % heads.shape[1]) for i in order)


def tell_apart(one: Trace, other: Trace, pairs: Pairs) -> tuple[str, ...]:
    """What of two passes cannot be compared, or says less than it seems to, in sentences."""
    told = [tell_tokens(one, other, pairs), tell_vectors(one, other), tell_heads(one, other), tell_answers(one, other)]
    return tuple(filter(None, told))


def tell_tokens(one: Trace, other: Trace, pairs: Pairs) -> str:
    """Why no token is matched, or that they are matched otherwise than by equal pieces; "" where these are."""
    if not pairs:
        return "The two texts have no token in common. Match tokens by hand."
    if one.model.tokenizer.vocabulary != other.model.tokenizer.vocabulary:
        return (
            "The two models have other vocabularies: pieces are matched that cover the same letters of the same word, "
            "and words that are written alike are the same answer."
        )
    return ""


def tell_vectors(one: Trace, other: Trace) -> str:
    """Why some vectors have no angle, or one that says little; "" where nothing is amiss."""
    first, second = one.model.config, other.model.config
    if first.hidden_size != second.hidden_size:
        return (
            f"The vectors have {first.hidden_size} numbers in the first model and {second.hidden_size} in the second, "
            "so there is no angle between them."
        )
    if not list_shared_stages(one, other):
        return "The two passes have no vectors at the same address, so there is no angle between them."
    if first.num_hidden_layers != second.num_hidden_layers:
        last = min(first.num_hidden_layers, second.num_hidden_layers) - 1
        return (
            f"The first model has {first.num_hidden_layers} layers, the second {second.num_hidden_layers}: vectors are "
            f"compared up to layer {last}, which is not the last of both."
        )
    if one.model is not other.model and one.model.digest != other.model.digest:
        return "An angle between two models says something only where one was trained on from the other."
    return ""


def tell_heads(one: Trace, other: Trace) -> str:
    """Why heads are not paired; "" where they are."""
    sizes = [(each.model.config.num_hidden_layers, each.model.config.num_attention_heads) for each in (one, other)]
    if sizes[0] != sizes[1]:
        (layers, heads), (more, others) = sizes
        return (
            f"The first model has {heads} heads in each of {layers} layers, the second {others} in each of {more}: "
            "heads are paired only where both numbers are equal."
        )
    weights = ATTENTION_WEIGHTS.in_layer(0)
    return "" if weights in one and weights in other else "Not both passes have attention weights at the same address."


def tell_answers(one: Trace, other: Trace) -> str:
    """Which of the models' heads that answer have no counterpart; "" where all have one."""
    alone = [
        f"only the {name} has a head for “{join_words([head for head in own.heads if head not in theirs.heads])}”"
        for name, own, theirs in (("first model", one.model, other.model), ("second", other.model, one.model))
        if set(own.heads) - set(theirs.heads)
    ]
    shared = set(one.model.heads) & set(other.model.heads)
    labels = "classifier" in shared and one.model.labels != other.model.labels
    told = [*alone, *(["the two classifiers tell other classes apart"] if labels else [])]
    return f"{'; '.join(told)[0].upper()}{'; '.join(told)[1:]}: that is not compared." if told else ""
