"""How a number is written, wherever it stands: one rule, the same in the browser (ui/components/shared/numbers.js).

In full a number has four decimals; a large one as many digits as single precision knows, with commas; one below 0.001,
four digits; beyond those a power of ten, as by hand; nothing is 0. The short form is that, rounded to a width that is
known; a percentage has two significant digits; the numbers of a column have the same decimals. A calculation has as
many decimals as it takes to work out as printed. All are roundings of one number, halves to even: none says what
another one denies.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Literal

DECIMALS = 4
FULL_WIDTH, SHORT_WIDTH, PERCENT_WIDTH = 11, 7, 10  # characters of each form, but for powers of more than one digit
WORTH = ".4g"  # what stands for the full form in a template that Plotly fills in (listener/plot.js)

_FIRST_POWER, _LAST_POWER = -4, 6  # of ten, of what is written without one
_DIGITS = 2  # significant ones of what is short
_LEAST, _MOST = 0.001, 99.9  # percent: nearer to 0 and to 100 only that is said
Form = Literal["number", "short", "percent"]  # of a column: in full, short, as a percentage
_PLAIN = re.compile(r"[\d,]+(?:\.(\d+))?")  # a number without sign and power
_ENDS_IN_ZEROS = re.compile(r"\.0+(?=\D)")  # what a percentage reads the same without
_KNOWN = 1e15  # from here on no decimals are known of a double
_MINUS, _SPACE = "\N{MINUS SIGN}", "\N{NO-BREAK SPACE}"
_LINE, _ABOVE = "0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
_RAISED, _LOWERED = str.maketrans(_LINE, _ABOVE), str.maketrans(_ABOVE, _LINE)


def format_number(value: float | int) -> str:
    """A number in full, with U+2212 for minus: `−0.4321`, `1,200`, `31,494.94`, `1.000·10⁻¹²`, `−∞`, `nan`, `0`."""
    text = f"{value:,}" if isinstance(value, int) else _write_strange(value) or _join(_split(value))
    return text.replace("-", _MINUS)


def format_latex(value: float | int) -> str:
    """The full form as LaTeX: `-0.4321`, `1200`, `1.000\\times 10^{-12}`."""
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        return r"\mathrm{nan}" if math.isnan(value) else (r"\infty" if value > 0 else r"-\infty")
    return r"\times 10^".join(part if not i else f"{{{int(part)}}}" for i, part in enumerate(_split(value)))


def format_short(value: float) -> str:
    """A number where there is little room, in about 7 characters: `−0.43`, `0.0012`, `−65,504`, `5·10⁻⁵`, `2·10³⁰⁰`.

    Two decimals; more where they leave less than two digits, fewer where they do not fit. A power of ten where the
    full form has one, or nothing else is left of it.
    """
    strange = _write_strange(value)
    if strange:
        return strange.replace("-", _MINUS)
    plain = len(_split(value)) == 1
    decimals = range(max(_DIGITS, _count_decimals(value)), -1, -1) if value and plain else ()
    texts = [text for places in decimals if re.search("[1-9]", text := write_fixed(value, places))]
    texts += [_join(f"{value:.{places}e}".split("e")).replace("-", _MINUS) for places in (1, 0)] if value else ["0"]
    return next((text for text in texts if len(text) <= SHORT_WIDTH), texts[-1])


def format_short_latex(value: float) -> str:
    """The short form as LaTeX: `-0.43`, `-65504`, `5\\times 10^{-5}`."""
    if not math.isfinite(value):
        return format_latex(value)
    factor, _, power = format_short(value).replace(_MINUS, "-").replace(",", "").partition("·10")
    return rf"{factor}\times 10^{{{power.translate(_LOWERED)}}}" if power else factor


def write_factor(factor: float) -> str:
    """How many times as much, as it is said: `1.3`, `850`, `about 31,000`, `about 31 million`, `about 3.1·10⁹`."""
    if not 1000 <= factor < math.inf:
        return write_fixed(factor, 1 if factor < 100 else 0)
    rounded = float(f"{factor:.{_DIGITS - 1}e}")
    if 1e6 <= rounded < 1e9:
        return f"about {rounded / 1e6:.{1 if rounded < 1e7 else 0}f} million"
    return f"about {rounded:,.0f}" if rounded < 1e6 else f"about {format_short(rounded)}"


def write_size(total: int) -> str:
    """A number of numbers: in millions, where there are any."""
    return f"{total:,}" if total < 1e6 else f"{total / 1e6:.1f} million"


def format_percent(part: float) -> str:
    """A part of a whole, 1 being all of it, with two significant digits: `52 %`, `0.41 %`, `99.4 %`, `−3.0 %`, `130 %`.

    Nearer to nothing, and to all, only that is said: `< 0.001 %`, `> 99.9 %`; what is taken away has the digits that it
    needs: `−0.0004 %`.
    """
    percent = 100 * abs(float(part))
    if part < 0 < percent < _LEAST:
        sign, text = "", _write_least(percent)
    elif 0 < percent < _LEAST:
        sign, text = "<", str(_LEAST)
    elif _MOST < percent < 100:
        sign, text = ">", str(_MOST)
    else:
        sign, text = "", _write_percent(percent)
    if part < 0 and percent:
        sign, text = {"<": ">", ">": "<"}.get(sign, ""), _MINUS + text
    return f"{sign} {text}{_SPACE}%".lstrip()


def read_alike(texts: Iterable[str]) -> bool:
    """Whether numbers as they are written are read as the same one: `99.0 %` and `99 %`."""
    return len({_ENDS_IN_ZEROS.sub("", text) for text in texts}) == 1


def choose_percent(one: float, other: float) -> Callable[[float], str]:
    """How two percentages are written that are compared: as each is by itself, or, where they are read alike and are
    not, both with the fewest decimals that tell them apart, if there are so many."""
    if one != other and read_alike(map(format_percent, (one, other))):
        for places in range(1, DECIMALS + 1):
            write = partial(_write_places, places)
            if write(one) != write(other):
                return write
    return format_percent


def _write_places(places: int, part: float) -> str:
    return f"{write_fixed(100 * part, places)}{_SPACE}%"


def write_column(values: Sequence[float], form: Form = "number") -> list[str]:
    """Numbers one below the other, all with as many decimals as the largest in size has in this form, a percentage at
    least one. Of what is too small for these it is only said that it is less: `< 0.0001`, `< 0.1 %`; among percentages
    of which some are negative, it has the digits that it needs: `−0.04 %`.

    Each as it is by itself, where that largest is 0, or no decimals are known of it.
    """
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    signed = form == "percent" and any(value < 0 for value in values)
    decimals = _count_alike(largest, form, signed)
    if decimals is None:
        return [_FORMS[form](value) for value in values]
    return [_write_alike(value, decimals, form, signed) for value in values]


def _count_alike(largest: float, form: Form, signed: bool) -> int | None:
    """The decimals of a column; None where it has no number of them."""
    if form == "percent":
        percent = 100 * largest
        return min(3, max(1, _count_decimals(percent))) if (signed or percent >= _LEAST) and percent < 1000 else None
    found = _PLAIN.fullmatch(_FORMS[form](largest)) if largest else None
    return len(found[1] or "") if found else None


def _write_alike(value: float, decimals: int, form: Form, signed: bool) -> str:
    if not math.isfinite(value) or not value:
        return _FORMS[form](value)
    size, unit = (100 * abs(value), f"{_SPACE}%") if form == "percent" else (abs(value), "")
    text, less, more = write_fixed(size, decimals), "<", ">"
    if not text.strip("0.") and signed:
        text, less, more = _write_least(size), "", ""
    elif not text.strip("0."):
        text = f"{10.0**-decimals:.{decimals}f}"
    elif form == "percent" and _MOST < size < 100 and float(text) == 100:
        text, less, more = str(_MOST), ">", "<"
    else:
        less = more = ""
    sign = more if value < 0 else less
    return f"{sign} {_MINUS if value < 0 else ''}{text}{unit}".lstrip()


def write_fixed(value: float, decimals: int) -> str:
    """A number of a calculation, with so many decimals and commas; what is printed as zero has no sign."""
    if abs(value) >= _KNOWN:
        return format_number(float(value))
    text = _write_strange(value) or f"{value:,.{decimals}f}"
    return text.lstrip("-") if not text.strip("-0.") else text.replace("-", _MINUS)


_FORMS: Mapping[Form, Callable[[float], str]] = {
    "number": format_number,
    "short": format_short,
    "percent": format_percent,
}


def write_recorded(value: float | int, form: Form = "number") -> str:
    """A recorded number; a whole one, such as an id, names something, and so has no commas."""
    return str(value) if isinstance(value, int) else write_one(value, form)


def write_one(value: float, form: Form) -> str:
    """A number by itself, in one of the forms."""
    return _FORMS[form](value)


def write_plain_sum(terms: Iterable[float]) -> str:
    """A sum as plain text, all of its terms; a negative one behind the first stands in parentheses: `0.1 + (−0.2)`."""
    first, *others = map(format_number, terms)
    return " + ".join([first, *(f"({term})" if term.startswith(_MINUS) else term for term in others)])


def format_degrees(angle: float) -> str:
    """An angle with the digits worth reading: `80°`, `8.4°`; `–` where there is none."""
    if not math.isfinite(angle):
        return "–"
    return f"{angle:.0f}°" if angle >= 9.95 else f"{angle:.1f}°"


def _write_strange(value: float) -> str:
    """What no digits say; "" of a number that has some."""
    return "" if math.isfinite(value) else f"{value:f}".replace("inf", "∞")


def _split(value: float) -> list[str]:
    """The full form of a finite number, without commas: its decimals, or a factor and the power of ten."""
    if not value:
        return ["0"]
    factor, power = f"{value:.{DECIMALS - 1}e}".split("e")  # as it is printed, not as it is: it has the usual digits
    large = int(f"{value:.{DECIMALS + 2}e}".split("e")[1])
    if int(power) < _FIRST_POWER or large > _LAST_POWER:
        return [factor, power]
    more = DECIMALS - 1 if int(power) == _FIRST_POWER else 0
    return [f"{value:.{DECIMALS + more - max(0, large - 2)}f}"]


def _join(parts: list[str]) -> str:
    """The full form, or a power, as it is read: with commas, and what is raised above the line."""
    factor, *powers = parts
    whole, *decimals = factor.split(".")
    grouped = ".".join([f"{'-' * whole.startswith('-')}{int(whole.lstrip('-')):,}", *decimals])
    return "·10".join([grouped, *(str(int(power)).translate(_RAISED) for power in powers)])


def _count_decimals(size: float) -> int:
    """With how many decimals a finite number has two significant digits."""
    return max(0, _DIGITS - 1 - int(f"{size:.{_DIGITS - 1}e}".split("e")[1])) if size else 0


def _write_least(size: float) -> str:
    """A number nearer to 0 than others are written, by its first digit: `0.04`, `0.0004`, `1·10⁻⁵`."""
    factor, power = f"{size:.0e}".split("e")
    return f"{size:.{-int(power)}f}" if int(power) >= _FIRST_POWER else _join([factor, power])


def _write_percent(percent: float) -> str:
    if not math.isfinite(percent) or percent >= 1000:
        return format_short(percent)
    if 99 < percent < 100:  # as near to the whole as another one to nothing
        return f"{percent:.1f}"
    return f"{percent:.{min(3, _count_decimals(percent))}f}"
