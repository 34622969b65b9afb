"""A trace: every tensor of one forward pass under its address, of which only the spine is kept.

The run computes what the spine is made from, each step once, and keeps the spine. Everything else is recomputed, bit
for bit, when somebody looks.
"""

from __future__ import annotations

import itertools
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
import torch
from torch import Tensor

from bertviz_core.address import Address, cell, parse
from bertviz_core.dims import Axis, names
from bertviz_core.errors import AddressError, InputError
from bertviz_core.expressions import Symbol, narrow
from bertviz_core.lru import ByteLRU
from bertviz_core.model import Model
from bertviz_core.numbers import latex_number
from bertviz_core.steps import Program, Step
from bertviz_core.tokenizer import Encoding

CACHE_BYTES = 96_000_000  # recomputed tensors held by a trace that shares no cache
SPILL_BYTES = 16_000_000  # a spine tensor above this lives in a temporary file, not in memory

Changes = Mapping[str, float | np.ndarray]
Change = tuple[tuple[int | slice, ...], np.ndarray]  # which numbers, and what was put there
TensorCache = ByteLRU[tuple[int, str], Tensor]

_NUMBERS = itertools.count()


@dataclass(frozen=True)
class Explanation:
    """One cell, worked out.

    value: as recorded; recomputed: in float64 from the recorded operands; latex: the formula with its numbers;
    operands: (address of one cell, its value) in the order of the formula, empty for a parameter or an input.
    """

    address: str
    value: float
    recomputed: float
    latex: str
    operands: tuple[tuple[str, float], ...]
    step: Step | None


class Trace:
    """The record of one forward pass. Nothing in it changes once it is made."""

    def __init__(self, model: Model, encoding: Encoding, changes: Changes | None = None,
                 cache: TensorCache | None = None, program: str = "bert") -> None:  # fmt: skip
        self._number = next(_NUMBERS)  # its own key in a cache that traces share
        self.model = model
        self.encoding = encoding
        self.program: Program = model.written(program)
        self._changes = _checked_changes(self, changes or {})
        self._inputs = _input_tensors(encoding, model.dtype)
        self._cache = cache if cache is not None else ByteLRU(CACHE_BYTES)
        self._lock = threading.RLock()
        self._spine: dict[str, Tensor] = {}
        self._run()

    @property
    def tokens(self) -> list[str]:
        """The text of each token, in order."""
        return list(self.encoding.tokens)

    @cached_property
    def addresses(self) -> tuple[str, ...]:
        """Every recorded address, in the order computed."""
        return tuple(step.address for step in self.program.steps)

    @property
    def changes(self) -> Mapping[str, Sequence[Change]]:
        """What was put in place of computed numbers, by address of the tensor, in order."""
        return MappingProxyType(self._changes)

    def __contains__(self, address: str) -> bool:
        return self.program.symbol(address) is not None

    def __getitem__(self, address: str) -> np.ndarray:
        """The tensor or slice as a read-only array, axes as `dims` says. Also takes parameters and inputs."""
        where = parse(address)
        symbol = self._symbol(where)
        at = self._indices(where, symbol)
        array = _Env(self)[symbol.address].numpy()[tuple(at.get(axis, slice(None)) for axis in symbol.axes)]
        array = np.asarray(array)
        array.flags.writeable = False
        return array

    def dims(self, address: str) -> tuple[str, ...]:
        """The axes, by name, of what `trace[address]` gives."""
        return names(self.axes(address))

    def axes(self, address: str) -> tuple[Axis, ...]:
        """The axes of what `trace[address]` gives."""
        where = parse(address)
        symbol = self._symbol(where)
        fixed = self._indices(where, symbol)
        return tuple(axis for axis in symbol.axes if axis not in fixed)

    def shape(self, address: str) -> tuple[int, ...]:
        """The sizes that go with `dims`, known without computing the tensor."""
        return tuple(self._size(axis) for axis in self.axes(address))

    def step(self, address: str) -> Step:
        """The step that computes an address (of a tensor, a slice or a cell)."""
        path = parse(address).path
        step = self.program.by_address.get(path)
        if step is None:
            raise AddressError(f"{path} is not computed by a step of this trace{_hint(path, self.addresses)}")
        return step

    def explain(self, address: str) -> Explanation:
        """Work out one cell: every axis must be fixed. Raises AddressError otherwise."""
        symbol, fixed = self._one_cell(address)
        at = {axis: range(fixed[axis], fixed[axis] + 1) for axis in symbol.axes}
        here = cell(symbol.address, {axis.name: fixed[axis] for axis in symbol.axes})
        env = _Env(self)
        value = symbol.work(env, at).item()
        step = self.program.by_address.get(symbol.address)
        if step is None:
            return Explanation(here, value, value, f"{_subscripted(symbol, fixed)} = {latex_number(value)}", (), None)
        recomputed = step.expr.work(env, at).item()
        latex = f"{_subscripted(symbol, fixed)} = {step.expr.worked(env, at)} = {latex_number(recomputed)}"
        return Explanation(here, value, recomputed, latex, tuple(self._operands(step, env, at)), step)

    def derivatives(self, address: str) -> tuple[float, ...]:
        """How one cell changes with each operand that `explain` names, in its order; 0 for ids, which do not vary.

        An operand that the formula names twice has its whole derivative at both places.
        """
        _, fixed = self._one_cell(address)
        at = {axis: range(index, index + 1) for axis, index in fixed.items()}
        step, env = self.step(address), _Env(self)
        needed = list(step.expr.operands(env, at))
        tape = {leaf.address: env[leaf.address].clone() for leaf, _ in needed}
        varying = {name: tensor.requires_grad_() for name, tensor in tape.items() if tensor.is_floating_point()}
        result = step.expr.work(tape, at).sum()
        found = torch.autograd.grad(result, list(varying.values()), allow_unused=True) if result.requires_grad else ()
        slopes = {name: slope for name, slope in zip(varying, found, strict=False) if slope is not None}
        cells = (
            narrow(slopes.get(leaf.address, torch.zeros(1).expand(tape[leaf.address].shape)), leaf.axes, cut)
            for leaf, cut in needed
        )
        return tuple(number for part in cells for number in part.flatten().tolist())

    @property
    def nbytes(self) -> int:
        """Bytes that the trace holds in memory, not counting the cache."""
        return sum(tensor.nbytes for tensor in self._spine.values() if tensor.nbytes <= SPILL_BYTES)

    @property
    def spilled_bytes(self) -> int:
        """Bytes that the trace holds in temporary files."""
        return sum(tensor.nbytes for tensor in self._spine.values() if tensor.nbytes > SPILL_BYTES)

    def _run(self) -> None:
        recent: dict[str, Tensor] = {}
        env = _Env(self, recent)
        with torch.inference_mode():
            for step in self.program.forward:
                result = self._changed(step.address, step.expr.value(env))
                if step.address in self.program.spine:
                    recent.clear()
                    self._spine[step.address] = _spilled(result)
                else:
                    recent[step.address] = result

    def _tensor(self, address: str, env: _Env) -> Tensor:
        for held in (self._spine, self._inputs, self.model.parameters):
            if address in held:
                return held[address]
        key = (self._number, address)
        with self._lock:
            found = self._cache.get(key)
            if found is None:
                with torch.inference_mode():
                    found = self._changed(address, self.program.by_address[address].expr.value(env))
                self._cache.put(key, found, found.nbytes)
            return found

    def _changed(self, address: str, tensor: Tensor) -> Tensor:
        changes = self._changes.get(address, ())
        if changes:
            tensor = tensor.clone()
        for index, value in changes:
            tensor[index] = torch.as_tensor(value, dtype=tensor.dtype)
        return tensor

    def _operands(self, step: Step, env: Mapping[str, Tensor], at: Mapping[Axis, range]) -> Iterator[tuple[str, float]]:
        for leaf, needed in step.expr.operands(env, at):
            cells = leaf.work(env, needed)
            starts = [needed[axis].start if axis in needed else 0 for axis in leaf.axes]
            for place, value in zip(np.ndindex(*cells.shape), cells.flatten().tolist(), strict=True):
                index = {axis.name: start + i for axis, start, i in zip(leaf.axes, starts, place, strict=True)}
                yield cell(leaf.address, index), value

    def _symbol(self, where: Address) -> Symbol:
        symbol = self.program.symbol(where.path)
        if symbol is None:
            raise AddressError(f"{where.path} is not in this trace{_hint(where.path, self.addresses)}")
        return symbol

    def _one_cell(self, address: str) -> tuple[Symbol, dict[Axis, int]]:
        where = parse(address)
        symbol = self._symbol(where)
        fixed = self._indices(where, symbol)
        missing = [axis.name for axis in symbol.axes if axis not in fixed]
        if missing:
            raise AddressError(f"{where} is not one cell: give an index for {', '.join(missing)} as well")
        return symbol, fixed

    def _indices(self, where: Address, symbol: Symbol) -> dict[Axis, int]:
        axes = {axis.name: axis for axis in symbol.axes}
        for name, index in where.at.items():
            if name not in axes:
                raise AddressError(f"{where.path} has no axis {name!r}; its axes are {', '.join(axes) or 'none'}")
            size = self._size(axes[name])
            if index >= size:
                raise AddressError(f"{where}: {name} {index} is out of range; it runs from 0 to {size - 1}")
        return {axes[name]: index for name, index in where.at.items()}

    def _size(self, axis: Axis) -> int:
        if axis.name in ("token", "query", "key"):
            return len(self.encoding)
        if axis.name == "label":
            return len(self.model.labels)
        return self.model.config.sizes[axis.name]


class _Env(Mapping[str, Tensor]):
    """The trace's tensors by address, as expressions read them.

    What it has handed out it holds, so that one request computes nothing twice, however small the cache is.
    """

    def __init__(self, trace: Trace, recent: dict[str, Tensor] | None = None) -> None:
        self._trace = trace
        self._recent = {} if recent is None else recent

    def __getitem__(self, address: str) -> Tensor:
        found = self._recent.get(address)
        if found is None:
            found = self._recent[address] = self._trace._tensor(address, self)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._trace.addresses)

    def __len__(self) -> int:
        return len(self._trace.addresses)


def _input_tensors(encoding: Encoding, dtype: torch.dtype) -> dict[str, Tensor]:
    return {
        "input_ids": torch.tensor(encoding.ids),
        "position_ids": torch.tensor(encoding.positions),
        "token_type_ids": torch.tensor(encoding.segments),
        "attention_mask": torch.tensor(encoding.mask, dtype=dtype),
    }


def _spilled(tensor: Tensor) -> Tensor:
    """The same numbers in a temporary file that vanishes with them, if they are many."""
    if tensor.nbytes <= SPILL_BYTES:
        return tensor
    with tempfile.TemporaryFile(prefix="bertviz-") as file:
        array = tensor.numpy()
        array.tofile(file)
        return torch.from_numpy(np.memmap(file, dtype=array.dtype, mode="r+", shape=array.shape))


def _checked_changes(trace: Trace, changes: Changes) -> dict[str, list[Change]]:
    checked: dict[str, list[Change]] = {}
    for address, value in changes.items():
        where = parse(address)
        step = trace.step(address)
        at = trace._indices(where, step.output)
        try:
            numbers = np.array(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"{address}: {value!r} is not a number or an array of numbers") from None
        if not (np.abs(numbers) <= torch.finfo(trace.model.dtype).max).all():
            raise InputError(f"{address} can only be set to finite numbers that {trace.model.dtype} can hold")
        shape = trace.shape(address)
        if numbers.shape not in ((), shape):
            raise InputError(f"{address} has shape {shape}; it cannot be set to numbers of shape {numbers.shape}")
        index = tuple(at.get(axis, slice(None)) for axis in step.output.axes)
        checked.setdefault(where.path, []).append((index, numbers))
    return checked


def _subscripted(symbol: Symbol, fixed: Mapping[Axis, int]) -> str:
    index = r",\,".join(rf"\mathrm{{{axis.name.replace('_', chr(92) + '_')}}}={fixed[axis]}" for axis in symbol.axes)
    return rf"{{{symbol.tex}}}_{{{index}}}" if index else symbol.tex


def _hint(path: str, addresses: tuple[str, ...]) -> str:
    leaf = path.rsplit(".", 1)[-1]
    near = [address for address in addresses if address.rsplit(".", 1)[-1] == leaf]
    return f"; did you mean {near[0]}?" if near else f"; an address looks like {addresses[0]}"


def run(model: Model, text: str | Encoding, text_pair: str | None = None, *, pad_to: int | None = None,
        masked: Iterable[int] = (), program: str = "bert", changes: Changes | None = None,
        cache: TensorCache | None = None) -> Trace:  # fmt: skip
    """The forward pass of one text, or of two, with every intermediate under its address.

    text: a sentence, or tokens already encoded; pad_to: fill up with [PAD] to this many tokens; masked: the positions
    to put [MASK] at; program: "bert", or the document whose formulas to run; changes: numbers to put in place of
    computed ones, by address, before the pass goes on. Raises InputError for what the model cannot read, and for a
    program that there is not.
    """
    encoding = checked(model, text) if isinstance(text, Encoding) else encode(model, text, text_pair, pad_to, masked)
    return Trace(model, encoding, changes, cache, program)


def encode(model: Model, text: str, text_pair: str | None = None, pad_to: int | None = None,
           masked: Iterable[int] = ()) -> Encoding:  # fmt: skip
    """The tokens of a text, or of two, as the model reads them. Raises InputError for what it cannot read."""
    longest = model.config.max_position_embeddings
    if pad_to is not None and not 1 <= pad_to <= longest:
        raise InputError(f"The input can be padded to between 1 and {longest} tokens, not {pad_to}.")
    encoding = checked(model, model.tokenizer.encode(text, text_pair, pad_to))
    return model.tokenizer.masked(encoding, masked)


def checked(model: Model, encoding: Encoding) -> Encoding:
    """The same tokens, if the model has room for them. Raises InputError otherwise."""
    longest = model.config.max_position_embeddings
    if len(encoding) > longest:
        raise InputError(
            f"The text has {len(encoding)} tokens; this model reads at most {longest}. "
            f"Shorten it by {len(encoding) - longest}."
        )
    if max(encoding.segments, default=0) >= model.config.type_vocab_size:
        raise InputError("This model knows only one segment: it cannot read a second sentence.")
    return encoding
