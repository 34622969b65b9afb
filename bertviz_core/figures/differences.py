"""What a change did to a chart: its numbers after minus before, wherever both draw the same places."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bertviz_core.figures.base import Chart, Spec
from bertviz_core.figures.heatmap import make_color_bar
from bertviz_core.figures.palette import Palette, Scale
from bertviz_core.figures.texts import Rich
from bertviz_core.formula.numbers import format_number, format_short

APART = "after − before"
_PLACES = {  # what has to be the same in both, by kind of trace
    "heatmap": ("x0", "dx", "y0", "dy", "x", "y", "xaxis", "yaxis", "name"),
    "bar": ("x0", "dx", "orientation", "xaxis", "yaxis", "name", "customdata"),
    "scatter": ("x", "xaxis", "yaxis", "name", "customdata"),
}
_ROOM = 1.35  # of a value axis to each side, for the numbers beside bars


def is_same(before: Chart, after: Chart) -> bool:
    """Whether two charts draw the same."""
    return _equals(before.traces, after.traces) and _equals(before.layout, after.layout)


def subtract_charts(
    before: Chart, after: Chart, colors: Palette, renamed: Mapping[str, str] | None = None
) -> tuple[Chart, float] | None:
    """A chart's numbers minus those of the chart that was drawn before a change, and the largest size of them.

    Drawn around 0, on symmetric scales; scales that were shared stay so. None where the two charts draw different
    places, as two rankings do. renamed: what has another name after the change, as a swapped token has.
    """
    old = _rename(before.traces, renamed or {}), _rename(before.layout, renamed or {})
    if len(old[0]) != len(after.traces) or not _has_same_axes(old[1], after.layout):
        return None
    pairs = list(zip(old[0], after.traces, strict=True))
    linear = all(
        after.layout.get(_name_axis(trace), {}).get("type") != "log" for trace in after.traces if not _is_map(trace)
    )
    if not linear or not all(_has_same_places(one, other) for one, other in pairs):
        return None
    apart = [_read(other) - _read(one) for one, other in pairs]
    ends = _find_ends(after.traces, apart)
    traces = tuple(
        _draw_map(trace, found, ends[_name_scale(trace)], colors)
        if trace["type"] == "heatmap"
        else _draw_values(trace, found, colors)
        for trace, found in zip(after.traces, apart, strict=True)
    )
    layout = _keep_common(old[1], after.layout) | _set_value_axes(after, ends, colors)
    largest = max((float(np.nanmax(np.abs(found), initial=0.0)) for found in apart), default=0.0)
    return Chart(traces, layout, after.cells, after.picked_from), largest


def _rename(part: Any, renamed: Mapping[str, str]) -> Any:
    """A part of a chart in which these texts are others."""
    if isinstance(part, str):
        return renamed.get(part, part)
    if isinstance(part, Mapping):
        return {key: _rename(value, renamed) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [_rename(value, renamed) for value in part]
    return part


def _equals(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_equals(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        one, other = np.asarray(one), np.asarray(other)
        numbers = all(np.issubdtype(each.dtype, np.number) for each in (one, other))
        return one.shape == other.shape and bool(np.array_equal(one, other, equal_nan=numbers))
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_equals, one, other))
    return bool(one == other)


def _has_same_axes(one: Spec, other: Spec) -> bool:
    """Whether all axes have the same kinds and the same words."""
    axes = {key for key in (*one, *other) if key.startswith(("xaxis", "yaxis"))}
    return all(
        _equals(one.get(axis, {}).get(part), other.get(axis, {}).get(part))
        for axis in axes
        for part in ("type", "ticktext")
    )


def _has_same_places(one: Spec, other: Spec) -> bool:
    kind = other["type"]
    if one["type"] != kind or kind not in _PLACES or "base" in other:
        return False
    places = [*_PLACES[kind], *({"x", "y"} - {_name_values(other)} if kind == "bar" else ())]
    return _read(one).shape == _read(other).shape and all(_equals(one.get(key), other.get(key)) for key in places)


def _is_map(trace: Spec) -> bool:
    return trace["type"] == "heatmap"


def _name_values(trace: Spec) -> str:
    """Which part of a trace holds its numbers; the others say where they stand."""
    if _is_map(trace):
        return "z"
    return "x" if trace.get("orientation") == "h" else "y"


def _read(trace: Spec) -> np.ndarray:
    return np.asarray(trace[_name_values(trace)], dtype=np.float64)


def _name_axis(trace: Spec) -> str:
    """The axis of the layout on which a trace's numbers are read off."""
    side = _name_values(trace)
    return f"{side}axis{trace.get(f'{side}axis', side)[1:]}"


def _name_scale(trace: Spec) -> object:
    """What traces have in common that are drawn on one scale: its end, or the axis."""
    return float(trace["zmax"]) if _is_map(trace) else _name_axis(trace)


def _find_ends(traces: Sequence[Spec], apart: Sequence[np.ndarray]) -> dict[object, float]:
    """The largest difference on every scale."""
    ends: dict[object, float] = {}
    for trace, found in zip(traces, apart, strict=True):
        scale = _name_scale(trace)
        ends[scale] = max(ends.get(scale, 0.0), float(np.nanmax(np.abs(found), initial=0.0)))
    return {scale: end or 1.0 for scale, end in ends.items()}


def _draw_map(trace: Spec, apart: np.ndarray, end: float, colors: Palette) -> Spec:
    drawn = {**trace, "z": apart.astype(np.float32), "zmin": -end, "zmax": end, "colorscale": _diverge(trace, colors)}
    if "colorbar" in trace:
        bar = make_color_bar(apart, -end, end, colors)
        drawn["colorbar"] = {**trace["colorbar"], "tickvals": bar["tickvals"], "ticktext": bar["ticktext"]}
    if "text" in trace:  # numbers in the cells
        drawn["text"] = [[format_short(float(x)) for x in row] for row in drawn["z"]]
    return _say(drawn)


def _diverge(trace: Spec, colors: Palette) -> Scale:
    """A signed scale that ends in the colour in which the map's own ends."""
    return (0.0, colors.negative), (0.5, colors.zero), (1.0, trace["colorscale"][-1][1])


def _draw_values(trace: Spec, apart: np.ndarray, colors: Palette) -> Spec:
    """Bars or a line. Bars keep their colour, or are slate below 0."""
    drawn = {**trace, _name_values(trace): apart.astype(np.float32)}
    if trace["type"] == "bar":
        own = trace["marker"]["color"]
        tints = [own] * len(apart) if isinstance(own, str) else own
        inks = [colors.negative if x < 0 else ink for ink, x in zip(tints, apart, strict=True)]
        drawn["marker"] = {**trace["marker"], "color": inks}
        if "text" in trace:
            drawn["text"] = [format_number(float(x)) for x in apart]
    return _say(drawn)


def _say(trace: Spec) -> Spec:
    if "hovertemplate" in trace:
        trace["hovertemplate"] = Rich(trace["hovertemplate"].replace("<b>", f"{APART} <b>", 1))
    return trace


def _keep_common(one: Spec, other: Spec) -> Spec:
    """The layout after the change without numbers, and texts and shapes that it has elsewhere, or not at all."""
    kept = {
        key: [
            each
            for each in other[key]
            if any(_equals(each, same) for same in one.get(key, ())) and not _is_number(each.get("text", ""))
        ]
        for key in ("annotations", "shapes")
        if key in other
    }
    return {**other, **kept}


def _is_number(text: str) -> bool:
    """Whether a text on a chart says a number only."""
    return re.fullmatch(r"[<>\s]*[-\u2212]?[\d.,]+(·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?\s?%?", re.sub(r"</?b>", "", text)) is not None


def _set_value_axes(after: Chart, ends: Mapping[object, float], colors: Palette) -> Spec:
    """The axes of bars and lines: symmetric around 0, and named for what they show now."""
    found: Spec = {}
    for trace in after.traces:
        axis = _name_axis(trace)
        if _is_map(trace) or axis in found:
            continue
        own, end = after.layout[axis], _ROOM * ends[axis]
        title, named = own.get("title", {}), "ticktext" in own  # some axes have a name where numbers are usual
        text = title.get("text", "")
        found[axis] = {
            **own,
            "range": [-end, end],
            "zeroline": True,
            "zerolinecolor": colors.faint,
            "title": {**title, "text": f"{text}, {APART}" if text else "" if named else APART},
        }
        if named:
            found[axis]["tickvals"] = [0]
    return found
