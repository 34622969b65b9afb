"""Patching: numbers of another pass put into this one, as a change that stands in a list of changes like any other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from bertviz_core.checkpoint.encoding import Encoding
from bertviz_core.errors import AddressError, InputError
from bertviz_core.formula.address import Address, Where
from bertviz_core.formula.dims import Axis
from bertviz_core.formula.steps import INPUT
from bertviz_core.programs.names import CONTEXT
from bertviz_core.tracing.layout import Layout
from bertviz_core.tracing.rewrites import FROM, Rule

MOST_NUMBERS = 4_000_000  # that a list of changes may take from another pass: they stay in memory with it
MOST_ROWS = 10_000  # the same of pieces of tensors: each is read and put by itself
_HEAD = "head"
_ARGUMENT = re.compile(rf"[0-9]{{1,9}}|{_HEAD}[0-9]{{1,9}}(\+{_HEAD}[0-9]{{1,9}})*")

Index = tuple[int | slice, ...]
Pairs = tuple[tuple[int, int], ...]  # a token of this pass, and that of the other one which it is matched with


class Pass(Protocol):
    """A pass that numbers can be taken from."""

    layout: Layout
    encoding: Encoding

    def __getitem__(self, address: Where) -> np.ndarray: ...


@dataclass(frozen=True)
class Taken:
    """What another pass has at the same address, at the tokens that are matched with those here.

    rule: as somebody wrote it, `from`, `from=3` for the other pass's token 3, or `from=head8` for a head's columns of
    the context of a layer; pairs: in the order of the tokens here; name: tells the other pass from all others.
    """

    rule: Rule
    pairs: Pairs
    name: tuple[object, ...]
    source: Pass = field(compare=False, repr=False)

    @property
    def text(self) -> str:
        return self.rule.text

    @property
    def heads(self) -> tuple[int, ...]:
        """The heads whose columns are taken; none where whole vectors are."""
        parts = self.rule.argument.split("+") if self.rule.argument.startswith(_HEAD) else []
        return tuple(dict.fromkeys(int(part.removeprefix(_HEAD)) for part in parts))

    def count_rows(self, where: Address) -> int:
        """How many pieces are taken at most at an address; none by a rule that is none."""
        if self.rule.argument and not _ARGUMENT.fullmatch(self.rule.argument):
            return 0
        one = self.token is not None or any(name in where.at for name in ("token", "query", "key"))
        return (1 if one else len(self.pairs)) * max(1, len(self.heads))

    @property
    def token(self) -> int | None:
        """The other pass's token that was named; None where the matching says which."""
        return int(self.rule.argument) if self.rule.argument.isdecimal() else None


def take_head(layer: int, head: int) -> tuple[Address, Rule]:
    """The change that takes one head's output, at every matched token, from the other pass."""
    return CONTEXT.in_layer(layer), Rule(f"{FROM}={_HEAD}{head}")


def is_taken(value: object) -> bool:
    """Whether a change asks for numbers of another pass, which it was not given yet."""
    return isinstance(value, Rule) and value.word == FROM


def list_taken(layout: Layout, where: Address, taken: Taken) -> list[tuple[Index, np.ndarray]]:
    """Where in the tensor which numbers are put. Raises InputError where the two passes do not fit there."""
    symbol, fixed = layout.located(where)
    if symbol.kind == INPUT:
        raise InputError(f"{where} is an input. Take numbers of a step from the other pass, or type another text.")
    if taken.rule.argument and not _ARGUMENT.fullmatch(taken.rule.argument):
        raise InputError(
            f"{FROM} takes a token's number or heads, not {taken.rule.argument[:40]!r}. Write for example {FROM}, "
            f"{FROM}=3 or {FROM}={_HEAD}8."
        )
    _check_shape(layout, where, taken)
    found = list(_list_parts(layout, where, taken, fixed))
    if not found:
        raise InputError(f"No token of {where} is matched with one of the other pass. Match them by hand.")
    return found


def _check_shape(layout: Layout, where: Address, taken: Taken) -> None:
    """The other pass must have the tensor, of the same sizes but for the tokens."""
    other = taken.source.layout
    try:
        there = other.located(where.whole)[0]
    except AddressError:
        raise InputError(f"The other pass has no {where.path}, so it cannot be taken from there.") from None
    own, theirs = (
        [each.size(axis) for axis in symbol.axes if not axis.of_tokens]
        for each, symbol in ((layout, layout.located(where)[0]), (other, there))
    )
    if own != theirs:
        raise InputError(
            f"{where.path} has sizes {own} here and {theirs} in the other pass. Compare with a model of the same sizes."
        )


def _list_parts(
    layout: Layout, where: Address, taken: Taken, fixed: Mapping[Axis, int]
) -> Iterator[tuple[Index, np.ndarray]]:
    symbol = layout.located(where)[0]
    tokens = [axis for axis in symbol.axes if axis.of_tokens]
    every = tuple((i, i) for i in range(layout.tokens))
    same = taken.pairs == every and taken.source.layout.tokens == layout.tokens
    if not tokens or (same and not taken.rule.argument):
        yield layout.index(where), _read(taken, where)
        return
    if len(tokens) > 1:
        raise InputError(
            f"{where.path} has a number for each two tokens, and those of the two passes are not the same. Take "
            f"what each token has by itself, such as …{CONTEXT.path}."
        )
    columns = _list_columns(layout, where, taken)
    for here, there in _match(where, taken, fixed.get(tokens[0])):
        pair = where.fix(**{tokens[0].name: here})
        numbers = _read(taken, replace(where, index=pair.index).fix(**{tokens[0].name: there}))
        for cut in columns:
            yield _cut(layout.index(pair), cut), numbers[cut] if cut else numbers


def _match(where: Address, taken: Taken, token: int | None) -> Sequence[tuple[int, int]]:
    """The pairs of tokens that an address and its rule speak of."""
    if taken.token is not None:
        if token is None:
            raise InputError(f"{taken.text} names one token, and {where} has all. Write {FROM}, or fix the token.")
        if taken.token >= taken.source.layout.tokens:
            raise InputError(
                f"The other pass has tokens 0 to {taken.source.layout.tokens - 1}, not {taken.token}. Choose another."
            )
        return ((token, taken.token),)
    found = [pair for pair in taken.pairs if token in (None, pair[0])]
    if not found and token is not None:
        raise InputError(
            f"Token {token} is not matched with one of the other pass; unmatched tokens are not patched. Write "
            f"{FROM}=3 for that pass's token 3."
        )
    return found


def _list_columns(layout: Layout, where: Address, taken: Taken) -> list[slice | None]:
    """The columns of the heads that are taken; one None for all."""
    if not taken.heads:
        return [None]
    if where.leaf != CONTEXT.path or set(where.at) - {"token"}:
        raise InputError(f"{taken.text} takes a head's output, which stands in …{CONTEXT.path}, not in {where}.")
    config = layout.model.config
    beyond = [head for head in taken.heads if head >= config.num_attention_heads]
    if beyond:
        raise InputError(f"This model has heads 0 to {config.num_attention_heads - 1}, not {beyond[0]}.")
    return [slice(head * config.head_dim, (head + 1) * config.head_dim) for head in taken.heads]


def _cut(index: Index, columns: slice | None) -> Index:
    """The same place, of its last axis these columns alone."""
    return index if columns is None else (*index[:-1], columns)


def _read(taken: Taken, where: Address) -> np.ndarray:
    return taken.source[where].astype(np.float64)
