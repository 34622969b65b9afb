"""What is read out of a trace at some cost, kept beside its recomputed tensors: in one cache, under one bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, cast

import numpy as np

from bertviz_core.tracing.trace import Trace

T = TypeVar("T")
_LEAST_BYTES = 64  # so that what holds no array counts as well


def remember(trace: Trace, name: str, make: Callable[[], T]) -> T:
    """What `make` gives, made once for all who ask, and made again if the cache had to let it go.

    Meanwhile the trace's tensors can be read; whatever else is to be remembered of it waits.

    name: unique among all that is read out of traces. The value is shared by all sessions: its arrays are to be locked.
    It must not hold on to the trace, which the cache would keep alive.
    """
    found = recall(trace, name)
    if found is None:
        with trace.reading:
            found = recall(trace, name)
            if found is None:
                found = make()
                trace.cache.put(_name(trace, name), found, measure_bytes(found))
    return cast(T, found)


def remember_apart(trace: Trace, name: str, make: Callable[[], T]) -> T:
    """`remember` for what takes long: meanwhile nobody waits, and whoever asks for the same makes it too."""
    found = recall(trace, name)
    if found is None:
        made = make()
        found = remember(trace, name, lambda: made)
    return cast(T, found)


def recall(trace: Trace, name: str) -> object | None:
    """What is remembered of a trace under this name; None where nothing is."""
    return trace.cache.get(_name(trace, name))


def _name(trace: Trace, name: str) -> tuple[object, ...]:
    return trace.number, "read out", name


def measure_bytes(value: object) -> int:
    """Bytes of the arrays and texts in a value: one of these, or an object, mapping, tuple or list of such."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, str):
        return _LEAST_BYTES + len(value)
    parts: list[object]
    if isinstance(value, Mapping):
        parts = list(cast(Mapping[object, object], value).values())
    elif isinstance(value, tuple | list):
        parts = list(cast(Sequence[object], value))
    else:
        parts = list(getattr(value, "__dict__", {}).values())
    return _LEAST_BYTES + sum(map(measure_bytes, parts))
