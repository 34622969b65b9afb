"""The strips of the canvas as its JavaScript gets them: numbers, title, scale, what the program says of one cell."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertviz_core.analysis.canvas import DIFFERENCE, Faces, Strip
from bertviz_core.analysis.made_from import count_sources, count_uses
from bertviz_core.analysis.ranking import find_robust_limit
from bertviz_core.formula.dims import HEAD
from bertviz_core.formula.functions import Mean
from bertviz_core.formula.markup import write_html
from bertviz_core.formula.nodes import Symbol
from bertviz_core.formula.short import write_short, write_short_expr
from bertviz_core.formula.steps import INPUT, PARAMETER, Step
from bertviz_core.formula.texts import write_count
from bertviz_core.tracing.remember import remember
from bertviz_core.tracing.trace import Trace

_MOST = 0.97
_LOWEST = -0.18  # GELU is nowhere below -0.17, which looks like 0
_RIBBONS = "ribbons"


@dataclass(frozen=True)
class Title:
    """What no formula says of a stage.

    title: as a heading; short: where there is little room; kind: of vector, whose colour it has; scale: stages of one
    are drawn on a common scale.
    """

    title: str
    short: str
    kind: str
    scale: str


TITLES = {
    "embedding": Title("Embedding", "embedding", "embedding", "stream"),
    "output": Title("Layer output", "layer output", "norm", "stream"),
    "neurons": Title("Neurons", "neurons", "ffn", "neurons"),
    _RIBBONS: Title("Attention weights, mean over the heads", "attention", "attention", "weights"),
    "input": Title("Layer input", "layer input", "norm", "stream"),
    "query": Title("Queries", "Q", "query", "query"),
    "key": Title("Keys", "K", "key", "query"),
    "value": Title("Values", "V", "value", "value"),
    "weights": Title("Attention weights", "attention weight", "attention", "weights"),
    "scores": Title("Attention scores", "attention score", "attention", "scores"),
    "context": Title("Concatenated heads", "heads", "value", "value"),
    "added": Title("Attention output", "attention output", "value", "sum"),
    "sum": Title("Residual sum after attention", "residual sum", "residual", "sum"),
    "norm": Title("LayerNorm", "LayerNorm", "norm", "stream"),
    "sum2": Title("Residual sum after feed-forward", "residual sum", "residual", "sum"),
}


class Pack:
    """Arrays one after the other in one run of bytes; equal ones stand there once."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._places: dict[bytes, int] = {}

    def put(self, values: np.ndarray, dtype: str) -> int:
        """The offset at which an array stands, a multiple of four."""
        raw = np.ascontiguousarray(values, dtype).tobytes()
        if raw not in self._places:
            self._bytes += bytes(-len(self._bytes) % 4)
            self._places[raw] = len(self._bytes)
            self._bytes += raw
        return self._places[raw]

    def write(self) -> str:
        """All of it as base64."""
        return base64.b64encode(self._bytes).decode()


def write_strips(strips: Sequence[Strip], faces: Faces, pack: Pack) -> list[dict[str, object]]:
    """What the canvas is given of each strip; the numbers themselves go into `pack`."""
    limits = _find_limits(strips)
    return [_write_strip(strip, faces, limits[find_title(strip).scale], pack) for strip in strips]


def find_title(strip: Strip) -> Title:
    """What a stage is called; the stages of one head, and one seen whole, as those of the layer."""
    return TITLES[strip.name]


def _find_limits(strips: Sequence[Strip]) -> dict[str, float]:
    """The end of each scale: stages that are compared have one together; shares go up to 1.

    A strip that is seen whole keeps the scale that it has in part.
    """
    together: dict[str, list[np.ndarray]] = {}
    for strip in strips:
        if strip.whole:
            continue
        together.setdefault(find_title(strip).scale, []).append(strip.values.ravel())
    return {scale: _find_end(scale, np.concatenate(parts)) for scale, parts in together.items()}


def _find_end(scale: str, values: np.ndarray) -> float:
    """Few neurons are active, and few of those strongly: what most active ones stay below shows their differences."""
    active = values[values > 0]
    if scale == "neurons" and active.size:
        return float(np.quantile(active, _MOST))
    return 1.0 if scale == "weights" else find_robust_limit(values)


def _write_strip(strip: Strip, faces: Faces, limit: float, pack: Pack) -> dict[str, object]:
    title = find_title(strip)
    return {
        "id": strip.id,
        "title": title.title,
        "short": title.short,
        "kind": title.kind,
        "layer": strip.layer,
        "level": strip.level,
        "address": strip.template,
        "rows": "token",
        "columns": list(strip.columns),
        "total": strip.total,
        "size": list(strip.values.shape),
        "at": pack.put(strip.values, "<f4"),
        "mark": None if strip.changed is None else pack.put(strip.changed, "u1"),
        "put": None if strip.put is None else pack.put(strip.put, "u1"),
        "limit": limit,
        "signed": faces.face == DIFFERENCE or _is_signed(title, strip.values),
        **_tell_making(faces.drawn, strip),
    }


def _is_signed(title: Title, values: np.ndarray) -> bool:
    """Whether a scale goes below 0: that of shares does not, nor that of neurons while none is lower than GELU goes."""
    return title.scale != "weights" and (title.scale != "neurons" or bool(values.min() < _LOWEST))


def _tell_making(trace: Trace, strip: Strip) -> dict[str, object]:
    """The formula of one cell as the program has it, as HTML; from how many numbers, for how many; what it reads.

    Remembered.
    """
    step = trace.step(strip.address)
    tell = _tell_mean if strip.name == _RIBBONS else _tell_step
    return remember(trace, f"{tell.__name__} {step.address}", lambda: tell(trace, step))


def _tell_step(trace: Trace, step: Step) -> dict[str, object]:
    uses = count_uses(trace, step.address)
    return {
        "formula": write_html(write_short(step, _paint)),
        "from": _count(count_sources(trace, step.address)),
        "used": _count(uses) if uses else "",
        "reads": [leaf.address for leaf in step.leaves],
    }


def _tell_mean(trace: Trace, step: Step) -> dict[str, object]:
    """Of the mean over the heads, which the canvas draws and no step computes."""
    mean = Mean(step.output, HEAD)
    return {
        "formula": write_html(write_short_expr(mean, _paint)),
        "from": _count(trace.layout.size(mean.over)),
        "used": "",
        "reads": [step.address],
    }


def _paint(symbol: Symbol) -> str:
    """A symbol in the colour of its kind; what the pass does not compute has none."""
    return symbol.tex if symbol.kind in (PARAMETER, INPUT) else rf"\htmlClass{{bvc-kind-{symbol.kind}}}{{{symbol.tex}}}"


def _count(numbers: int) -> str:
    return write_count(numbers, "number")
