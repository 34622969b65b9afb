"""What each head is worth to one of several answers of a pass, as numbers and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bertviz_core.analysis.ablation import Ablation, cut_place, drop_zeroed
from bertviz_core.analysis.heads import Summary, find_roles
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_percent, format_short
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.resources import get_store
from bertviz_core.ui.frame.view import View

_UNITS = {
    0: "percentage points",
    -2: "hundredths of a point",
    -3: "thousandths of a point",
    -4: "ten-thousandths of a point",
    -6: "millionths of a point",
}


@dataclass(frozen=True, eq=False)
class Worth:
    """What every head is worth to one of several probabilities: the probability with it, minus that without it.

    found: None as long as nothing is known; outcomes: the probabilities' cells by what they stand for; which: the one
    that is looked at; chosen: the layer and head that pages look at.
    """

    found: Ablation | None
    outcomes: Mapping[str, Address]
    which: int
    all_heads: Summary
    chosen: tuple[int, int]

    @property
    def name(self) -> str:
        return list(self.outcomes)[self.which]

    @property
    def beside(self) -> list[tuple[int, str]]:
        """The probabilities of one softmax with the one that is looked at: their places, and what they stand for."""
        path = list(self.outcomes.values())[self.which].path
        return [(i, cut_place(name)) for i, (name, where) in enumerate(self.outcomes.items()) if where.path == path]

    @cached_property
    def of_heads(self) -> np.ndarray:
        """(layer, head) NaN where it is not known."""
        shape = self.all_heads.pictures.shape[:2]
        return np.full(shape, np.nan) if self.found is None else self.found.measure_worth(self.which)

    @cached_property
    def end(self) -> float:
        """The largest worth in size: the end of the scale."""
        return float(np.abs(np.nan_to_num(self.of_heads)).max()) or 1.0

    @cached_property
    def power(self) -> int:
        """The power of ten, of percentage points, in which it is written: 0, or less where all are tiny."""
        largest = 100 * self.end
        power = 0 if largest >= 0.1 else int(np.floor(np.log10(largest)))
        return power - 1 if power == -5 else power  # to one that has a name

    @property
    def unit(self) -> str:
        return _UNITS.get(self.power) or f"{format_short(10.0**self.power)} points"

    def write(self, worth: float) -> str:
        """What a head is worth, in that unit: `+1.1`, `−5.4`, `0`."""
        text = f"{100 * worth / 10.0**self.power:+.1f}"
        return "0" if float(text) == 0 else text.replace("-", "\N{MINUS SIGN}")

    def write_both(self, layer: int, head: int) -> str:
        """The probability with a head and without it; "" where that is not known."""
        if self.found is None or np.isnan(self.found.without[self.which, layer, head]):
            return ""
        value, without = (
            float(part) for part in (self.found.values[self.which], self.found.without[self.which, layer, head])
        )
        return f"{self.name} {format_percent(value)} with it, {format_percent(without)} without"

    def name_role(self, layer: int, head: int) -> str:
        return ", ".join(role.name for role in find_roles(self.all_heads.of(layer, head)))


def find_base(view: View) -> Trace:
    """The pass in which heads are zeroed: with what was changed in it, but for heads that are zeroed already.

    So the map stays when one of them is then left out.
    """
    trace = view.trace
    others = drop_zeroed(trace)
    if len(others) == len(trace.changes):
        return trace
    return get_store().get(trace.model, view.text, view.pair, len(trace.tokens), view.masked, changes=others)
