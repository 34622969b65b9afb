"""A score matrix that is edited by hand: what was typed is kept as typed, and what can be read of it is used."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

import numpy as np

from bertviz_core.errors import InputError

LARGEST = 1e6
Edits = Mapping[tuple[int, int], str]
_EDIT = re.compile(r"(\d{1,3})\.(\d{1,3})=(.*)")
_ENDS_AND_DIGITS = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,4})?", re.ASCII)
_WORDLESS = {"nan", "inf", "infinity"}


def read_score(text: str, largest: float = LARGEST) -> float:
    """A score as it is typed, at most so large in size. Raises InputError that says what is wrong with it."""
    plain = text.strip().replace("\N{MINUS SIGN}", "-").lower()
    if not plain:
        raise InputError("The field is empty. Type a number, for example 41.74")
    if plain.lstrip("+-") in _WORDLESS:
        raise InputError(f"{text.strip()} is not a finite number, and a softmax needs finite scores. Type a number")
    if not _ENDS_AND_DIGITS.fullmatch(plain):
        raise InputError(f"“{text.strip()}” is not a number. Type digits with a point, for example −60.94")
    value = float(plain)
    if not math.isfinite(value) or abs(value) > largest:
        beyond = "too large" if value > 0 else "too far below 0"
        raise InputError(f"{text.strip()} is {beyond}. Type a number from −{largest:,.0f} to {largest:,.0f}")
    return value


def read_edits(text: str, shape: tuple[int, int]) -> dict[tuple[int, int], str]:
    """Edits as the URL has them, `0.4=12;2.3=abc`, by row and column; what names no cell is left out."""
    found = {}
    for part in text.split(";"):
        match = _EDIT.fullmatch(part.strip())
        if match and int(match[1]) < shape[0] and int(match[2]) < shape[1]:
            found[int(match[1]), int(match[2])] = unquote(match[3])
    return found


def write_edits(edits: Edits) -> str:
    """Edits for the URL: the inverse of `read_edits`."""
    return ";".join(f"{row}.{column}={quote(text, safe='')}" for (row, column), text in sorted(edits.items()))


@dataclass(frozen=True, eq=False)
class Edited:
    """A matrix after its edits, and for each cell that could not be read what is wrong with it."""

    scores: np.ndarray
    problems: Mapping[tuple[int, int], str]


def apply_edits(matrix: np.ndarray, edits: Edits, allowed: Collection[int] = (), largest: float = LARGEST) -> Edited:
    """The matrix with every edit that is a number; where it is none, the matrix's own number stays.

    allowed: the only numbers that may stand there, if any are named; largest: in size.
    """
    scores, problems = np.array(matrix, dtype=np.float64), {}
    for place, text in edits.items():
        try:
            scores[place] = _read_allowed(text, allowed, largest)
        except InputError as error:
            problems[place] = str(error)
    return Edited(scores, problems)


def _read_allowed(text: str, allowed: Collection[int], largest: float) -> float:
    value = read_score(text, largest)
    if allowed and value not in allowed:
        known = ", ".join(str(one) for one in sorted(allowed))
        raise InputError(f"There is nothing under {text.strip()}. Type one of {known}")
    return value


def apply_softmax(scores: np.ndarray) -> np.ndarray:
    """The softmax of every row, in float64."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True, initial=-np.inf))
    return powers / powers.sum(axis=-1, keepdims=True)


def compute_slopes(shares: np.ndarray) -> np.ndarray:
    """How fast each share moves with its own score: p (1 - p)."""
    return shares * (1 - shares)


def leave_unscaled(products: np.ndarray, scaled: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The softmax of a row of products that were not divided by the root of d_k; padding stays hidden as it was."""
    mask = np.asarray(scores, dtype=np.float64) - np.asarray(scaled, dtype=np.float64)
    return apply_softmax(np.asarray(products, dtype=np.float64) + mask)
