"""With how many decimals the numbers of a calculation are printed, so that a reader who checks it finds it right."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

_FEWEST, _MORE = 2, 3  # decimals of a sum; how many more are tried
_FINEST = 8


@dataclass(frozen=True)
class Digits:
    """Decimals of a calculation's numbers. total: of what it leads to; terms: of what is added; factors: of what is
    multiplied; exact: whether the printed numbers work out to the last digit.
    """

    total: int
    terms: int
    factors: int
    exact: bool


def find_fewest(values: Sequence[float]) -> int:
    """The decimals that leave the largest of some values at least two significant digits, and two at least."""
    largest = max(map(abs, values), default=0.0)
    return _FEWEST if largest == 0 else max(_FEWEST, 1 - math.floor(math.log10(largest)))


def fit_sum(values: Sequence[float], total: float, finer: tuple[int, ...] = (0, 1)) -> Digits:
    """The fewest decimals with which values add up to their total as printed. finer: how many more a value may have."""
    fewest = find_fewest(values)
    for decimals in range(fewest, fewest + _MORE):
        for terms in (decimals + more for more in finer):
            if _adds(values, total, terms, decimals):
                return Digits(decimals, terms, terms, True)
    return Digits(fewest, fewest + finer[-1], fewest + finer[-1], False)


def fit_product(factors: tuple[float, float], product: float, decimals: int) -> int:
    """The fewest decimals of two factors whose printed product is the recorded one, printed with `decimals`."""
    return fit_results([(factors, product)], decimals, lambda one, other: one * other)


def fit_quotient(dividend: float, divisor: float, quotient: float, decimals: int) -> int:
    """The fewest decimals of a dividend whose printed quotient is the recorded one, printed with `decimals`."""
    return fit_results([((dividend, 1.0), quotient)], decimals, lambda one, _: one / divisor)


def fit_results(
    rows: Sequence[tuple[tuple[float, float], float]], decimals: int, work: Callable[[float, float], float]
) -> int:
    """The fewest decimals of all pairs with which each leads to its own result, printed with `decimals`.

    Where none do, as where a change broke the calculation, those of the results.
    """
    for finer in range(decimals, _FINEST + 1):
        printed = ((work(*(_print(each, finer) for each in pair)), result) for pair, result in rows)
        if all(_units(one, decimals) == _units(other, decimals) for one, other in printed):
            return finer
    return decimals


def fit_chain(levels: Sequence[float], operands: Sequence[float], operate: Sequence[str]) -> Digits:
    """The fewest decimals for a chain of operations, each leading from one level to the next.

    levels: one more than operands; operate: one of + − × ÷ for each operand. Where not all printed operations can be
    right to the last digit, the sums come first, then the way from the first level to the last one as a whole.
    """
    fewest = find_fewest(levels)
    found = [_try_chain(levels, operands, operate, decimals) for decimals in range(fewest, fewest + _MORE)]
    best = max(found, key=lambda each: each[0])  # the first of equal ones
    return best[1]


_WORK: dict[str, Callable[[float, float], float]] = {
    "+": lambda level, operand: level + operand,
    "−": lambda level, operand: level - operand,
    "×": lambda level, operand: level * operand,
    "÷": lambda level, operand: level / operand if operand else 0.0,
}


def _try_chain(
    levels: Sequence[float], operands: Sequence[float], operate: Sequence[str], decimals: int
) -> tuple[tuple[int, bool, int], Digits]:
    """How many sums are right as printed, whether the whole is, and how many products, and with which decimals."""
    steps = list(zip(pairwise(levels), operands, operate, strict=True))

    def check(step: tuple[tuple[float, float], float, str], finer: int) -> bool:
        (level, reached), operand, sign = step
        worked = _WORK[sign](_print(level, decimals), _print(operand, finer))
        return _units(worked, decimals) == _units(reached, decimals)

    sums = sum(check(step, decimals) for step in steps if step[2] in "+−")
    scaled = [step for step in steps if step[2] in "×÷"]
    tried = {
        finer: (_leads_on(levels, operands, operate, decimals, finer), sum(check(step, finer) for step in scaled))
        for finer in (decimals, decimals + 1)
    }
    factors = max(tried, key=lambda finer: tried[finer])
    whole, right = tried[factors]
    return (sums, whole, right), Digits(decimals, decimals, factors, sums + right == len(steps))


def _leads_on(
    levels: Sequence[float], operands: Sequence[float], operate: Sequence[str], decimals: int, finer: int
) -> bool:
    """Whether the printed operands lead from the first printed level to the last one. finer: decimals of factors."""
    value = _print(levels[0], decimals)
    for operand, sign in zip(operands, operate, strict=True):
        value = _WORK[sign](value, _print(operand, finer if sign in "×÷" else decimals))
    return _units(value, decimals) == _units(levels[-1], decimals)


def _adds(values: Sequence[float], total: float, terms: int, decimals: int) -> bool:
    """Whether the printed values come nearer to the printed total than to any other number with its decimals."""
    finer = 10 ** (terms - decimals)
    printed = sum(_units(value, terms) for value in values)
    return 2 * abs(printed - _units(total, decimals) * finer) < finer


def _print(value: float, decimals: int) -> float:
    return float(f"{value:.{decimals}f}")


def _units(value: float, decimals: int) -> int:
    """A printed number in units of its last digit."""
    return round(_print(value, decimals) * 10**decimals)
