"""Numbers as the app writes them: four decimals, powers of ten beyond that, a true minus."""

from __future__ import annotations

import math
from collections.abc import Iterable

DECIMALS = 4


def format_latex(value: float | int) -> str:
    """A number as LaTeX: `-0.4321`, `12`, `1.00\\times 10^{-12}`."""
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        return r"\mathrm{nan}" if math.isnan(value) else (r"\infty" if value > 0 else r"-\infty")
    if _is_plain(value):
        return f"{value:.{DECIMALS}f}"
    mantissa, exponent = f"{value:.3e}".split("e")
    return rf"{mantissa}\times 10^{{{int(exponent)}}}"


def format_number(value: float | int) -> str:
    """A number as plain text, with U+2212 for minus: `−0.4321`, `12`, `1.000e−12`."""
    if isinstance(value, int):
        text = f"{value:,}"
    elif not math.isfinite(value) or _is_plain(value):
        text = f"{value:.{DECIMALS}f}"
    else:
        text = f"{value:.3e}"
    return text.replace("-", "\N{MINUS SIGN}")


def write_plain_sum(terms: Iterable[float]) -> str:
    """A sum as plain text, all of its terms; a negative one behind the first stands in parentheses: `0.1 + (−0.2)`."""
    first, *others = map(format_number, terms)
    return " + ".join([first, *(f"({term})" if term.startswith("\N{MINUS SIGN}") else term for term in others)])


def format_percent(part: float) -> str:
    """A part of a whole, 0 to 1, with the digits worth reading: `52 %`, `0.4 %`, `< 0.1 %`, `> 99.9 %`."""
    percent = 100 * part
    if 0 < percent < 0.1:
        text = "< 0.1"
    elif 99.9 < percent < 100:
        text = "> 99.9"
    else:
        near = 0 < percent < 9.95 or 99 < percent < 100  # an end of the scale
        text = f"{percent:.1f}" if near else f"{percent:.0f}"
    return f"{text}\N{NO-BREAK SPACE}%"


def format_degrees(angle: float) -> str:
    """An angle with the digits worth reading: `80°`, `8.4°`; `–` where there is none."""
    if not math.isfinite(angle):
        return "–"
    return f"{angle:.0f}°" if angle >= 9.95 else f"{angle:.1f}°"


def format_share(part: float) -> str:
    """A probability, 0 to 1, with the digits that tell it from its neighbours: `14.3 %`, `0.21 %`, `< 0.001 %`."""
    percent = 100 * part
    if 0 < percent < 0.001:
        text = "< 0.001"
    else:
        text = f"{percent:.{1 if percent >= 1 or not percent else 2 if percent >= 0.1 else 3}f}"
    return f"{text}\N{NO-BREAK SPACE}%"


def _is_plain(value: float) -> bool:
    return value == 0 or 1e-3 <= abs(value) < 1e5
