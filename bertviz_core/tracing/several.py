"""One trace or many, all of one model, gone through one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from bertviz_core.errors import ArgumentError, InputError
from bertviz_core.tracing.trace import Trace

_REMEDY = "Give what bv.run returns, a list of such, or bv.run_many(model, texts)."


def list_traces(traces: object) -> Iterator[Trace]:
    """Each trace, once asked for. Raises ArgumentError for what is none, InputError for one of other weights."""
    if isinstance(traces, Trace):
        yield traces
        return
    if not isinstance(traces, Iterable) or isinstance(traces, str | bytes):
        raise ArgumentError.of("One trace or several must be given", traces, _REMEDY)
    model = None
    for trace in cast(Iterable[object], traces):
        if not isinstance(trace, Trace):
            raise ArgumentError.of("Each of several traces must be one", trace, _REMEDY)
        model = model or trace.model
        if trace.model is not model and trace.model.digest != model.digest:
            raise InputError(
                f"Traces that are read together must be of one model, not of {model.name!r} and {trace.model.name!r}. "
                "Read those of each model by themselves."
            )
        yield trace
