"""A trace: every tensor of one forward pass under its address, of which only the spine is kept.

The run computes what the spine is made from, each step once, and keeps the spine. Everything else is recomputed, bit
for bit, when somebody looks: whole, but what has a number per vocabulary entry only for the tokens looked at, in
blocks that begin at the same tokens for whoever asks. The spine itself can be let go meanwhile: the run is then done
again.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bertviz_core.checkpoint.encoding import Encoding
from bertviz_core.checkpoint.known import find_model, note_model
from bertviz_core.checkpoint.model import Model
from bertviz_core.errors import ArgumentError, InputError
from bertviz_core.formula.address import Where
from bertviz_core.formula.cells import restrict
from bertviz_core.formula.dims import TOKEN
from bertviz_core.formula.steps import Program
from bertviz_core.sharing.lru import ByteLRU
from bertviz_core.sharing.threads import use_threads
from bertviz_core.tracing.changes import Asked, Changes, Override, hold_value, join_changes, take_changes
from bertviz_core.tracing.env import ROWS, TraceEnv
from bertviz_core.tracing.inputs import check_encoding, encode, make_inputs
from bertviz_core.tracing.layout import Layout
from bertviz_core.tracing.planning import Plan, plan_changes
from bertviz_core.tracing.readonly import lock
from bertviz_core.tracing.worked import Worked

CACHE_BYTES = 96_000_000  # recomputed tensors held by a trace that shares no cache

Cache = ByteLRU[tuple[object, ...], Any]  # tensors, and what was read out of them
Spine = Mapping[str, Tensor]  # by address

_NUMBERS = itertools.count()


class Trace(Worked):
    """The record of one forward pass. Nothing in it changes once it is made.

    Whatever takes an address takes it as text or read already, and raises AddressError for one that is not there.
    before: the pass without changes, if this is one with them; computed: the addresses that the run gave new numbers;
    threads: on how many PyTorch computed them, and computes again what is looked at; read_at: when somebody last
    looked, on the monotonic clock; on_return: told of a trace that has its spine again.
    """

    def __init__(
        self,
        model: Model,
        encoding: Encoding,
        program: str = "bert",
        cache: Cache | None = None,
        spine: Spine | None = None,
    ) -> None:
        """spine: what the run keeps, where that is known already; as `run` has the others."""
        encoding = check_encoding(model, encoding)
        if cache is not None and not isinstance(cache, ByteLRU):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may have no types
            raise ArgumentError.of("A trace's cache must be a ByteLRU", cache, "Leave it out for one of its own.")
        plain = Plan(model.written(program), encoding)
        self._begin(model, plain, None, {}, cache if cache is not None else ByteLRU(CACHE_BYTES), spine)

    def with_changes(self, changes: Asked, *, spine: Spine | None = None) -> Trace:
        """The pass with numbers, formulas or tokens changed, run again from the first layer that a change reaches.

        changes: by address, made in this order, after those that the trace has already. Raises AddressError or
        InputError for a change that cannot be made, and for one that leaves no finite numbers; {} is none. spine: what
        this run keeps, where that is known already.
        """
        before = self.before or self
        every = join_changes(self.changes, take_changes(changes))
        if not every:
            return before
        trace = Trace.__new__(Trace)
        trace._begin(self.model, plan_changes(before.layout, before.encoding, every), before, every, self.cache, spine)
        return trace

    def _begin(
        self,
        model: Model,
        planned: Plan,
        before: Trace | None,
        changes: Changes,
        cache: Cache,
        spine: Spine | None = None,
    ) -> None:
        self.model = model
        self.before = before
        self.changes: Changes = MappingProxyType({where: hold_value(value) for where, value in changes.items()})
        self.encoding = planned.encoding
        self.program: Program = planned.program
        self.layout = Layout(model, self.program, len(self.encoding))
        self._plan = planned
        self.threads: int = before.threads if before else torch.get_num_threads()
        self.number = next(_NUMBERS)  # its own key in a cache that traces share
        self._inputs = {path: self._changed(path, row) for path, row in make_inputs(self.encoding, model.dtype).items()}
        self.cache = cache
        self._lock = threading.RLock()
        self.reading = threading.RLock()  # of `remember`: what takes long must not keep others from the tensors
        self._spine: dict[str, Tensor] = {}
        self.is_held = True  # the spine: else it has to be computed first
        self.read_at = time.monotonic()
        self.on_return: Callable[[Trace], object] = lambda _: None
        if spine is not None:
            self._spine.update(spine)
            self.computed = tuple(step.address for step in self.program.forward if self._reached(step.address))
            return
        with self._computing():
            self.computed = tuple(self._run())

    def __reduce__(self) -> tuple[Callable[..., Trace], tuple[object, ...]]:
        """What another process needs to have the same trace: its numbers, and which model to load there."""
        own = {path: self[path] for path in self.program.spine if self._reached(path)}
        if self.before is not None:
            return _change_again, (self.before, dict(self.changes), own)
        model = self.model
        which = model.name, (model.whole or model).revision, note_model(model), model.dtype, model.heads
        return _put_together, (*which, self.encoding, self.program.name, own)

    @property
    def tokens(self) -> list[str]:
        """The text of each token, in order."""
        return list(self.encoding.tokens)

    @cached_property
    def addresses(self) -> tuple[str, ...]:
        """Every recorded address, in the order computed."""
        return tuple(step.address for step in self.program.steps)

    def overrides(self, address: Where) -> tuple[Override, ...]:
        """What was put in place of the numbers of a whole tensor, in order."""
        return self._overrides(self.layout.located(address)[0].address)

    def _overrides(self, address: str) -> tuple[Override, ...]:
        return self._plan.overrides.get(address, ())

    def reached(self, address: Where) -> bool:
        """Whether a change can have made a difference to a tensor. A trace without changes was computed throughout."""
        return self._reached(self.layout.located(address)[0].address)

    def _reached(self, address: str) -> bool:
        return self.before is None or address in self._plan.reached

    def __contains__(self, address: Where) -> bool:
        """Whether `trace[address]` is there: of a tensor, a slice or a cell, of parameters and inputs too."""
        return self.layout.has(address)

    def __iter__(self) -> Iterator[str]:
        """Every recorded address, in the order computed, as a mapping gives its keys."""
        return iter(self.addresses)

    def __len__(self) -> int:
        """How many addresses were recorded."""
        return len(self.addresses)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self.addresses)

    def __getitem__(self, address: Where) -> np.ndarray:
        """The tensor or slice as a read-only array, axes as `dims` says. Also takes parameters and inputs."""
        symbol, fixed = self.layout.located(address)
        env = self._env()
        if symbol.address in self.program.by_rows:
            cells = env.part(symbol.address, symbol.axes, {axis: range(i, i + 1) for axis, i in fixed.items()})
            return lock(cells)[(*(0 if axis in fixed else slice(None) for axis in symbol.axes), ...)]
        return lock(env[symbol.address])[(*(fixed.get(axis, slice(None)) for axis in symbol.axes), ...)]

    @cached_property
    def nbytes(self) -> int:
        """Bytes of memory that the run took for its spine; what is that of the pass before is counted there."""
        storages = [tensor.untyped_storage() for tensor in self._spine.values()]
        shared = self.before._spine.values() if self.before else ()
        elsewhere = {tensor.untyped_storage().data_ptr() for tensor in shared}
        sizes = {storage.data_ptr(): storage.nbytes() for storage in storages}
        return sum(size for place, size in sizes.items() if place not in elsewhere)

    def let_go(self) -> None:
        """Hold the spine no longer, unless something is computed from it right now. Who reads on has it run again."""
        if self.nbytes and self._lock.acquire(blocking=False):
            self._spine, self.is_held = {}, False
            self._lock.release()

    def _return(self, address: str) -> Tensor:
        """A tensor of the spine, which was let go."""
        with self._lock:
            missed = address not in self._spine
            if missed:
                with self._computing():
                    deque(self._run(), maxlen=0)
                self.is_held = True
            found = self._spine[address]
        if missed:
            self.on_return(self)
        return found

    def _env(self, recent: dict[str, Tensor] | None = None) -> TraceEnv:
        return TraceEnv(self.program, self._tensor, self._block, recent)

    @contextmanager
    def _computing(self) -> Generator[None]:
        with torch.inference_mode(), use_threads(self.threads):
            yield

    def _run(self) -> Iterator[str]:
        """Compute the spine, as far as it is not that of the pass before, and say what was computed."""
        recent: dict[str, Tensor] = {}
        mine: set[str] = set()  # of the recent tensors, those that nobody else holds
        env = self._env(recent)
        for step in self.program.forward:
            if self._reached(step.address):
                over = self.program.last_reads[step.address]
                env.spare = over & mine & step.read_once
                result = self._changed(step.address, step.expr.value(env))
                yield step.address
                for name in over:
                    recent.pop(name, None)
                if step.address in self.program.spine:
                    recent.clear()
                    self._spine[step.address] = self._checked(step.address, result)
                else:
                    recent[step.address] = result
                    if step.expr.fresh:
                        mine.add(step.address)
        env.spare = frozenset()
        if self.before is not None:
            self._check_rows(env)

    def _check_rows(self, env: TraceEnv) -> None:
        """Compute now what is computed by rows, if a change made numbers so large that their products may overflow."""
        limit = torch.finfo(self.model.dtype).max ** 0.5
        for address in self.program.by_rows:
            read = [self._spine[leaf.address] for leaf in self.step(address).leaves if leaf.address in self._spine]
            if any(bool(tensor.abs().max() > limit) for tensor in read):
                self._checked(address, env[address])

    def _tensor(self, address: str, env: TraceEnv) -> Tensor:
        self.read_at = time.monotonic()
        for held in (self._spine, self._inputs, self.model.parameters):
            if address in held:
                return held[address]
        if self.before is not None and not self._reached(address):
            return self.before._tensor(address, env)
        if address in self.program.spine:
            return self._return(address)
        if address in self.program.by_rows:
            return env.rows(address, range(-(-self.layout.tokens // ROWS)))
        key = (self.number, address)
        with self._lock:
            found = self.cache.get(key)
            if found is None:
                with self._computing():
                    found = self._changed(address, self.program.by_address[address].expr.value(env))
                self.cache.put(key, found, found.nbytes)
            return found

    def _block(self, address: str, number: int, env: TraceEnv) -> Tensor:
        """One block of rows of a step that is computed by rows."""
        if self.before is not None and not self._reached(address):
            return self.before._block(address, number, env)
        tokens = range(number * ROWS, min((number + 1) * ROWS, self.layout.tokens))
        step, key = self.program.by_address[address], (self.number, address, number)
        with self._lock:
            found = self.cache.get(key)
            if found is None:
                parts = {
                    leaf.address: env.part(leaf.address, leaf.axes, restrict({TOKEN: tokens}, leaf.axes))
                    for leaf in step.leaves
                }
                with self._computing():
                    found = self._changed(address, step.expr.value(parts), tokens)
                self.cache.put(key, found, found.nbytes)
            return found

    def _changed(self, address: str, tensor: Tensor, tokens: range | None = None) -> Tensor:
        """The tensor, or its rows of these tokens, with what was put in place of its numbers."""
        overrides = self._overrides(address)
        if tokens is not None:
            overrides = [inside for override in overrides if (inside := override.within(tokens)) is not None]
        if overrides:
            tensor = tensor.clone()
        for override in overrides:
            override.apply(tensor)
        return tensor

    def _checked(self, address: str, tensor: Tensor) -> Tensor:
        if self.before is not None and not bool(tensor.isfinite().all()):
            raise InputError(f"With this change {address} is no longer finite. Choose a smaller number.")
        return tensor


def _put_together(
    name: str,
    revision: str,
    digest: str,
    dtype: torch.dtype,
    heads: tuple[str, ...],
    encoding: Encoding,
    program: str,
    own: Mapping[str, np.ndarray],
) -> Trace:
    """A trace that was taken apart by `Trace.__reduce__`. Raises CheckpointError where its model is not there."""
    model = find_model(name, revision, digest, dtype)
    return Trace(model.keep_heads(heads), encoding, program, spine=_as_tensors(own))


def _change_again(before: Trace, changes: Asked, own: Mapping[str, np.ndarray]) -> Trace:
    return before.with_changes(changes, spine=_as_tensors(own))


def _as_tensors(own: Mapping[str, np.ndarray]) -> Spine:
    return {path: torch.tensor(numbers) for path, numbers in own.items()}


def run(
    model: Model,
    text: str | Encoding,
    text_pair: str | None = None,
    *,
    pad_to: int | None = None,
    masked: Iterable[int] = (),
    program: str = "bert",
    changes: Asked | None = None,
    cache: Cache | None = None,
) -> Trace:
    """The forward pass of one text, or of two, with every intermediate under its address.

    text: a sentence, or tokens already encoded; text_pair: a second one; pad_to: to how many tokens to fill up with
    [PAD]; masked: the positions to put [MASK] at; program: "bert", or the document whose formulas to run; changes: what
    to do differently, by address, as `Trace.with_changes` takes them; cache: one that several traces share. Numbers are
    as the model has them: attention weights and probabilities are shares of 1, all others have no unit. Raises
    InputError for what the model cannot read, and for a program that there is not; ArgumentError for what is no model
    or no text. Source: Devlin et al. 2018, and for each step `trace.step(address).source`.

        >>> trace = bv.run(model, "He sat by the [MASK].")
        >>> trace["encoder.layer.3.attention.self.probs"].shape
        (12, 8, 8)
        >>> trace.dims("encoder.layer.3.attention.self.probs[head=5]")
        ('query', 'key')
    """
    encoding = text if isinstance(text, Encoding) else encode(model, text, text_pair, pad_to, masked, program)
    trace = Trace(model, encoding, program, cache)
    return trace if changes is None else trace.with_changes(changes)
