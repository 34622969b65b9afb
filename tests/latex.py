"""Reads a formula back: a small calculator for the LaTeX that expressions write, independent of how they write it."""

import math
import re
from collections import deque
from itertools import islice

import torch
from torch.nn import functional

_LAYOUT = re.compile(r"\\(begin|end)\{aligned\}|\\\\|&|\\!")  # lines of a long sum, narrow spaces
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+\.?\d*|\S")
_PLUS, _TIMES = ("+", "-"), (r"\cdot", r"\odot", r"\times", r"\,", "/")
_OPEN, _CLOSE = (r"\left", r"\bigl"), (r"\right", r"\bigr")
_FUNCTIONS = {
    "GELU": functional.gelu,
    r"GELU_\tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "ReLU": torch.relu,
    r"\tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    r"\sin": torch.sin,
    r"\cos": torch.cos,
    r"\max": torch.maximum,
}


def balanced(text: str) -> bool:
    """Whether every brace and every \\left is closed, in order."""
    stack = []
    for token in re.findall(r"\\left.|\\right\\?.|(?<!\\)[{}]", text):
        if token == "{" or token.startswith(r"\left"):
            stack.append(token)
        elif not stack or (stack.pop() == "{") != (token == "}"):
            return False
    return not stack


def evaluated(text: str, symbols: dict[str, torch.Tensor] | None = None) -> torch.Tensor:
    """The value of a formula, products left to right, juxtaposition by a thin space a matrix product."""
    return read(text, symbols or {}, read_exactly, _FUNCTIONS)


def read(text, symbols, number, functions):
    """The value of a formula in any arithmetic. number: makes one of its digits; functions: by their names."""
    reader = _Reader(text, symbols, number, functions)
    value = reader.sum()
    assert not reader.tokens, f"{text!r} could not be read from {list(reader.tokens)[:5]}"
    return value


def read_exactly(digits: str) -> torch.Tensor:
    return torch.tensor(float(digits), dtype=torch.float64)


class _Reader:
    def __init__(self, text, symbols, number, functions):
        self.tokens = deque(_TOKEN.findall(_LAYOUT.sub(" ", text)))
        self.number, self.functions = number, functions
        self.symbols = {"e": number(repr(math.e)), **symbols}

    def take(self, *expected):
        token = self.tokens.popleft()
        assert not expected or token in expected, f"{token} where {expected} should stand"
        return token

    def next_is(self, *tokens):
        return bool(self.tokens) and self.tokens[0] in tokens

    def sum(self):
        value = -self.product() if self.next_is("-") and self.take() else self.product()
        while self.next_is(*_PLUS):
            value = value + self.product() if self.take() == "+" else value - self.product()
        return value

    def product(self):
        value = self.power()
        while self.next_is(*_TIMES, *_OPEN):
            sign = r"\cdot" if self.next_is(*_OPEN) else self.take()  # a bracket after a number multiplies it
            right = self.power()
            value = value @ right if sign == r"\," else value / right if sign == "/" else value * right
        return value

    def power(self):
        value = self.atom()
        while self.next_is("^"):
            self.take()
            if list(islice(self.tokens, 3)) == ["{", r"\top", "}"]:
                self.skipped()
                value = value.mT
            else:
                value = value ** self.group()
        return value

    def group(self):
        """What stands in braces, or the one sign that stands for it."""
        if not self.next_is("{"):
            return self.atom()
        self.take()
        value = self.sum()
        self.take("}")
        return value

    def atom(self):
        if self.next_is("{"):
            return self.group()
        token = self.take()
        if token[0].isdigit():
            return self.number(token)
        if token in self.symbols:
            return self.symbols[token]
        known = {
            **dict.fromkeys(_OPEN, self.bracket),
            "(": self.plain,
            r"\frac": self.fraction,
            r"\sqrt": self.root,
            r"\max": self.larger,
        }
        return known[token]() if token in known else self.called(token)

    def bracket(self):
        closing = {"(": ")", ".": r"\}"}[self.take("(", ".")]
        value = self.sum()
        self.take(*_CLOSE)
        self.take(closing)
        return value

    def plain(self):
        """What stands in brackets of fixed size, the first of them read."""
        value = self.sum()
        self.take(")")
        return value

    def fraction(self):
        return self.group() / self.group()

    def root(self):
        return self.group().sqrt()

    def larger(self):
        """The larger of two numbers, with a comma and a space between them."""
        for sign in (r"\left", "("):
            self.take(sign)
        first = self.sum()
        for sign in (",", r"\ "):
            self.take(sign)
        second = self.sum()
        for sign in (r"\right", ")"):
            self.take(sign)
        return self.functions[r"\max"](first, second)

    def called(self, token):
        name = self.skipped() if token == r"\mathrm" else token
        if self.next_is("_"):
            name += self.take() + self.skipped()
        return self.functions[name](self.bracket() if self.take(r"\left", "(") == r"\left" else self.plain())

    def skipped(self):
        """The text in one pair of braces, unread."""
        self.take("{")
        text, depth = [], 1
        while depth:
            text.append(self.tokens.popleft())
            depth += {"{": 1, "}": -1}.get(text[-1], 0)
        return "".join(text[:-1])
