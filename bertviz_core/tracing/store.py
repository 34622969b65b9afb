"""One store of traces for all sessions: each text is run once, and memory is bounded."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from numbers import Real

from bertviz_core.checkpoint.model import Model
from bertviz_core.errors import ArgumentError
from bertviz_core.sharing.line import Line, Show
from bertviz_core.sharing.lru import ByteLRU
from bertviz_core.sharing.pool import Pool
from bertviz_core.sharing.threads import CORES, Shares
from bertviz_core.tracing.changes import Asked, Changes, take_changes
from bertviz_core.tracing.inputs import encode
from bertviz_core.tracing.rewrites import Rule
from bertviz_core.tracing.taken import Taken
from bertviz_core.tracing.trace import Cache, Trace, run

Key = tuple[object, ...]
LONGEST_LINE = 256  # passes that wait at most
LONG = 128  # tokens: a pass of more is costly, and what is drawn from it
UNREAD_S = 2.0  # a trace that nobody has read for so long can be let go, also where a session may look at it again


def is_long(tokens: int) -> bool:
    """Whether a pass of so many tokens is costly."""
    return tokens > LONG


@dataclass
class _Pending:
    """A pass that somebody with this place in the line has run; without either where that one has left before."""

    number: int
    done: threading.Event = field(default_factory=threading.Event)
    costly: bool = False
    trace: Trace | None = None
    error: BaseException | None = None


def _check_kept(changes: Changes) -> Changes:
    """The same, if a pass can be found again by them. Raises ArgumentError otherwise."""
    for address, value in changes.items():
        if not isinstance(value, Rule | Real | Taken):
            raise ArgumentError.of(
                f"In a store {address} can only be set to a number or a rule",
                value,
                "For an array, use with_changes on the trace that the store gives.",
            )
    return changes


class TraceStore:
    """Traces by (model, revision, token ids, segments, mask, program, changes).

    trace_bytes bounds the traces' spines, also of those that the store has dropped and somebody still holds: of those
    that nobody reads the spine goes where another needs the room, and is computed again for who reads on. cache_bytes
    bounds what is recomputed from all of them together, at_once the number of forward passes that run side by side,
    which share the cores. show: what who waits for one does meanwhile, with the number of those before it; guard:
    called before each pass that is not stored, and raises BusyError where there is no memory for it; who: the visitor
    that the calling thread works for; callers: the line in which it has a turn, if it has one; unread_s: as `UNREAD_S`.
    runs: how many were begun.
    """

    def __init__(
        self,
        trace_bytes: int = 1_000_000_000,
        cache_bytes: int = 500_000_000,
        at_once: int = CORES,
        show: Show = nullcontext,
        guard: Callable[[], object] = lambda: None,
        who: Callable[[], str] = str,
        callers: Line | None = None,
        unread_s: float = UNREAD_S,
    ) -> None:
        for name, number, least in (
            ("trace_bytes", trace_bytes, 0),
            ("cache_bytes", cache_bytes, 0),
            ("at_once", at_once, 1),
        ):
            if not isinstance(number, Real) or number < least:
                raise ArgumentError.of(f"{name} must be a number of at least {least}", number, "Choose a larger one.")
        self._traces: Pool[Key, Trace] = Pool(trace_bytes, lambda trace: trace.nbytes if trace.is_held else 0)
        self._cache: Cache = ByteLRU(cache_bytes)
        self._pending: dict[Key, _Pending] = {}
        self._lock = threading.Lock()
        self._line = Line(at_once, LONGEST_LINE, show, who)
        self._callers = callers or Line(at_once, LONGEST_LINE, nullcontext)
        self._shares = Shares()
        self._guard, self._unread_s = guard, unread_s
        self.runs = 0

    @contextmanager
    def turn(self, number: int | None = None, *, costly: bool = False) -> Generator[None]:
        """A turn to run passes that are not stored, side by side with no more than `at_once` others.

        number: a place in the line that was drawn before; costly: many passes, or long ones, which wait for their lane
        here and among the callers. Not to be asked for where others may wait for what this thread holds, as in
        `remember`. Raises BusyError where too many wait already, and where the memory is full.
        """
        lane = self._callers.costly() if costly else nullcontext()
        with lane, self._line.turn(number, costly=costly), self._shares.take():
            self._guard()
            yield

    @property
    def nbytes(self) -> int:
        """Bytes held now, by whomever: spines, and what was recomputed from them."""
        return self._traces.nbytes + self._cache.nbytes

    def clear(self) -> None:
        """Let go of all that can be made again. A trace that somebody reads stays, for whoever else asks for it."""
        self._traces.drop(lambda _: True)
        self._cache.clear()
        for trace in self._list_unread():
            trace.let_go()

    def forget_model(self, model: Model) -> None:
        """Keep no trace of a model that is gone, since each one holds on to its parameters."""
        self._traces.drop(lambda trace: model in (trace.model, trace.model.whole))

    def get(
        self,
        model: Model,
        text: str,
        text_pair: str | None = None,
        pad_to: int | None = None,
        masked: Iterable[int] = (),
        program: str = "bert",
        changes: Asked | None = None,
    ) -> Trace:
        """The trace of a text: from the store, from a run that another session has begun, or from a run of its own.

        changes: as `Trace.with_changes` takes them, but for arrays; the pass without them is stored as well. Raises
        BusyError where too many wait for a run already, and what `run` and `with_changes` raise.
        """
        changes = {} if changes is None else _check_kept(take_changes(changes))
        encoding = encode(model, text, text_pair, pad_to, masked, program)
        tokens = (encoding.ids, encoding.segments, encoding.mask)
        key: Key = (model.name, model.revision, model.dtype, *tokens, program)
        costly = is_long(len(encoding.ids))
        before = self._shared(key, lambda: run(model, encoding, program=program, cache=self._cache), costly)
        if not changes:
            return before
        return self._shared((*key, *changes.items()), lambda: before.with_changes(changes), costly)

    def _shared(self, key: Key, make: Callable[[], Trace], costly: bool) -> Trace:
        number = self._line.draw()
        while True:
            with self._lock:
                found = self._traces.get(key)
                if found is not None:
                    return found
                others = self._pending.get(key)
                pending = others or self._pending.setdefault(key, _Pending(number))
                pending.costly = costly
            if others is None:
                self._fill(key, pending, make)
            else:
                with self._callers.pause() if others.costly else nullcontext():
                    self._line.await_other(others.number, others.done)
            if pending.error is not None:
                raise pending.error
            if pending.trace is not None:
                return pending.trace

    def _fill(self, key: Key, pending: _Pending, make: Callable[[], Trace]) -> None:
        """Run a pass when its turn comes. Who leaves the line before leaves the pass to those who wait for it too."""
        try:
            with self.turn(pending.number, costly=pending.costly):
                try:
                    with self._lock:
                        self.runs += 1
                    pending.trace = make()
                    self._make_room(pending.trace.nbytes)
                    self._traces.put(key, pending.trace)
                    pending.trace.on_return = partial(self._take_back, key)
                except BaseException as error:
                    pending.error = error
        finally:
            with self._lock:
                del self._pending[key]
            pending.done.set()

    def _take_back(self, key: Key, trace: Trace) -> None:
        """Keep a trace that has its spine again."""
        self._make_room(0)
        self._traces.put(key, trace)

    def _make_room(self, nbytes: int) -> None:
        """Have traces that nobody reads let go of their spines, until so many bytes more fit.

        Sessions hold on to what they show, for hours, and each may show the longest text.
        """
        for unread in self._list_unread():
            if self._traces.nbytes + nbytes <= self._traces.max_bytes:
                break
            unread.let_go()
        self._traces.drop(lambda kept: not kept.is_held)

    def _list_unread(self) -> list[Trace]:
        """The traces that hold a spine and that nobody is reading, the one that was read longest ago first."""
        latest = time.monotonic() - self._unread_s
        unread = [trace for trace in self._traces.list_alive() if trace.is_held and trace.read_at <= latest]
        return sorted(unread, key=lambda trace: trace.read_at)
