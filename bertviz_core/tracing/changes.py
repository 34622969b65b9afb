"""What-if: other numbers in place of computed ones, another formula in place of a step's, other tokens.

A change is an address and what shall stand there: a number, an array of the address's shape, or a rule in a word
(`RULES`). What comes in as text, from a URL or a caller, is read once.
"""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import torch

from bertviz_core.checkpoint.encoding import Encoding
from bertviz_core.errors import AddressError, ArgumentError, InputError
from bertviz_core.formula.address import Address, Where, read_address
from bertviz_core.formula.dims import KEY
from bertviz_core.formula.functions import Softmax
from bertviz_core.formula.steps import INPUT
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.tracing.layout import Layout
from bertviz_core.tracing.readonly import lock
from bertviz_core.tracing.rewrites import DECIMAL, FROM, NOISE, REWRITES, SCALE, UNIFORM, Rule
from bertviz_core.tracing.taken import Taken, list_taken

RULES = {
    UNIFORM: f"the same attention weight for every token except padding (…{ATTENTION_WEIGHTS.path})",
    f"{SCALE}=0.5": "a number of times what it was (any tensor, slice or cell of a step)",
    f"{NOISE}=7": "three times the spread of all word embeddings, drawn with this seed, added (embeddings…)",
    **REWRITES,
}
MOST = 100  # changes in a list that somebody wrote
NOISY = "embeddings."  # how the addresses begin to which noise can be added
_BETWEEN, _BECOMES = "~", ":"

W = TypeVar("W")
V = TypeVar("V")
Value = float | np.ndarray | Rule | Taken
Changes = Mapping[Address, Value]
Asked = Mapping[Where, Value] | Mapping[Address, Value] | Mapping[str, float | np.ndarray | str]  # as they come in
Listed = Mapping[Where, Value]  # as somebody wrote them; what is no address is text, to be named where it is refused


@dataclass(frozen=True, eq=False)
class Override:
    """Numbers that stand in a tensor in place of what its step computes, or, with `times`, that this is multiplied by,
    or, with `plus`, that are added to it.

    index: where, as PyTorch indexes.
    """

    index: tuple[int | slice, ...]
    numbers: np.ndarray
    times: bool = False
    plus: bool = False

    def apply(self, tensor: torch.Tensor) -> None:
        """Put the numbers into a tensor that nobody else holds."""
        numbers = torch.tensor(self.numbers, dtype=tensor.dtype)
        was = tensor[self.index]
        tensor[self.index] = was * numbers if self.times else was + numbers if self.plus else numbers

    def within(self, tokens: range) -> Override | None:
        """What there is of it in these rows alone, of a tensor whose first axis is the token."""
        token, *rest = self.index
        if isinstance(token, slice):
            return replace(self, numbers=self.numbers[tokens.start : tokens.stop]) if self.numbers.ndim else self
        return replace(self, index=(token - tokens.start, *rest)) if token in tokens else None

    def covers(self, cell: Sequence[int]) -> bool:
        return all(holds(at, i) for at, i in zip(self.index, cell, strict=True))


def holds(at: int | slice, i: int) -> bool:
    """Whether an index, or a run of them, has this place."""
    return at == i if isinstance(at, int) else (at.start or 0) <= i and (at.stop is None or i < at.stop)


def make_overrides(layout: Layout, encoding: Encoding, where: Address, value: Value) -> list[Override]:
    """What a number, an array or a rule that puts numbers puts at an address."""
    index = layout.index(where)
    if isinstance(value, Taken):
        parts = list_taken(layout, where, value)
        return [Override(place, _check_finite(layout, where, numbers)) for place, numbers in parts]
    if not isinstance(value, Rule):
        return [Override(index, _check_numbers(layout, where, value))]
    if value.word == SCALE:
        factor = _read_factor(layout, where, value)
        return [Override(index, factor, times=True)] if (factor != 1).any() else []
    if value.word == NOISE:
        return [Override(index, _draw_noise(layout, where, value), plus=True)]
    if value.word == FROM:
        raise InputError(f"{FROM} takes numbers of another pass, and there is none. Choose what to compare with first.")
    if value.argument:
        raise InputError(f"{UNIFORM} takes no number. Leave out what stands behind it.")
    return [Override(index, _spread_evenly(layout, encoding, where))]


def write_changes(changes: Listed | Changes) -> str:
    """Changes as one line of text, as a URL holds them; `read_changes` cannot read arrays back."""
    return _BETWEEN.join(list_changes(changes))


def list_changes(changes: Listed | Changes) -> list[str]:
    """Changes one by one, each as `address:value`."""
    return [f"{where}{_BECOMES}{_write_value(value)}" for where, value in changes.items()]


def read_changes(text: str) -> dict[Where, Value]:
    """The changes of a line that `write_changes` wrote or somebody edited; nothing in it is checked yet."""
    pairs = (part.rpartition(_BECOMES) for part in text.split(_BETWEEN) if part.strip())
    return {
        _read_where(address.strip() or value.strip()): _read_value(value.strip() if address else "")
        for address, _, value in pairs
    }


def join_changes(first: Mapping[W, V], then: Mapping[W, V]) -> dict[W, V]:
    """One list of changes after another: a place that is in both gets its last value, at the end."""
    return {where: value for where, value in first.items() if where not in then} | {**then}


def take_changes(changes: Asked) -> dict[Address, Value]:
    """Changes as a caller gives them: addresses and rules as text or read already, tensors for arrays.

    Raises AddressError for what is no address, ArgumentError where they are no mapping.
    """
    if not isinstance(changes, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may have no types
        raise ArgumentError.of(
            "Changes must be a mapping of addresses to what shall stand there",
            changes,
            "Give a dict, such as {address: 0.0}.",
        )
    return {read_address(where): _take_value(value) for where, value in changes.items()}


def _take_value(value: Value | str | torch.Tensor) -> Value:
    if isinstance(value, torch.Tensor):
        return value.detach().double().numpy()
    return Rule(value) if isinstance(value, str) else value


def hold_value(value: Value) -> Value:
    """A change's value as it was given, whatever becomes of the caller's array."""
    return value if isinstance(value, Rule | Taken) or not np.ndim(value) else lock(np.array(value, dtype=np.float64))


def _read_where(text: str) -> Where:
    try:
        return read_address(text)
    except AddressError:
        return text


def _read_value(text: str) -> Value:
    try:
        return float(text) + 0.0  # -0 is 0: a store would take them for the same change, and give one the other's sign
    except ValueError:
        return Rule(text)


def _write_value(value: Value) -> str:
    if isinstance(value, Rule | Taken):
        return value.text
    return "array" if np.ndim(value) else f"{value:.9g}"


def _check_numbers(layout: Layout, where: Address, value: float | np.ndarray) -> np.ndarray:
    try:
        numbers = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"{where} can be set to a number, an array of numbers or a rule; {reprlib.repr(value)} is not one of "
            "them. Give a number, or an array made of trace[address]."
        ) from None
    _check_finite(layout, where, numbers)
    shape = layout.shape(where)
    if numbers.shape not in ((), shape):
        raise InputError(
            f"{where} has shape {shape}; it cannot be set to numbers of shape {numbers.shape}. Give one number, or "
            "an array of its shape."
        )
    return lock(numbers)


def _check_finite(layout: Layout, where: Address, numbers: np.ndarray) -> np.ndarray:
    dtype = layout.model.dtype
    if not (np.abs(numbers) <= torch.finfo(dtype).max).all():
        raise InputError(
            f"{where} can only be set to finite numbers, up to {torch.finfo(dtype).max:.3g} in size, not to "
            f"{reprlib.repr(numbers.tolist() if numbers.ndim == 0 else numbers)}. Choose a smaller number."
        )
    return lock(numbers)


def _draw_noise(layout: Layout, where: Address, rule: Rule) -> np.ndarray:
    """Normal noise, three times as wide as all word embeddings spread (Meng et al. 2022, causal tracing)."""
    if not where.path.startswith(NOISY) or layout.located(where)[0].kind == INPUT:
        raise InputError(f"{NOISE} blurs what the pass begins with. Choose one of the addresses {NOISY}….")
    if not re.fullmatch(r"[0-9]{1,9}", rule.argument):
        raise InputError(
            f"{NOISE} takes a seed, a whole number, not {rule.argument[:40]!r}. Write for example {NOISE}=7."
        )
    drawn = np.random.default_rng(int(rule.argument)).standard_normal(layout.shape(where))
    return _check_finite(layout, where, 3 * layout.model.spread * np.asarray(drawn))


def _read_factor(layout: Layout, where: Address, rule: Rule) -> np.ndarray:
    """What a tensor, slice or cell is multiplied by."""
    if layout.located(where)[0].kind == INPUT:
        raise InputError(f"{where} holds whole numbers; they cannot be scaled. Set them to another whole number.")
    try:
        factor = float(rule.argument) if DECIMAL.fullmatch(rule.argument) else math.nan
    except ValueError:
        factor = math.nan
    if math.isnan(factor):
        raise InputError(f"{SCALE} takes a number, not {rule.argument[:40]!r}. Write for example {SCALE}=0.5.")
    return _check_numbers(layout, where, factor)


def _spread_evenly(layout: Layout, encoding: Encoding, where: Address) -> np.ndarray:
    step = layout.step(where)
    if not isinstance(step.expr, Softmax) or step.expr.along != KEY:
        raise InputError(
            f"{step.address} holds no attention weights; only these can be made {UNIFORM}. Choose an address that ends "
            f"in {ATTENTION_WEIGHTS.path}."
        )
    seen = torch.tensor(encoding.mask, dtype=torch.float64)
    everywhere = (seen / seen.sum()).expand(layout.shape(where.whole))  # one row in memory, however many heads
    return lock(everywhere[layout.index(where)])
