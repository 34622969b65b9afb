"""Pieces of LaTeX: brackets where they are needed, and long sums by their first terms and their last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from bertviz_core.formula.numbers import format_latex, format_short_latex

_Cell = TypeVar("_Cell")
_SHOWN_TERMS = 2


ONES = r"\mathbf{1}"  # a vector of ones, as long as it has to be


def bracket(text: str, own: int, level: int) -> str:
    """LaTeX in brackets where its own level binds less tightly than its place needs."""
    return rf"\left({text}\right)" if own < level else text


def bracket_negative(text: str) -> str:
    """A worked number behind a sign: a negative one needs brackets."""
    return rf"\left({text}\right)" if text.startswith("-") else text


def take_ends(cells: list[_Cell]) -> list[_Cell]:
    """What of a long sum is written out: the first few and the last."""
    return cells if len(cells) <= _SHOWN_TERMS + 1 else [*cells[:_SHOWN_TERMS], cells[-1]]


def write_sum(terms: Iterable[str], count: int, brace: bool = True) -> str:
    """A sum of `count` terms, one a line, of which `terms` are written out. brace: something follows the sum."""
    shown = list(terms)
    if count == 1:
        return shown[0]
    if count > len(shown):
        shown.insert(-1, rf"\cdots\ {{\scriptstyle {count}\ \text{{terms}}}}")
    lines = r" \\ ".join(f"& {'+ ' if i else ''}{term}" for i, term in enumerate(shown))
    total = rf"\begin{{aligned}} {lines} \end{{aligned}}"
    return rf"\left.{total}\right\}}" if brace else total


def write_products(left: Sequence[float], right: Sequence[float], brace: bool = True) -> str:
    """A sum of products with its numbers, the first ones and the last. brace: as in `write_sum`."""
    terms = (
        rf"{bracket_negative(format_latex(a))}\cdot {bracket_negative(format_latex(b))}"
        for a, b in take_ends(list(zip(left, right, strict=True)))
    )
    return write_sum(terms, len(left), brace)


def write_largest(left: Sequence[float], right: Sequence[float]) -> str:
    """A sum of products in one line, with short numbers: the largest in size, and dots for all others."""
    order = sorted(range(len(left)), key=lambda i: -abs(left[i] * right[i]))  # equal ones as they stand
    terms = [_write_product(left[i], right[i]) for i in order[:_SHOWN_TERMS]]
    return " + ".join([*terms, *([r"\dots"] if len(order) > len(terms) else [])])


def _write_product(left: float, right: float) -> str:
    one, other = (bracket_negative(format_short_latex(each)) for each in (left, right))
    return f"{one}{other}" if other.startswith(r"\left") else rf"{one} \cdot {other}"
