"""Worked formulas read back: every member of a chain of equations, as far as its printed digits go.

A number that is printed stands for all that round to it. So a member has a value and a bound on how far rounding may
have moved it, and two members are equal where their bounds overlap.
"""

import math
import re
from dataclasses import dataclass
from functools import cached_property

from tests.latex import read

_EXACT = re.compile(r"\d+|\d+\.0{9,}")
_BROKEN = re.compile(r"^\\footnotesize\\begin\{aligned\} & (.*) \\end\{aligned\}$", re.DOTALL)
_SEPARATE = re.compile(r",\\quad|\\quad\\text\{[^}]*\}\\quad|\\neq|\\\\\[3pt\] &")
_QUIET = re.compile(
    r"\\(?:mathrm|text)\{\s*(?:GELU|ReLU|sigmoid|terms|tanh)\s*\}|\\tanh|\\scriptstyle|\\cdots"
    r"|\\(?:begin|end)\{aligned\}|\\(?:frac|sqrt|cdot|times|left|right|bigl|bigr|sin|cos|max|quad)\b"
    r"|\be\^"
)
_CELL = re.compile(r"\\mathrm\{([a-z_\\]+)\}=(\d+)")


@dataclass(frozen=True)
class Rounded:
    """A number, and how far at most it may be off."""

    value: float
    slack: float = 0.0

    def __add__(self, other):
        return Rounded(self.value + other.value, self.slack + other.slack)

    def __sub__(self, other):
        return self + -other

    def __neg__(self):
        return Rounded(-self.value, self.slack)

    def __mul__(self, other):
        a, b = abs(self.value), abs(other.value)
        return Rounded(self.value * other.value, a * other.slack + b * self.slack + self.slack * other.slack)

    def __truediv__(self, other):
        least = abs(other.value) - other.slack
        if least <= 0:
            return Rounded(self.value / other.value, math.inf)
        value = self.value / other.value
        return Rounded(value, (self.slack + abs(value) * other.slack) / least)

    def __pow__(self, other):
        value = self.value**other.value
        if self.slack == 0 and self.value > 1:
            return Rounded(value, self.value ** (other.value + other.slack) - value)
        assert other.slack == 0, "a power of two rounded numbers"
        return Rounded(value, (abs(self.value) + self.slack) ** other.value - abs(value))

    def sqrt(self):
        root = math.sqrt(self.value)
        return Rounded(root, self.slack / root if root else math.sqrt(self.slack))

    def larger(self, other):
        return Rounded(max(self.value, other.value), max(self.slack, other.slack))

    def meets(self, other) -> bool:
        """Whether both can be roundings of one number."""
        single = 4e-6 * max(abs(self.value), abs(other.value))  # what single precision rounds
        return abs(self.value - other.value) <= (self.slack + other.slack) * (1 + 1e-6) + single


def apply(function, steepest):
    """A function of a rounded number; steepest: its largest slope anywhere."""
    return lambda x: Rounded(function(x.value), steepest * x.slack)


def compute_gelu(x: float) -> float:
    return x * (1 + math.erf(x / math.sqrt(2))) / 2


def compute_gelu_tanh(x: float) -> float:
    return x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


FUNCTIONS = {
    "GELU": apply(compute_gelu, 1.13), r"GELU_\tanh": apply(compute_gelu_tanh, 1.13),
    "ReLU": apply(lambda x: max(x, 0.0), 1.0), r"\tanh": apply(math.tanh, 1.0), r"\sin": apply(math.sin, 1.0),
    r"\cos": apply(math.cos, 1.0), "sigmoid": apply(lambda x: 1 / (1 + math.exp(-x)), 0.25),
    r"\max": Rounded.larger,
}  # fmt: skip


def read_digits(text: str) -> Rounded:
    """A printed number; a whole one is exact, also one with very many zeros."""
    if _EXACT.fullmatch(text) or len(text) > 15:  # as e is written
        return Rounded(float(text))
    return Rounded(float(text), 0.5 * 10.0 ** -len(text.partition(".")[2]))


@dataclass(frozen=True)
class Chain:
    """Equations in one line: a = b = c."""

    members: tuple[str, ...]

    @cached_property
    def numeric(self) -> list[str]:
        """The members without letters."""
        return [member for member in self.members if member and not re.search(r"[A-Za-z]", _QUIET.sub(" ", member))]

    @property
    def counts(self) -> bool:
        """Whether it ends in a number that is more than part of a definition."""
        last = self.members[-1]
        return bool(self.numeric) and self.numeric[-1] == last and (len(self.numeric) > 1 or "." in last)

    @property
    def result(self) -> Rounded:
        """The number at its end."""
        return calculate(self.members[-1])

    @property
    def cell(self) -> dict[str, int]:
        """The indices by axis that stand under its first symbol."""
        return {axis.replace("\\", ""): int(i) for axis, i in _CELL.findall(self.members[0])}


def calculate(member: str) -> Rounded:
    """The value of a member without letters."""
    assert r"\cdots" not in member, f"not all terms are written out in {member[:200]}"
    return read(member, {}, read_digits, FUNCTIONS)


def find_chains(formula: str) -> list[Chain]:
    """The chains of a formula that end in a number; those in letters alone define something."""
    broken = _BROKEN.match(formula.strip())
    text = re.sub(r" \\\\\[\d+pt\] &= ", " = ", broken[1]) if broken else formula
    chains = [Chain(tuple(split_members(part))) for part in _SEPARATE.split(text)]
    return [chain for chain in chains if chain.counts]


def split_members(text: str) -> list[str]:
    """A chain cut at its equality signs, but not at those inside braces."""
    parts, depth, start = [], 0, 0
    for found in re.finditer(r"\\\\|\\.|[{}=]", text):
        sign = found[0]
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if sign == "=" and not depth:
            parts.append(text[start : found.start()])
            start = found.end()
    return [part.strip().removeprefix("&").strip() for part in (*parts, text[start:])]
