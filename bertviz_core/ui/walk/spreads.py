"""The drawer's pictures of many numbers side by side: on a line, counted, or in their order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bertviz_core.formula.numbers import format_number, format_short
from bertviz_core.ui.walk.pictures import Piece, draw_falls
from bertviz_core.ui.walk.svg import LETTER, WIDTH, draw_line, draw_rect, fit, make_svg, write_text

_OWN = "bv-middle bv-strong"  # what names the number itself
_BINS = 62  # of a histogram, each 6 pixels wide
_BELOW = 66  # pixels from the top to the axis of a histogram with its ends


def draw_spread(
    values: np.ndarray, kind: str, own: float | None, pieces: Sequence[Piece] = (), result: Piece | None = None
) -> str:
    """A vector's numbers as ticks on a line, with their mean and one standard deviation on either side.

    kind: of the vector, whose colour they have; own: the one that is explained; pieces, result: of a sum below them.
    """
    mean = float(values.mean())
    spread = float(values.std()) or max(1.0, abs(mean))
    ends = [mean - 4 * spread, mean + 4 * spread, *([] if own is None else [own - spread / 2, own + spread / 2])]
    low, high = min(ends), max(ends)

    def place(value: float) -> float:
        return 6 + (value - low) / (high - low) * (WIDTH - 12)

    inside = values[(values > low) & (values < high)]
    ticks = {
        look: sorted({round(place(float(value)), 1) for value in part})
        for look, part in (("bv-own", inside[inside >= 0]), ("bv-neg", inside[inside < 0]))
    }
    body = [
        draw_rect(place(mean - spread), 20, place(mean + spread) - place(mean - spread), 30, "bv-zero"),
        *(_draw_ticks(look, kind, places) for look, places in ticks.items()),
        draw_line(place(mean), 18, place(mean), 52, "bv-mark"),
        write_text(place(mean), 64, "mean, ± 1 σ", "bv-middle"),
    ]
    if own is not None:
        far, x = (own - mean) / spread, place(own)
        body += [
            draw_line(x, 16, x, 50, "bv-strongmark"),
            draw_line(place(mean), 35, x, 35, "bv-mark"),
            write_text(min(max(x, 44.0), WIDTH - 44.0), 12, f"this one: {format_short(far)} σ", _OWN),
        ]
    height, below = (70, []) if result is None else (96 + 20 * len(pieces), draw_falls(pieces, result, 74))
    return make_svg(height, [*body, *below], "The vector's numbers on a line")


def _draw_ticks(look: str, kind: str, places: Sequence[float]) -> str:
    path = "".join(f"M{x} 26v18" for x in places)
    return f'<path class="{look}-line" style="--cell:var(--bv-{kind}-cell)" d="{path}"/>'


def draw_moments(values: np.ndarray, kind: str, mean: float, spread: float | None = None) -> str:
    """How a vector's numbers are spread, on an axis with its ends; on it their mean, or that with a standard deviation
    on either side.

    kind: of the vector, whose colour they have; spread: where the variance is explained, its root.
    """
    sides = (mean,) if spread is None else (mean - spread, mean + spread)
    values = values[np.isfinite(values)]
    if not len(values) or not np.isfinite(sides).all():
        return ""
    low, high = _widen(min(float(values.min()), *sides), max(float(values.max()), *sides))

    def place(value: float) -> float:
        return (value - low) / (high - low) * WIDTH

    counts, edges = np.histogram(values, bins=_BINS, range=(low, high))
    step, tallest = WIDTH / _BINS, int(counts.max())
    bars = {"bv-own": "", "bv-neg": ""}
    for i, count in enumerate(counts):
        if count:
            height = max(1.0, 44 * count / tallest)
            side = "bv-own" if edges[i] + edges[i + 1] >= 0 else "bv-neg"
            bars[side] += f"M{i * step:.1f} {_BELOW}v{-height:.1f}h{step - 1:.1f}V{_BELOW}z"
    named = f"the mean: {format_number(mean)}" if spread is None else f"± σ: {format_number(spread)}"
    half = LETTER * len(named) / 2
    body = [
        draw_rect(place(min(sides)), 18, place(max(sides)) - place(min(sides)), 48, "bv-zero"),
        *(
            f'<path class="{look}" style="--cell:var(--bv-{kind}-cell)" d="{path}"/>'
            for look, path in bars.items()
            if path
        ),
        draw_line(0, _BELOW, WIDTH, _BELOW, "bv-axis"),
        *(draw_line(place(side), 16, place(side), _BELOW + 4, "bv-strongmark") for side in sides),
        write_text(min(max(place(mean), half), WIDTH - half), 12, named, _OWN),
        write_text(0, _BELOW + 16, format_short(low), "bv-mono"),
        write_text(WIDTH, _BELOW + 16, format_short(high), "bv-mono bv-end"),
        write_text(WIDTH / 2, _BELOW + 16, f"the {len(values):,} numbers, how often", "bv-middle"),
    ]
    return make_svg(_BELOW + 22, body, "How the vector’s numbers are spread")


def _widen(low: float, high: float) -> tuple[float, float]:
    """Ends between which all bins have a width: of numbers that are nearly the same, and very large, they have none."""
    least = max(abs(low), abs(high)) * _BINS * np.finfo(np.float64).eps * 4
    room = 1.0 if low == high else 0.0
    room = max(room, least if high - low < least else 0.0)
    return low - room, high + room


def draw_components(values: np.ndarray, what: str) -> str:
    """A vector's numbers as bars, in their order. what: which they are, with {} for how
    many."""
    shown = values
    if len(values) > WIDTH:  # each bar then stands for several neighbours, with the one that is largest in size
        parts = np.array_split(values, WIDTH)
        shown = np.array([part[np.abs(part).argmax()] for part in parts])
    end, step = float(np.abs(values).max(initial=0.0)), WIDTH / len(shown)
    bars = {"bv-own": "", "bv-neg": ""}
    for i, value in enumerate(shown.tolist()):
        height = 30 * value / (end or 1.0)
        bars["bv-neg" if value < 0 else "bv-own"] += f"M{i * step:.1f} 34v{-height:.1f}h{step * 0.85:.1f}V34z"
    body = [
        *(f'<path class="{look}" d="{path}"/>' for look, path in bars.items() if path),
        draw_line(0, 34, WIDTH, 34, "bv-axis"),
        write_text(0, 80, "0", "bv-mono"),
        write_text(WIDTH / 2, 80, f"{what.format(f'{len(values):,}')}, ± {format_short(end)}", "bv-middle"),
        write_text(WIDTH, 80, f"{len(values) - 1:,}", "bv-mono bv-end"),
    ]
    return make_svg(86, body, "The vector’s numbers in their order")


def draw_histogram(values: np.ndarray, own: float) -> str:
    """How the numbers of a table are spread, with the place of one of them."""
    finite = values[np.isfinite(values)]
    limit = float(np.quantile(np.abs(finite), 0.999)) if finite.size else 0.0
    limit = max(limit, abs(own)) or 1.0
    counts, _ = np.histogram(finite, bins=60, range=(-limit, limit))
    step, tallest = WIDTH / 60, max(1, int(counts.max()))
    bars = "".join(
        f"M{i * step:.1f} 70v{-56 * count / tallest:.1f}h{step - 1:.1f}V70z" for i, count in enumerate(counts) if count
    )
    x = (own + limit) / (2 * limit) * WIDTH
    body = [
        f'<path class="bv-grey" d="{bars}"/>',
        draw_line(x, 14, x, 70, "bv-strongmark"),
        write_text(min(max(x, 26.0), WIDTH - 26.0), 10, "this one", _OWN),
        write_text(0, 84, format_short(-limit), "bv-mono"),
        write_text(WIDTH, 84, format_short(limit), "bv-mono bv-end"),
        write_text(WIDTH / 2, 84, "the numbers of its table", "bv-middle"),
    ]
    return make_svg(88, body, "How the numbers of the table are spread")


def draw_way(ends: Sequence[tuple[str, float]], reached: float, name: str) -> str:
    """The way from one number to another as a line, and how far along it a third one lies, which has a name too."""
    every = [*(value for _, value in ends), reached]
    low, whole = min(every), (max(every) - min(every)) or 1.0

    def place(value: float) -> float:
        return 40 + (WIDTH - 80) * (value - low) / whole

    at, start = place(reached), place(ends[0][1])
    bar = draw_rect(min(start, at), 33.5, abs(at - start), 5, "bv-own")
    body = [draw_line(20, 36, WIDTH - 20, 36, "bv-axis"), bar]
    for end, value in ends:
        x = place(value)
        body += [draw_line(x, 27, x, 45, "bv-strongmark"), write_text(x, 12, fit(end, 130), "bv-dark bv-middle")]
        body += [write_text(x, 60, format_short(value), "bv-mono bv-middle")]
    body += [f'<circle class="bv-own" cx="{at:.1f}" cy="36" r="6"/>', write_text(at, 25, name, _OWN)]
    return make_svg(64, body, f"How far along the way the number lies that is {name}")
