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

from bertviz_core.formula.numbers import format_degrees, format_percent, format_short, write_column
from bertviz_core.ui.walk.svg import LETTER, WIDTH, draw_line, draw_rect, fit, make_svg, write_text

_BARS = 124  # of a picture of many terms
_USUAL = 0.97  # of a strip's numbers
_APART = 7  # pixels from dot to dot on a curve
_RING, _BELOW = 12, 14  # pixels that a ringed point keeps clear, and from an axis to the line of text below it
_CROWDS = (("bv-few", 1, 2), ("bv-some", 3, 12), ("bv-many", 13, 10**9))  # so many numbers in one dot
_FAR, _HIGH, _NAME = 230, 128, 112  # pixels: of a direction at most, of the picture, of the name beside it
_ROOM = 18  # pixels above the line in which a text has room


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
            write_text(0, 60, "0", "bv-mono"),
            write_text(WIDTH, 60, "1", "bv-mono bv-end"),
            write_text(WIDTH / 2, 60, "all shares, end to end", "bv-middle"),
        ],
        0.0,
    )
    for share in shares:
        width = share.part / total * WIDTH
        look = "bv-zero" if share.rest else "bv-own" if share.own else "bv-own bv-pale"
        body.append(draw_rect(left + 0.5, 18, max(0.6, width - 1), 28, look))
        if share.own:
            body.append(_own_label(left, f"{share.name}: {format_percent(share.part)}"))
        elif LETTER * len(share.name) + 10 < width:
            body.append(write_text(left + 6, 37, share.name, "bv-dark"))
        left += width
    return make_svg(64, body, "All shares end to end")


def _own_label(left: float, text: str) -> str:
    wide = LETTER * len(text)
    return write_text(max(0.0, min(left + 1, WIDTH - wide)), 12, text, "bv-strong")


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
        draw_line(0, zero, WIDTH, zero, "bv-axis"),
        _draw_raised(f"{len(up):,} raise it  +{format_short(float(up.sum()))}", zero),
        _draw_lowered(f"{len(down):,} lower it  {format_short(float(down.sum()))}", zero),
    ]
    return make_svg(132, [*body, *_draw_balance(float(up.sum()), float(-down.sum()), bias)], "The terms, largest first")


def _draw_raised(text: str, zero: float) -> str:
    """What raises a sum, where no bars are: above those that lower it, or where these begin."""
    return (
        write_text(WIDTH, 14, text, "bv-end bv-owntext")
        if zero > _ROOM
        else write_text(0, zero + 16, text, "bv-owntext")
    )


def _draw_lowered(text: str, zero: float) -> str:
    """What lowers a sum: at the left end of the bars that do; or, where they have no room, below what raises it."""
    return (
        write_text(WIDTH, 32, text, "bv-end bv-negtext") if zero > 82 - _ROOM else write_text(0, 84, text, "bv-negtext")
    )


def _draw_balance(up: float, down: float, bias: float | None) -> list[str]:
    """Two lengths against each other; between the marks lies what is left over."""
    longest = max(up, down) or 1.0
    ends = sorted((up / longest * WIDTH, down / longest * WIDTH))
    more = "" if bias is None else f", bias {format_short(bias)}"
    left_over = f"left over {'+' if up > down else ''}{format_short(up - down)}{more}"
    half = LETTER * len(left_over) / 2
    middle = min(max(sum(ends) / 2, half), WIDTH - half)
    return [
        draw_rect(0, 92, up / longest * WIDTH, 7, "bv-own bv-half"),
        draw_rect(0, 101, down / longest * WIDTH, 7, "bv-neg bv-half"),
        *(draw_line(end, 90, end, 116, "bv-mark") for end in ends),
        write_text(middle, 128, left_over, "bv-middle bv-dark"),
    ]


def draw_waterfall(pieces: Sequence[Piece], result: Piece, top: int = 0) -> str:
    """The parts of a sum, each from where the one before ended; below them the sum."""
    return make_svg(top + 20 * len(pieces) + 22, draw_falls(pieces, result, top), "The parts of the sum, end to end")


def draw_falls(pieces: Sequence[Piece], result: Piece, top: int) -> list[str]:
    """The same as shapes of a larger picture. top: pixels above them."""
    ends = np.concatenate([[0.0], np.cumsum([piece.amount for piece in pieces]), [result.amount]])
    finite = np.nan_to_num(ends, posinf=0.0, neginf=0.0)
    low, high = float(finite.min()), float(finite.max())
    left, width = 112, WIDTH - 112 - 66

    def place(value: float) -> float:
        return left + (value - low) / ((high - low) or 1.0) * width

    body: list[str] = []
    numbers = write_column([piece.amount for piece in (*pieces, result)])
    for i, piece in enumerate((*pieces, result)):
        start, end, last = float(finite[i]), float(finite[i + 1]), i == len(pieces)
        x0, x1, y = place(0.0 if last else start), place(end), top + 20 * i
        look = f"{'bv-neg' if piece.amount < 0 else f'bv-of-{piece.kind}' if piece.kind else 'bv-own'}"
        bold = " bv-strong" if last else ""
        body += [
            write_text(0, y + 14, fit(piece.name, left - 6), f"bv-dark{bold}"),
            draw_rect(min(x0, x1), y + 4, max(1.0, abs(x1 - x0)), 12, look if last else f"{look} bv-half"),
            write_text(WIDTH, y + 14, numbers[i], f"bv-mono bv-dark bv-end{bold}"),
        ]
        if not last:
            body.append(draw_line(x1, y + 16, x1, y + 24, "bv-axis"))
    zero = place(0.0)
    return [*body, draw_line(zero, top + 1, zero, top + 20 * len(pieces) + 20, "bv-mark")]


def draw_curve(function: Callable[[np.ndarray], np.ndarray], at: float, others: np.ndarray, note: str) -> str:
    """A function with all neighbours on it, and this one's way from its input to its result."""
    others = others[np.isfinite(others)]
    low = min(-4.0, at - 0.6, float(others.min(initial=at)) - 0.3)
    high = max(4.0, at + 0.6, float(others.max(initial=at)) + 0.3)
    x = np.linspace(low, high, 120)
    y, own = function(x), float(function(np.array([at]))[0])
    bottom, top = min(float(y.min()), own) - 0.3, max(float(y.max()), own) + 0.3
    height = 144

    def across(value: float) -> float:
        return 24 + (value - low) / (high - low) * (WIDTH - 30)

    def up(value: float) -> float:
        return height - 34 - (value - bottom) / ((top - bottom) or 1.0) * (height - 42)

    curve = "L".join(f"{across(a):.1f} {up(b):.1f}" for a, b in zip(x, y, strict=True))
    counts = Counter(round(across(float(a)) / _APART) * _APART for a in others)
    heights = function(np.array([low + (x - 24) / (WIDTH - 30) * (high - low) for x in counts]))
    spots = [(x, up(float(height)), count) for (x, count), height in zip(counts.items(), heights, strict=True)]
    px, py, zero_x, zero_y = across(at), up(own), across(0.0), up(0.0)
    body = [
        draw_line(across(low), zero_y, across(high), zero_y, "bv-axis"),
        draw_line(zero_x, up(bottom), zero_x, up(top), "bv-axis"),
        f'<path class="bv-curve" d="M{curve}"/>',
        *_draw_dots(spots),
        f'<path class="bv-lead" d="M{px:.1f} {zero_y:.1f}V{py:.1f}H{zero_x:.1f}"/>',
        f'<circle class="bv-own bv-ringed" cx="{px:.1f}" cy="{py:.1f}" r="5.5"/>',
        *_name_way(px, py, zero_x, zero_y, at, own),
        write_text(0, height - 3, note, ""),
    ]
    return make_svg(height, body, note)


def _name_way(px: float, py: float, zero_x: float, zero_y: float, at: float, own: float) -> Iterator[str]:
    """The input and the result beside the axes; where the way is flat, on both sides of it and clear of the ring."""
    flat = abs(py - zero_y) < _RING
    below = zero_y + _BELOW
    yield write_text(px, min(py, zero_y) - _RING if flat else below, format_short(at), "bv-mono bv-middle bv-dark")
    if flat:
        yield write_text(zero_x + 6, max(below, py + 4), format_short(own), "bv-mono bv-dark")
    else:
        yield write_text(zero_x - 6, py + 4, format_short(own), "bv-mono bv-end bv-dark")


def _draw_dots(spots: Sequence[tuple[float, float, int]]) -> Iterator[str]:
    """Dots, each for the numbers next to each other there: the darker, the more. spots: x, y and how many."""
    for look, least, most in _CROWDS:
        path = "".join(f"M{x} {y:.1f}h0" for x, y, count in spots if least <= count <= most)
        if path:
            yield f'<path class="bv-own-dots {look}" d="{path}"/>'


def find_usual(rows: Sequence[np.ndarray]) -> float:
    """Where colours of strips are full: few numbers lie beyond, so that one that does leaves no other one pale."""
    return float(np.quantile(np.abs(rows), _USUAL))


def draw_strip(image: str, at: int | None, length: int, note: str) -> str:
    """A row of a table as a strip of colours, one number ringed, if one is. image: a data URL, one pixel a number."""
    return (
        f"{ring_strip(image, at, length)}"
        f'<div class="bv-rowends"><span>0</span><span>{escape(note)}</span><span>{length - 1:,}</span></div>'
    )


def ring_strip(image: str, at: int | None, length: int) -> str:
    """A strip of colours with one of its numbers ringed, if one is."""
    ring = "" if at is None else f'<i style="left:calc({at / length * 100:.2f}% - 4px)"></i>'
    return f'<div class="bv-rowstrip"><img src="{image}" alt="">{ring}</div>'


def draw_angle(degrees: float, one: tuple[str, str], two: tuple[str, str]) -> str:
    """Two directions from one point, at their angle: one to the right, the other as far around as it is.

    one, two: the names of the vectors, and of which kind each is, "" for the number's own.
    """
    turn, half = math.radians(degrees), math.radians(degrees / 2)
    back = max(0.0, -math.cos(turn))  # of its length, that the other lies to the left
    far = min(_FAR, (_HIGH - 26) / max(0.1, math.sin(turn)), (WIDTH - _NAME) / (1 + back))
    x, y, arc = 4 + back * far, _HIGH - 12.0, far / 3
    across, up = x + far * math.cos(turn), y - far * math.sin(turn)
    bend = f"{x + arc * math.cos(turn):.1f} {y - arc * math.sin(turn):.1f}"
    body = [
        f'<path class="bv-turn" d="M{x:.1f} {y:g}H{x + arc:.1f}A{arc:.1f} {arc:.1f} 0 0 0 {bend}z"/>',
        *(
            f'<path class="bv-direction"{_color(kind)} d="M{x:.1f} {y:g}L{x1:.1f} {y1:.1f}{_draw_head(x1, y1, way)}"/>'
            for x1, y1, way, (_, kind) in ((x + far, y, 0.0, one), (across, up, turn, two))
        ),
        write_text(
            x + (arc + 8) * math.cos(half), y - 2 - (arc + 8) * math.sin(half), format_degrees(degrees), "bv-degrees"
        ),
        write_text(x + far + 8, y + 4, fit(one[0], _NAME - 12), "bv-dark"),
        write_text(across + (0 if back else 10), max(12.0, up + (-8 if back else 4)), fit(two[0], 170), "bv-dark"),
    ]
    return make_svg(_HIGH, body, "The angle between the two vectors")


def _color(kind: str) -> str:
    """What makes a shape's colour that of a kind, and not of the number's own."""
    return f' style="--cell:var(--bv-{kind}-cell)"' if kind else ""


def _draw_head(x: float, y: float, way: float) -> str:
    """The head of an arrow that goes this way, in radians."""
    wings = (f"{x - 9 * math.cos(way + side):.1f} {y + 9 * math.sin(way + side):.1f}" for side in (0.45, -0.45))
    return "".join(f"M{x:.1f} {y:.1f}L{wing}" for wing in wings)
