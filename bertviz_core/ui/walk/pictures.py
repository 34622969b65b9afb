"""The drawer's small pictures, one a template, as SVG in the colours of the number's kind.

What has the kind's colour has the class bv-own, what is negative bv-neg; the style sheet knows both themes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from bertviz_core.formula.numbers import format_degrees, format_number, format_percent, format_short

WIDTH = 372  # pixels between the drawer's margins
_BARS = 124  # of a picture of many terms
_USUAL = 0.97  # of a strip's numbers
_APART = 7  # pixels from dot to dot on a curve
_CROWDS = (("bv-few", 1, 2), ("bv-some", 3, 12), ("bv-many", 13, 10**9))  # so many numbers in one dot
_OWN = "bv-middle bv-strong"  # what names the number itself
_ROOM = 18  # pixels above the line in which a text has room
_LETTER = 6.6  # pixels of a small letter, at most


@dataclass(frozen=True)
class Piece:
    """A part of a sum. kind: of vector, whose colour it has; "" for the number's own."""

    name: str
    amount: float
    kind: str = ""


@dataclass(frozen=True)
class Share:
    """A part of a whole. own: whether it is the number that is explained; rest: whether it stands for many."""

    name: str
    part: float
    own: bool = False
    rest: bool = False


def draw_shares(shares: Sequence[Share]) -> str:
    """All parts of 1 end to end, the own one in full colour and named above."""
    total = sum(share.part for share in shares) or 1.0
    body, left = (
        [
            _text(0, 60, "0", "bv-mono"),
            _text(WIDTH, 60, "1", "bv-mono bv-end"),
            _text(WIDTH / 2, 60, "all shares, end to end", "bv-middle"),
        ],
        0.0,
    )
    for share in shares:
        width = share.part / total * WIDTH
        look = "bv-zero" if share.rest else "bv-own" if share.own else "bv-own bv-pale"
        body.append(_rect(left + 0.5, 18, max(0.6, width - 1), 28, look))
        if share.own:
            body.append(_own_label(left, f"{share.name}: {format_percent(share.part)}"))
        elif _LETTER * len(share.name) + 10 < width:
            body.append(_text(left + 6, 37, share.name, "bv-dark"))
        left += width
    return _svg(64, body, "All shares end to end")


def _own_label(left: float, text: str) -> str:
    wide = _LETTER * len(text)
    return _text(max(0.0, min(left + 1, WIDTH - wide)), 12, text, "bv-strong")


def draw_terms(terms: np.ndarray, bias: float | None) -> str:
    """The terms of a sum as bars, largest first; below them what raises it, what lowers it, and what is left over."""
    ordered = np.sort(terms)[::-1]
    if len(ordered) > _BARS:  # each bar then stands for several neighbours
        ordered = ordered[np.linspace(0, len(ordered) - 1, _BARS).round().astype(int)]
    up, down = terms[terms > 0], terms[terms < 0]
    high, low = max(0.0, float(ordered[0])), max(0.0, -float(ordered[-1]))
    scale = 78 / ((high + low) or 1.0)
    zero, step = 4 + high * scale, WIDTH / len(ordered)
    bars = {"bv-own": "", "bv-neg": ""}
    for i, term in enumerate(ordered):
        height = abs(term) * scale
        top, gap = zero - height if term > 0 else zero, 1.5 if step > 4 else 0
        bars["bv-neg" if term < 0 else "bv-own"] += (
            f"M{i * step:.1f} {top:.1f}h{step - gap:.1f}v{max(0.5, height):.1f}h{gap - step:.1f}z"
        )
    body = [f'<path class="{look}" d="{path}"/>' for look, path in bars.items() if path]
    body += [
        _line(0, zero, WIDTH, zero, "bv-axis"),
        _draw_raised(f"{len(up):,} raise it  +{format_short(float(up.sum()))}", zero),
        _draw_lowered(f"{len(down):,} lower it  {format_short(float(down.sum()))}", zero),
    ]
    return _svg(132, [*body, *_draw_balance(float(up.sum()), float(-down.sum()), bias)], "The terms, largest first")


def _draw_raised(text: str, zero: float) -> str:
    """What raises a sum, where no bars are: above those that lower it, or where these begin."""
    return _text(WIDTH, 14, text, "bv-end bv-owntext") if zero > _ROOM else _text(0, zero + 16, text, "bv-owntext")


def _draw_lowered(text: str, zero: float) -> str:
    """What lowers a sum: at the left end of the bars that do; or, where they have no room, below what raises it."""
    return _text(WIDTH, 32, text, "bv-end bv-negtext") if zero > 82 - _ROOM else _text(0, 84, text, "bv-negtext")


def _draw_balance(up: float, down: float, bias: float | None) -> list[str]:
    """Two lengths against each other; between the marks lies what is left over."""
    longest = max(up, down) or 1.0
    ends = sorted((up / longest * WIDTH, down / longest * WIDTH))
    more = "" if bias is None else f", bias {format_short(bias)}"
    left_over = f"left over {'+' if up > down else ''}{format_short(up - down)}{more}"
    half = _LETTER * len(left_over) / 2
    middle = min(max(sum(ends) / 2, half), WIDTH - half)
    return [
        _rect(0, 92, up / longest * WIDTH, 7, "bv-own bv-half"),
        _rect(0, 101, down / longest * WIDTH, 7, "bv-neg bv-half"),
        *(_line(end, 90, end, 116, "bv-mark") for end in ends),
        _text(middle, 128, left_over, "bv-middle bv-dark"),
    ]


def draw_waterfall(pieces: Sequence[Piece], result: Piece, top: int = 0) -> str:
    """The parts of a sum, each from where the one before ended; below them the sum."""
    return _svg(top + 20 * len(pieces) + 22, _draw_waterfall(pieces, result, top), "The parts of the sum, end to end")


def _draw_waterfall(pieces: Sequence[Piece], result: Piece, top: int) -> list[str]:
    ends = np.concatenate([[0.0], np.cumsum([piece.amount for piece in pieces]), [result.amount]])
    finite = np.nan_to_num(ends, posinf=0.0, neginf=0.0)
    low, high = float(finite.min()), float(finite.max())
    left, width = 112, WIDTH - 112 - 66

    def place(value: float) -> float:
        return left + (value - low) / ((high - low) or 1.0) * width

    body: list[str] = []
    for i, piece in enumerate((*pieces, result)):
        start, end, last = float(finite[i]), float(finite[i + 1]), i == len(pieces)
        x0, x1, y = place(0.0 if last else start), place(end), top + 20 * i
        look = f"{'bv-neg' if piece.amount < 0 else f'bv-of-{piece.kind}' if piece.kind else 'bv-own'}"
        bold = " bv-strong" if last else ""
        body += [
            _text(0, y + 14, _fit(piece.name, left - 6), f"bv-dark{bold}"),
            _rect(min(x0, x1), y + 4, max(1.0, abs(x1 - x0)), 12, look if last else f"{look} bv-half"),
            _text(WIDTH, y + 14, format_number(piece.amount), f"bv-mono bv-dark bv-end{bold}"),
        ]
        if not last:
            body.append(_line(x1, y + 16, x1, y + 24, "bv-axis"))
    zero = place(0.0)
    return [*body, _line(zero, top + 1, zero, top + 20 * len(pieces) + 20, "bv-mark")]


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
        _rect(place(mean - spread), 20, place(mean + spread) - place(mean - spread), 30, "bv-zero"),
        *(_draw_ticks(look, kind, places) for look, places in ticks.items()),
        _line(place(mean), 18, place(mean), 52, "bv-mark"),
        _text(place(mean), 64, "mean, ± 1 σ", "bv-middle"),
    ]
    if own is not None:
        far, x = (own - mean) / spread, place(own)
        body += [
            _line(x, 16, x, 50, "bv-strongmark"),
            _line(place(mean), 35, x, 35, "bv-mark"),
            _text(min(max(x, 44.0), WIDTH - 44.0), 12, f"this one: {format_short(far)} σ", _OWN),
        ]
    height, below = (70, []) if result is None else (96 + 20 * len(pieces), _draw_waterfall(pieces, result, 74))
    return _svg(height, [*body, *below], "The vector's numbers on a line")


def _draw_ticks(look: str, kind: str, places: Sequence[float]) -> str:
    path = "".join(f"M{x} 26v18" for x in places)
    return f'<path class="{look}-line" style="--cell:var(--bv-{kind}-cell)" d="{path}"/>'


def draw_curve(function: Callable[[np.ndarray], np.ndarray], at: float, others: np.ndarray, note: str) -> str:
    """A function with all neighbours on it, and this one's way from its input to its result."""
    low, high = min(-4.0, at - 0.6), max(4.0, at + 0.6)
    x = np.linspace(low, high, 90)
    y, own = function(x), float(function(np.array([at]))[0])
    bottom, top = min(float(y.min()), own) - 0.3, max(float(y.max()) * 0.9, own + 0.3)
    height = 132

    def across(value: float) -> float:
        return 24 + (value - low) / (high - low) * (WIDTH - 30)

    def up(value: float) -> float:
        return height - 22 - (min(value, top) - bottom) / ((top - bottom) or 1.0) * (height - 30)

    curve = "L".join(f"{across(a):.1f} {up(b):.1f}" for a, b in zip(x, y, strict=True) if b <= top)
    seen = others[(others > low) & (others < high)]
    counts = Counter(round(across(float(a)) / _APART) * _APART for a in seen)
    heights = function(np.array([low + (x - 24) / (WIDTH - 30) * (high - low) for x in counts]))
    spots = [(x, up(float(height)), count) for (x, count), height in zip(counts.items(), heights, strict=True)]
    px, py, zero_x, zero_y = across(at), up(own), across(0.0), up(0.0)
    body = [
        _line(across(low), zero_y, across(high), zero_y, "bv-axis"),
        _line(zero_x, up(bottom), zero_x, up(top), "bv-axis"),
        f'<path class="bv-curve" d="M{curve}"/>',
        *_draw_dots(spots),
        f'<path class="bv-lead" d="M{px:.1f} {zero_y:.1f}V{py:.1f}H{zero_x:.1f}"/>',
        f'<circle class="bv-own bv-ringed" cx="{px:.1f}" cy="{py:.1f}" r="5.5"/>',
        _text(px, min(zero_y + 14, height - 22.0), format_short(at), "bv-mono bv-middle bv-dark"),
        _text(zero_x - 6, py + 4, format_short(own), "bv-mono bv-end bv-dark"),
        _text(0, height - 3, note, ""),
    ]
    return _svg(height, body, note)


def _draw_dots(spots: Sequence[tuple[float, float, int]]) -> Iterator[str]:
    """Dots, each for the numbers next to each other there: the darker, the more. spots: x, y and how many."""
    for look, least, most in _CROWDS:
        path = "".join(f"M{x} {y:.1f}h0" for x, y, count in spots if least <= count <= most)
        if path:
            yield f'<path class="bv-own-dots {look}" d="{path}"/>'


def find_usual(rows: Sequence[np.ndarray]) -> float:
    """Where colours of strips are full: few numbers lie beyond, so that one that does leaves no other one pale."""
    return float(np.quantile(np.abs(rows), _USUAL))


def draw_strip(image: str, at: int, length: int, note: str) -> str:
    """A row of a table as a strip of colours, one number ringed. image: a data URL, one pixel a number."""
    return (
        f"{ring_strip(image, at, length)}"
        f'<div class="bv-rowends"><span>0</span><span>{escape(note)}</span><span>{length - 1:,}</span></div>'
    )


def ring_strip(image: str, at: int, length: int) -> str:
    """A strip of colours with one of its numbers ringed."""
    left = at / length * 100
    return f'<div class="bv-rowstrip"><img src="{image}" alt=""><i style="left:calc({left:.2f}% - 4px)"></i></div>'


def draw_angle(degrees: float, one: str, two: str) -> str:
    """Two directions from one point, at their angle: one to the right, the other as far around as it is."""
    x, y, far, arc = WIDTH / 2 - 40, 96.0, 92.0, 40.0
    turn, half = math.radians(degrees), math.radians(degrees / 2)
    across, up = x + far * math.cos(turn), y - far * math.sin(turn)
    bend = f"{x + arc * math.cos(turn):.1f} {y - arc * math.sin(turn):.1f}"
    left = math.cos(turn) < -0.3
    body = [
        f'<path class="bv-direction" d="M{x + far:.1f} {y:g}H{x:.1f}L{across:.1f} {up:.1f}"/>',
        f'<path class="bv-mark" d="M{x + arc:.1f} {y:g}A{arc:g} {arc:g} 0 0 0 {bend}"/>',
        _text(
            x + (arc + 10) * math.cos(half), y - 2 - (arc + 6) * math.sin(half), format_degrees(degrees), "bv-strong"
        ),
        _text(x + far + 6, y + 4, _fit(one, WIDTH - x - far - 6), "bv-dark"),
        _text(across + (-6 if left else 6), max(12.0, up + 2), _fit(two, 150), f"bv-dark{' bv-end' * left}"),
    ]
    return _svg(112, body, "The angle between the two vectors")


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
        _line(x, 14, x, 70, "bv-strongmark"),
        _text(min(max(x, 26.0), WIDTH - 26.0), 10, "this one", _OWN),
        _text(0, 84, format_short(-limit), "bv-mono"),
        _text(WIDTH, 84, format_short(limit), "bv-mono bv-end"),
        _text(WIDTH / 2, 84, "the numbers of its table", "bv-middle"),
    ]
    return _svg(88, body, "How the numbers of the table are spread")


def _svg(height: int, body: Sequence[str], label: str) -> str:
    return (
        f'<svg class="bv-picture" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label)}">'
        f"{''.join(body)}</svg>"
    )


def _rect(x: float, y: float, width: float, height: float, look: str) -> str:
    return f'<rect class="{look}" x="{x:.1f}" y="{y:g}" width="{width:.1f}" height="{height:g}" rx="1.5"/>'


def _line(x0: float, y0: float, x1: float, y1: float, look: str) -> str:
    return f'<path class="{look}" d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}"/>'


def _text(x: float, y: float, text: str, look: str) -> str:
    return f'<text class="{look}" x="{x:.1f}" y="{y:g}">{escape(text)}</text>'


def _fit(text: str, width: float) -> str:
    longest = int(width / _LETTER)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
