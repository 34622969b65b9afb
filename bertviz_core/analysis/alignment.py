"""Two programs side by side, step by step; and how far two traces of one input are apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
import torch

from bertviz_core.analysis.layers import compute_known_cosine
from bertviz_core.analysis.predictions import SCORES
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.errors import InputError
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import TOKEN_AXES
from bertviz_core.formula.functions import Function
from bertviz_core.formula.nodes import Add, Constant, Expr, Mul, Symbol
from bertviz_core.formula.stages import Stage
from bertviz_core.formula.steps import Program, Step
from bertviz_core.programs import PADS_FIRST
from bertviz_core.tracing.remember import remember
from bertviz_core.tracing.trace import Trace

Relation = Literal["same", "different", "missing", "extra"]
Structure = tuple[object, ...]


@dataclass(frozen=True)
class Pair:
    """One address in two programs: the step of each, None where a program has none.

    relation: "same" where both compute it by the same formula from the same tensors, "different" where not, "missing"
    where only the left has it, "extra" where only the right has; lacks, adds: what only the left's or the right's
    formula reads, by address.
    """

    address: str
    left: Step | None
    right: Step | None
    relation: Relation
    lacks: tuple[str, ...] = ()
    adds: tuple[str, ...] = ()

    @property
    def step(self) -> Step:
        """The step of the right program, or of the left where only that has it."""
        step = self.right or self.left
        assert step is not None
        return step


@dataclass(frozen=True)
class LayerDistance:
    """How far two traces are apart after a layer.

    largest: the largest absolute difference of any two numbers; cosines: (token,) the cosine of the angle between each
    token's two vectors, 1 where they point the same way, nan where one of them is zero; lowest: of these, nan where all
    are. Padding is in neither largest nor lowest.
    """

    layer: int
    largest: float
    lowest: float
    cosines: np.ndarray


@dataclass(frozen=True)
class ScoreDistance:
    """How far the scores of two traces are apart.

    largest: the largest difference of any logit; changed: at how many of so many tokens, without padding, another entry
    is the best.
    """

    largest: float
    changed: int
    tokens: int


@dataclass(frozen=True)
class Guess:
    """An entry of the vocabulary with its probability."""

    id: int
    token: str
    probability: float


def align_programs(left: Program, right: Program) -> tuple[Pair, ...]:
    """The addresses of both programs in the left's order; what only the right has, where the right has it.

    A step that only one of them has is read as a part of the steps that use it, so that one formula in two steps is
    the same as in one.
    """
    parts = _find_own(left, right), _find_own(right, left)
    return tuple(
        _compare(address, left.by_address.get(address), right.by_address.get(address), *parts)
        for address in _merge(left, right)
    )


def pair_steps(address: str, left: Program, right: Program) -> Pair:
    """One address of `align_programs`."""
    parts = _find_own(left, right), _find_own(right, left)
    return _compare(address, left.by_address.get(address), right.by_address.get(address), *parts)


def _find_own(one: Program, other: Program) -> dict[str, Expr]:
    """The formulas of the steps that only one of two programs has."""
    return {step.address: step.expr for step in one.steps if step.address not in other.by_address}


def _merge(left: Program, right: Program) -> list[str]:
    after: dict[str | None, list[str]] = {}
    anchor: str | None = None
    for step in right.steps:
        if step.address in left.by_address:
            anchor = step.address
        else:
            after.setdefault(anchor, []).append(step.address)
    return after.get(None, []) + [
        address for step in left.steps for address in (step.address, *after.get(step.address, []))
    ]


def _compare(
    address: str, left: Step | None, right: Step | None, left_parts: Mapping[str, Expr], right_parts: Mapping[str, Expr]
) -> Pair:
    if left is None or right is None:
        return Pair(address, left, right, "missing" if right is None else "extra")
    if normalize_structure(left.expr, left_parts) == normalize_structure(right.expr, right_parts):
        return Pair(address, left, right, "same")
    reads, other = ([leaf.address for leaf in step.leaves] for step in (left, right))
    lacks = tuple(leaf for leaf in reads if leaf not in other)
    return Pair(address, left, right, "different", lacks, tuple(leaf for leaf in other if leaf not in reads))


def normalize_structure(expr: Expr, inline: Mapping[str, Expr] | None = None) -> Structure:
    """What a formula computes, whatever its symbols are called and in whichever order it adds and multiplies.

    inline: the formulas to read in place of symbols, by address.
    """
    inline = inline or {}
    if isinstance(expr, Symbol):
        return normalize_structure(inline[expr.address], inline) if expr.address in inline else ("symbol", expr.address)
    if isinstance(expr, Constant):
        return ("size", expr.amount)
    if isinstance(expr, Add | Mul):
        return (type(expr).__name__, *sorted(_flatten(expr, type(expr), inline), key=repr))
    known: Any = expr
    return (type(expr).__name__, *(_normalize_part(getattr(known, place.name), inline) for place in fields(known)))


def _flatten(expr: Expr, kind: type[Expr], inline: Mapping[str, Expr]) -> list[Structure]:
    """The terms of a sum of sums, or the factors of a product of products."""
    if isinstance(expr, Symbol) and expr.address in inline:
        expr = inline[expr.address]
    if not isinstance(expr, kind):
        return [normalize_structure(expr, inline)]
    return [operand for part in expr.parts for operand in _flatten(part, kind, inline)]


def _normalize_part(value: object, inline: Mapping[str, Expr]) -> object:
    if isinstance(value, Expr):
        return normalize_structure(value, inline)
    return value.torch_code if isinstance(value, Function) else value


def list_places(trace: Trace) -> list[int]:
    """Where each token stands in a trace, those of the text before the padding: so traces of one input that have their
    padding before the text and behind it are comparable."""
    mask = trace.encoding.mask
    pads = mask.index(1) if trace.program.name in PADS_FIRST else 0
    return [*range(pads, len(mask)), *range(pads)]


def _list_real(trace: Trace) -> list[int]:
    """The places that are no padding, once the padding is behind the text."""
    return [place for place, token in enumerate(list_places(trace)) if trace.encoding.mask[token]]


def read_ordered(trace: Trace, where: Address) -> np.ndarray:
    """`trace[where]` with the padding behind the text, wherever the trace has it; so are the tokens that `where` fixes.

    The same axes and sizes as `trace.dims(where)` and `trace.shape(where)`.
    """
    places = list_places(trace)
    if places == list(range(len(places))):
        return trace[where]
    where = where.fix(**{axis: places[i] for axis, i in where.index if axis in TOKEN_AXES})
    found = trace[where]
    for number, axis in enumerate(trace.dims(where)):
        found = found.take(places, axis=number) if axis in TOKEN_AXES else found
    return found


def measure_difference(left: Trace, right: Trace, address: str) -> float:
    """The largest absolute difference of two traces of one input at an address that both have, token by token, without
    padding."""
    _check(left, right)
    one, other = (read_ordered(trace, Address(address)) for trace in (left, right))
    apart = np.abs(one.astype(np.float64) - other)
    for number, axis in enumerate(left.dims(Address(address))):
        apart = apart.take(_list_real(left), axis=number) if axis in TOKEN_AXES else apart
    return float(apart.max())


def measure_end(left: Trace, right: Trace, token: int) -> float:
    """The cosine of a token's two vectors after the last layer, nan where one is zero. The traces may have more or less
    padding.

    token: its place with the padding behind the text.
    """
    x, y = (read_ordered(one, find_layer_outputs(one.program)[-1].fix(token=token)) for one in (left, right))
    return float(compute_known_cosine(x.astype(np.float64), y.astype(np.float64)))


def measure_layers(left: Trace, right: Trace) -> tuple[LayerDistance, ...]:
    """How far two traces of one input are apart after each layer; the cosines with the padding behind the text."""
    _check(left, right)
    real = _list_real(left)
    return tuple(
        _measure(layer, read_ordered(left, one).astype(np.float64), read_ordered(right, other).astype(np.float64), real)
        for layer, (one, other) in enumerate(
            zip(find_layer_outputs(left.program), find_layer_outputs(right.program), strict=True)
        )
    )


def find_layer_outputs(program: Program) -> tuple[Address, ...]:
    """The address of what each layer hands to the next: the last tensor of a layer that a run keeps."""
    last = {}
    for step in program.steps:
        if step.layer is not None and step.address in program.spine:
            last[step.layer] = Address(step.address)
    return tuple(last[layer] for layer in sorted(last))


def _measure(layer: int, left: np.ndarray, right: np.ndarray, real: list[int]) -> LayerDistance:
    cosines = compute_known_cosine(left, right)
    known = cosines[real][~np.isnan(cosines[real])]
    lowest = float(known.min()) if known.size else np.nan
    return LayerDistance(layer, float(np.abs(left - right)[real].max()), lowest, cosines)


def _check(left: Trace, right: Trace) -> None:
    one, other = ((_read_input(t), t.model.name, t.model.revision) for t in (left, right))
    if one != other:
        raise InputError("Only forward passes of one model over one input are comparable. Run both on one text.")


def _read_input(trace: Trace) -> list[tuple[int, ...]]:
    """What each token is, with the padding behind the text: id, segment, mask."""
    read = trace.encoding
    return [(read.ids[i], read.segments[i], read.mask[i]) for i in list_places(trace)]


def has_own_scores(trace: Trace) -> bool:
    """Whether the program goes up to scores over the vocabulary itself."""
    return SCORES.path in trace.program.by_address


def measure_scores(left: Trace, right: Trace) -> ScoreDistance | None:
    """How far apart two traces with the same tokens end; None where one has no scores over the vocabulary."""
    if not (has_own_scores(left) and has_own_scores(right)):
        return None
    rows = [SCORES.fix(token=token) for token, seen in enumerate(left.encoding.mask) if seen]
    apart = [float(np.abs(left[row] - right[row]).max()) for row in rows]
    changed = sum(int(left[row].argmax()) != int(right[row].argmax()) for row in rows)
    return ScoreDistance(max(apart), changed, len(rows))


def guess_words(trace: Trace, token: int, k: int = 5) -> tuple[Guess, ...]:
    """The k most probable entries for a token, best first; empty where the checkpoint has no language model head.

    token: its place with the padding behind the text. Where the program ends before the scores, its last layer is read
    by BERT's own head. Worked out once.
    """
    if SCORES.path not in trace.model.program.by_address:
        return ()
    token = list_places(trace)[token]
    return remember(trace, f"words guessed at {token}, {k}", lambda: _guess_words(trace, token, k))


def _guess_words(trace: Trace, token: int, k: int) -> tuple[Guess, ...]:
    scores = trace[SCORES.fix(token=token)] if has_own_scores(trace) else _read_by_bert(trace, token)
    powers = np.exp(scores.astype(np.float64) - scores.max())
    probabilities = powers / powers.sum()
    return tuple(Guess(i, trace.model.tokenizer.name(i), float(probabilities[i])) for i in rank_top(probabilities, k))


def _read_by_bert(trace: Trace, token: int) -> np.ndarray:
    """The scores that BERT's language model head gives one token of the last layer."""
    bert = trace.model.program
    last = trace[find_layer_outputs(trace.program)[-1].fix(token=token)]
    env = {**trace.model.parameters, find_layer_outputs(bert)[-1].path: torch.tensor(last)[None]}
    with torch.inference_mode():
        for step in bert.steps:
            if step.stage is Stage.PREDICTIONS:
                env[step.address] = step.expr.value(env)
    return env[SCORES.path][0].numpy()
