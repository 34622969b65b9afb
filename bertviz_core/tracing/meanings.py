"""What a step does, in words, and what changes do to the numbers that its formula gives."""

from __future__ import annotations

from collections.abc import Iterable

from bertviz_core.formula.steps import Step
from bertviz_core.tracing.changes import Override
from bertviz_core.tracing.trace import Trace

PUTS, MULTIPLIES, ADDS = "puts", "multiplies", "adds to"
_SAID = {
    PUTS: "A change puts other numbers there than this formula gives.",
    MULTIPLIES: "A change multiplies what this formula gives.",
    ADDS: "A change adds to what this formula gives.",
}


def name_doing(overrides: Iterable[Override]) -> str:
    """What changes do to numbers, as a verb; "" where there are none. Of several, that they put others."""
    done = {MULTIPLIES if each.times else ADDS if each.plus else PUTS for each in overrides}
    return "" if not done else done.pop() if len(done) == 1 else PUTS


def tell_doing(doing: str) -> str:
    """What a change does to what a formula gives, in a sentence; "" where it does nothing."""
    return _SAID.get(doing, "")


def tell_meaning(trace: Trace, step: Step, doing: str | None = None) -> str:
    """What a step does, in its own words; these are not said of numbers that a change put there.

    doing: what changes do, where only a part of the step's tensor is told of; else it is looked up.
    """
    said = tell_doing(name_doing(trace.overrides(step.address)) if doing is None else doing)
    return f"{said} Without it: {step.meaning}" if said else step.meaning
