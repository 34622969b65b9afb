"""What could be changed about a place in the pass, and what a change did to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bertviz_core.analysis.predictions import PROBS
from bertviz_core.analysis.ranking import MASKED, find_strongest, rank_top
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import TOKEN_AXES
from bertviz_core.programs.bert import MASK, TOKEN_IDS
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.tracing.changes import UNIFORM, Changes
from bertviz_core.tracing.rewrites import NO_RESIDUAL, OTHER_EPSILON, SKIP, Rule
from bertviz_core.tracing.trace import Trace

_NEARLY = 0.999  # of the largest change: only those above it can be as large but for rounding


@dataclass(frozen=True)
class Offer:
    """A change that makes sense, with its name on a button."""

    label: str
    changes: Changes


@dataclass(frozen=True)
class Moved:
    """How far a tensor lies from what it was: the largest change, where it is, the mean size of all without padding.

    masked: whether some of its numbers, left out here, are scores that are masked in one of the two passes only;
    least: from which size a change is as large as the largest but for rounding; alike: how many are; all: of how many.
    """

    largest: Address
    before: float
    after: float
    mean: float
    masked: bool
    least: float
    alike: int
    all: int


@dataclass(frozen=True)
class Shift:
    """A vocabulary entry's probability before and after."""

    word: str
    id: int
    before: float
    after: float


def find_replaceable(trace: Trace, token: int) -> int:
    """The token to replace by another: this one, or the first word where this one is masked already."""
    ids, tokens, mask = trace.encoding.ids, trace.tokens, trace.model.tokenizer.mask_id
    if ids[token] != mask:
        return token
    places = trace.model.tokenizer.maskable(trace.encoding)
    return next((i for i in places if ids[i] != mask and any(map(str.isalnum, tokens[i]))), token)


def offer_for_token(trace: Trace, token: int) -> list[Offer]:
    """What could be done to one token."""
    mask = trace.model.tokenizer.mask_id
    offers = [Offer("Let no token attend to it", {Address(MASK.address).fix(token=token): 0})]
    if mask is not None and trace.encoding.ids[token] != mask:
        offers.insert(0, Offer("Hide it behind [MASK]", {Address(TOKEN_IDS.address).fix(token=token): mask}))
    return offers


def offer_for_head(layers: Iterable[int], head: int) -> list[Offer]:
    """What could be done to one head, in one layer or in several."""
    heads = [ATTENTION_WEIGHTS.in_layer(layer).fix(head=head) for layer in layers]
    even = Rule(UNIFORM)
    return [Offer("Zero the head", dict.fromkeys(heads, 0)), Offer("Uniform attention", dict.fromkeys(heads, even))]


def offer_for_layer(trace: Trace, layers: Iterable[int]) -> list[Offer]:
    """What could be done to a whole layer, or to several."""
    other = "gelu" if trace.model.config.hidden_act == "relu" else "relu"
    kinds = {
        f"{'GELU' if other == 'gelu' else 'ReLU'} as activation function": ("intermediate.activation", other),
        "Attention without residual connection": ("attention.output.residual", NO_RESIDUAL),
        "Feed-forward without residual connection": ("output.residual", NO_RESIDUAL),
        "Skip the layer": ("output.LayerNorm", SKIP),
    }
    places = list(layers)
    return [
        Offer(label, {Address.in_layer(layer, leaf): Rule(rule) for layer in places})
        for label, (leaf, rule) in kinds.items()
    ]


def change_epsilons(layers: Iterable[int], epsilon: str) -> Changes:
    """Another epsilon in both normalizations of layers."""
    leaves = [f"{part}.LayerNorm.normalized" for part in ("attention.output", "output")]
    return {Address.in_layer(layer, leaf): Rule(f"{OTHER_EPSILON}={epsilon}") for layer in layers for leaf in leaves}


def list_scopes(trace: Trace, cell: Address) -> dict[str, Address]:
    """What lies around a cell and could be set with it, by name: ever more of its indices are left free."""
    found, around = {"this number": cell}, cell
    for axis, _ in reversed(cell.index[1:]):
        around = around.without(axis)
        found[f"all of {', '.join(f'{kept} {i}' for kept, i in around.index)}"] = around
    if cell.index:
        found[f"the whole tensor ({' × '.join(trace.dims(cell.whole))})"] = cell.whole
    return found


def offer_for_cell(trace: Trace, where: Address) -> list[Offer]:
    """Rules that fit the step of a cell; for an attention, those of its head."""
    if where.path == "input_ids":
        return offer_for_token(trace, where.at["token"])
    if where.layer is None:
        return []
    if where.leaf == ATTENTION_WEIGHTS.path:
        return offer_for_head([where.layer], where.at["head"])
    return [offer for offer in offer_for_layer(trace, [where.layer]) if where.whole in offer.changes]


def measure_moved(before: Trace, after: Trace, where: Address) -> Moved:
    """How far a tensor or slice lies from what it was."""
    old, new = before[where], after[where]
    difference = subtract(before, after, where)
    size = np.abs(_drop_padding(before, after, where, difference))
    place = np.unravel_index(find_strongest(np.nan_to_num(size).ravel()), size.shape) if size.ndim else ()
    mean = 0.0 if np.isnan(size).all() else float(np.nanmean(size))
    free = {axis: int(i) for axis, i in zip(after.dims(where), place, strict=True)}
    largest, least = where.fix(**free).sort(after.dims(where.whole)), _find_least(old, new, size)
    counts = int((size >= least).sum()), int((~np.isnan(size)).sum())
    masked = bool(np.isnan(difference).any())
    return Moved(largest, float(old[place]), float(new[place]), mean, masked, least, *counts)


def _find_least(old: np.ndarray, new: np.ndarray, size: np.ndarray) -> float:
    """From which size a change is as large as the largest but for rounding, as are those of two probabilities that sum
    to 1. size: of the changes, NaN for what is not compared."""
    most = float(np.nan_to_num(size).max(initial=0.0))
    near = size >= _NEARLY * most
    unit = float(np.finfo(new.dtype).eps) * max(float(np.abs(x[near]).max(initial=0.0)) for x in (old, new))
    return most - 2 * unit


def subtract(before: Trace, after: Trace, address: Address) -> np.ndarray:
    """After minus before, in float64; NaN where padding was hidden or shown, which is no difference to draw."""
    result = np.asarray(after[address].astype(np.float64) - before[address])
    return np.where(np.abs(result) > -MASKED, np.nan, result)


def list_moved(before: Trace, after: Trace, where: Address, k: int) -> list[int]:
    """The k indices of a vector where it moved most, the largest first; padding is left out."""
    size = np.abs(_drop_padding(before, after, where, subtract(before, after, where)))
    return [i for i in rank_top(size, k) if not np.isnan(size[i])] or rank_top(np.nan_to_num(size), k)


def _drop_padding(before: Trace, after: Trace, where: Address, values: np.ndarray) -> np.ndarray:
    """Numbers at an address, NaN where they are of a token that is padding before and after."""
    real = sorted({*before.encoding.real, *after.encoding.real})
    kept = np.array(values)
    for place, axis in enumerate(after.dims(where)):
        if axis in TOKEN_AXES:
            left_out = np.setdiff1d(np.arange(kept.shape[place]), real)
            kept[(slice(None),) * place + (left_out,)] = np.nan
    return kept


def list_shifts(before: Trace, after: Trace, token: int, k: int) -> list[Shift]:
    """The entries that are among the k most probable at a position before or after, and how their share moved."""
    old, new = (trace.recomputed(PROBS.fix(token=token)) for trace in (before, after))
    shown = dict.fromkeys([*rank_top(old, k), *rank_top(new, k)])
    return [Shift(after.model.tokenizer.name(i), i, float(old[i]), float(new[i])) for i in shown]
