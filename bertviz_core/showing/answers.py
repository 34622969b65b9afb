"""The charts of what was worked out of a trace: bars of tokens, bars of layers, a map of heads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bertviz_core.analysis.ablation import WORTH, Ablation, read_cells
from bertviz_core.analysis.attribution import FORMULAS, Attribution
from bertviz_core.analysis.labels import label_tokens
from bertviz_core.analysis.layers import Lens, list_stages
from bertviz_core.analysis.predictions import PROBS
from bertviz_core.errors import InputError
from bertviz_core.figures.bars import SHARES, draw_bars
from bertviz_core.figures.base import Chart
from bertviz_core.figures.head_grid import draw_head_grid
from bertviz_core.figures.palette import Palette
from bertviz_core.formula.address import Address
from bertviz_core.tracing.trace import Trace

Answer = Attribution | Ablation | Lens
_FIRST = r"\max_v P_v"


@dataclass(frozen=True)
class ShownAnswer:
    """An answer that is drawn. address: what was asked about; meaning: what is seen; note: what of it is not there;
    latex: the formula by which what is drawn came about."""

    trace: Trace
    address: Address
    meaning: str
    note: str
    make: Callable[[Palette], Chart]
    latex: str

    def draw(self, colors: Palette) -> tuple[Chart, str]:
        """The chart, and what of the answer it leaves out."""
        return self.make(colors), self.note


def read_answer(trace: Trace, found: Answer) -> ShownAnswer:
    """An answer as it is drawn. Raises InputError for one that is of another trace."""
    if isinstance(found, Attribution):
        return _read_attribution(trace, found)
    return _read_ablation(trace, found) if isinstance(found, Ablation) else _read_lens(trace, found)


def _read_attribution(trace: Trace, found: Attribution) -> ShownAnswer:
    if found.tokens != tuple(trace.tokens):
        raise _refuse(found.target)
    rest = [found.biases] if found.total is not None and found.biases else []
    names = [*label_tokens(trace), *([found.rest] if rest else [])]
    values = np.array([*found.parts, *rest])
    kept = np.isfinite(values)  # hiding knows nothing of a token that is hidden already
    against = f", against {found.against}" if found.against else ""
    return ShownAnswer(
        trace,
        found.target,
        f"Where {found.target} comes from: {found.method}{against}",
        "" if kept.all() else f"{int(kept.sum())} of {len(kept)} tokens",
        lambda colors: draw_bars(
            values[kept],
            [name for name, there in zip(names, kept.tolist(), strict=True) if there],
            colors,
            colors.kinds[trace.step(found.target).kind],
            name=found.method,
        ),
        FORMULAS[found.method],
    )


def _read_ablation(trace: Trace, found: Ablation) -> ShownAnswer:
    address = found.addresses[0]
    if address not in trace or not np.isclose(read_cells(trace, [address])[0], found.values[0], rtol=1e-6):
        raise _refuse(address)
    worth = found.measure_worth()
    others = len(found.addresses) - 1
    return ShownAnswer(
        trace,
        address,
        f"How much less {address} is without each head",
        f"the first of {others + 1} cells" if others else "",
        lambda colors: draw_head_grid(
            worth, float(np.nanmax(np.abs(worth))) or 1.0, found.most_needed, colors, signed=True
        ),
        WORTH,
    )


def _read_lens(trace: Trace, found: Lens) -> ShownAnswer:
    if found.trace is not trace:
        raise _refuse(PROBS.fix(token=found.token))
    best = [ids[0] for ids in found.list_best(1)]
    stages = [
        f"after layer {each.layer}" if each.layer is not None else "before layer 0" for each in list_stages(trace)
    ]
    names = [f"{stage}: {trace.model.tokenizer.name(i)}" for stage, i in zip(stages, best, strict=True)]
    values = found.probs[range(len(best)), best]
    address = PROBS.fix(token=found.token)
    color = trace.step(address).kind
    return ShownAnswer(
        trace,
        address,
        f"The likeliest word at {label_tokens(trace)[found.token]} after every layer",
        "",
        lambda colors: draw_bars(values, names, colors, colors.kinds[color], name="probability", ends=SHARES),
        _FIRST,
    )


def _refuse(address: Address) -> InputError:
    return InputError(f"This answer, of {address}, was worked out of another trace. Show it by that one.")
