"""The names of lines at their ends: so far apart that each can be read, and joined to its line by a thin one."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from bertviz_core.figures.base import Spec

LEAD = 0.45  # stages from a line to its name


def spread(places: Mapping[str, float], least: float) -> dict[str, float]:
    """Heights by name, moved apart until no two are nearer than this, the lowest staying where it is or lower."""
    found: dict[str, float] = {}
    before = -inf
    for name, place in sorted(places.items(), key=lambda item: item[1]):
        before = max(place, before + least)
        found[name] = before
    over = max(0.0, before - max(places.values(), default=0.0)) / 2
    return {name: place - over for name, place in found.items()}


def fit(places: Mapping[str, float], least: float, top: float) -> dict[str, float]:
    """Heights by name, as `spread` gives them, of which none lies above the top, where there is room for all."""
    found: dict[str, float] = {}
    above = top + least
    for name, place in sorted(spread(places, least).items(), key=lambda item: -item[1]):
        above = min(place, above - least)
        found[name] = above
    return found


def lead(last: int, end: float, name: float, color: str) -> Spec:
    """A thin line from where a token's line ends to its name, which may have had to make room for others."""
    line = {"color": color, "width": 0.75}
    return {"type": "line", "layer": "below", "x0": last + 0.1, "x1": last + LEAD, "y0": end, "y1": name, "line": line}
