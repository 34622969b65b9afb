"""Texts in the cells of a heat map, each in the ink that stands out best from its cell.

Plotly chooses between black and white by a brightness of its own, by which some are hard to read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from bertviz_core.figures.texts import Rich
from bertviz_core.figures.tints import choose_ink, mix

Spec = dict[str, Any]
IN_CELL = "in-cell"  # the name of such a text, which the browser leaves out where cells are narrower (plotly_inside.js)
WRITTEN: Spec = {"texttemplate": Rich("%{text}")}  # of a heat map whose `text` stands in its cells


def ink_texts(spec: Spec) -> Spec:
    """A chart in which what heat maps write in their cells stands over them as texts of its own."""
    texts = [text for trace in spec["data"] if _is_written(trace) for text in _list_texts(trace)]
    if not texts:
        return spec
    layout = spec["layout"]
    return {
        "data": [_strip(trace) if _is_written(trace) else trace for trace in spec["data"]],
        "layout": {**layout, "annotations": [*layout.get("annotations", ()), *texts]},
    }


def _is_written(trace: Mapping[str, Any]) -> bool:
    return trace["type"] == "heatmap" and "texttemplate" in trace


def _strip(trace: Mapping[str, Any]) -> Spec:
    return {key: part for key, part in trace.items() if key not in ("text", "texttemplate", "textfont")}


def _list_texts(trace: Mapping[str, Any]) -> Iterator[Spec]:
    axes = {f"{side}ref": trace.get(f"{side}axis", side) for side in "xy"}
    low, high, scale = trace["zmin"], trace["zmax"], trace["colorscale"]
    for row, (numbers, texts) in enumerate(zip(trace["z"], trace["text"], strict=True)):
        for column, (number, text) in enumerate(zip(np.asarray(numbers).tolist(), texts, strict=True)):
            if text and np.isfinite(number):
                back = _find_color(scale, (number - low) / ((high - low) or 1.0))
                yield {
                    "name": IN_CELL,
                    "text": text,
                    "x": trace["x0"] + column * trace["dx"],
                    "y": trace["y0"] + row * trace["dy"],
                    "showarrow": False,
                    "font": {**trace.get("textfont", {}), "color": choose_ink(back)},
                    **axes,
                }


def _find_color(scale: Sequence[tuple[float, str]], part: float) -> str:
    """The colour at a part of a scale, from 0 to 1."""
    place = min(max(part, 0.0), 1.0)
    (start, one), (stop, other) = next(ends for ends in pairwise(scale) if place <= ends[1][0])
    return mix(one, other, (place - start) / (stop - start))
