"""What tells one pass from all others, also from one that was made again."""

from __future__ import annotations

from bertviz_core.tracing.trace import Trace


def name_pass(trace: Trace) -> tuple[object, ...]:
    """What tells one pass from all others, also from one made again: not its own number."""
    model, encoding = trace.model, (trace.before or trace).encoding
    return (
        model.name,
        model.revision,
        model.dtype,
        encoding.ids,
        encoding.segments,
        encoding.mask,
        trace.program.name,
        tuple(trace.changes.items()),
    )
