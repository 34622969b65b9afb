"""Printed numbers against computed ones: a verdict within the digits that were printed."""

from __future__ import annotations

import math
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal
from enum import Enum


class Verdict(Enum):
    """How a printed number stands to the computed one, from the best to the worst."""

    SAME = "same digits"
    CUT = "cut off, not rounded"  # only where that is how the document prints all numbers: judge_cut
    NEAR = "last digit off by one"
    SINGLE = "equal in single precision"
    DIFFERS = "differs"


def judge_print(printed: str, value: float) -> Verdict:
    """A number as it is printed, such as `-0.0265` or `-2.6957e-03`, against what it should be."""
    if not math.isfinite(value):
        return Verdict.DIFFERS
    unit = _find_unit(printed)
    digits, exact = Decimal(printed) / unit, Decimal(value) / unit
    rounded = exact.to_integral_value(ROUND_HALF_EVEN)
    if rounded == digits:
        return Verdict.SAME
    return Verdict.NEAR if abs(rounded - digits) <= 1 else Verdict.DIFFERS


def judge_cut(printed: str, value: float) -> Verdict:
    """A number whose print with eight decimals, as NumPy writes it, was cut after fewer: `9.99e-01` of 9.99997557e-01.

    The verdict is CUT; SAME where these eight were rounded up to what is printed, as `1.00e+00` of 0.999999999999; or
    DIFFERS.
    """
    unit = _find_unit(printed)
    found = (Decimal(f"{value:.8e}") / unit).to_integral_value(ROUND_DOWN) * unit if math.isfinite(value) else None
    if found is None or found != Decimal(printed):
        return Verdict.DIFFERS
    return Verdict.CUT if abs(found) <= abs(Decimal(value)) else Verdict.SAME


def find_resolution(printed: str) -> float:
    """The size of one unit of the last printed digit: 0.0001 for `-0.0265`."""
    return float(_find_unit(printed))


def _find_unit(printed: str) -> Decimal:
    exponent = Decimal(printed).as_tuple().exponent
    return Decimal(1).scaleb(int(exponent))
