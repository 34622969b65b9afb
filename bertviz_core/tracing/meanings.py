"""What a step does, in words, where a change may have put other numbers than its formula gives."""

from __future__ import annotations

from bertviz_core.formula.steps import Step
from bertviz_core.tracing.trace import Trace

PUT = "A change puts other numbers there than this formula gives."


def tell_meaning(trace: Trace, step: Step, put: bool | None = None) -> str:
    """What a step does, in its own words; these are not said of numbers that a change put there.

    put: whether one did, where only a part of the step's tensor is told of; else it is looked up.
    """
    if trace.overrides(step.address) if put is None else put:
        return f"{PUT} Without it: {step.meaning}"
    return step.meaning
