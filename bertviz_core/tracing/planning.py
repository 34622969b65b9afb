"""A list of changes laid out for a pass: each is checked once, after those before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from bertviz_core.checkpoint.encoding import Encoding
from bertviz_core.errors import BertvizError, InputError
from bertviz_core.formula.address import Address, Where
from bertviz_core.formula.nodes import Symbol
from bertviz_core.formula.steps import INPUT, PARAMETER, Program
from bertviz_core.tracing.changes import MOST, Changes, Listed, Override, Value, make_overrides, take_changes
from bertviz_core.tracing.layout import Layout
from bertviz_core.tracing.rewrites import PUTTING, Rule, rewrite
from bertviz_core.tracing.taken import MOST_NUMBERS, MOST_ROWS, Taken


@dataclass(frozen=True, eq=False)
class Plan:
    """A pass with its changes: the program as rewritten, the input as changed, the numbers to put, by path.

    reached: the addresses whose numbers can differ from those of the pass without changes.
    """

    program: Program
    encoding: Encoding
    overrides: Mapping[str, tuple[Override, ...]] = field(default_factory=dict[str, tuple[Override, ...]])
    reached: frozenset[str] = frozenset()


def plan_changes(layout: Layout, encoding: Encoding, changes: Changes) -> Plan:
    """Check the changes and lay them out, in the order given, but inputs first: uniform attention depends on them.

    Raises AddressError or InputError for a change that cannot be made.
    """
    planner = _Planner(layout, encoding)
    for where, value in sorted(changes.items(), key=lambda change: not planner.is_input(change[0])):
        planner.add(where, value)
    return planner.finish()


class _Planner:
    """A plan that takes one change after the other; one that cannot be made leaves it as it is."""

    def __init__(self, layout: Layout, encoding: Encoding) -> None:
        self._layout, self._encoding = layout, encoding
        self._overrides: dict[str, tuple[Override, ...]] = {}
        self._starts: set[str] = set()
        self._rows = 0  # that are taken from another pass
        self._taken: set[str] = set()  # the tensors into which numbers of another pass are put

    def is_input(self, where: Address) -> bool:
        """Raises AddressError where nothing is called so."""
        return self._layout.located(where)[0].kind == INPUT

    def add(self, where: Address, value: Value) -> None:
        """One change more. Raises AddressError or InputError where it cannot be made."""
        symbol, _ = self._layout.located(where)
        if symbol.kind == PARAMETER:
            raise InputError(
                f"{symbol.address} belongs to the checkpoint. Change what is computed from it: the result of a step, "
                "or an input."
            )
        if isinstance(value, Rule) and value.word not in PUTTING:
            self._layout = replace(self._layout, program=_change_formula(self._layout, where, value))
        else:
            self._put(symbol, where, value)
        self._starts.add(symbol.address)

    def _put(self, symbol: Symbol, where: Address, value: Value) -> None:
        rows, taken = self._rows, self._taken
        if isinstance(value, Taken):
            rows, taken = rows + value.count_rows(where), {*taken, where.path}
            _check_rows(rows)
        made = make_overrides(self._layout, self._encoding, where, value)
        puts = {**self._overrides, symbol.address: (*self._overrides.get(symbol.address, ()), *made)}
        _check_numbers([override for path in taken for override in puts[path]])
        if symbol.kind == INPUT:
            self._encoding = _change_input(self._layout, self._encoding, symbol.address, made[0])
        self._overrides, self._rows, self._taken = puts, rows, taken

    def finish(self) -> Plan:
        program = self._layout.program
        return Plan(program, self._encoding, self._overrides, program.reached(self._starts))


def _check_rows(rows: int) -> None:
    """What is taken from other passes is read and put piece by piece."""
    if rows > MOST_ROWS:
        raise InputError(
            f"A list of changes can take {MOST_ROWS} rows from another pass, and these are {rows}. Undo some."
        )


def _check_numbers(taken: Sequence[Override]) -> None:
    """It stays in memory, too."""
    numbers = sum(override.numbers.size for override in taken)
    if numbers > MOST_NUMBERS:
        raise InputError(
            f"A list of changes can take {MOST_NUMBERS} numbers from another pass, and these are {numbers}. Undo some."
        )


def check_changes(layout: Layout, encoding: Encoding, asked: Listed) -> tuple[Changes, dict[Where, str]]:
    """Those changes that can be made, each after the ones before it, and by address what is wrong with the others."""
    listed = dict(islice(asked.items(), MOST))
    wrong = {
        where: f"A list can have {MOST} changes; there are {len(asked)}. Undo some of them."
        for where in asked
        if where not in listed
    }
    read = dict[Address, tuple[Where, Value]]()
    planner, good = _Planner(layout, encoding), dict[Address, Value]()
    inputs, others = list[Address](), list[Address]()
    for where, value in listed.items():
        try:
            ((address, taken),) = take_changes({where: value}).items()
            (inputs if planner.is_input(address) else others).append(address)
            read[address] = where, taken
        except BertvizError as error:
            wrong[where] = str(error)
    for address in dict.fromkeys((*inputs, *others)):
        where, value = read[address]
        try:
            planner.add(address, value)
            good[address] = value
        except BertvizError as error:
            wrong[where] = str(error)
    return {address: good[address] for address in read if address in good}, wrong


def _change_input(layout: Layout, encoding: Encoding, path: str, override: Override) -> Encoding:
    """The input with one of its rows of whole numbers changed, and the tokens that go with it."""
    tokenizer, config = layout.model.tokenizer, layout.model.config
    rows = {
        "input_ids": (encoding.ids, config.vocab_size),
        "token_type_ids": (encoding.segments, config.type_vocab_size),
        "attention_mask": (encoding.mask, 2),
        "position_ids": (encoding.positions, config.max_position_embeddings),
    }
    old, size = rows[path]
    new = np.array(old, dtype=np.float64)
    new[override.index] = override.numbers
    wrong = [number for number in new.tolist() if not (number.is_integer() and 0 <= number < size)]
    if wrong:
        raise InputError(f"{path} can only hold whole numbers from 0 to {size - 1}, not {wrong[0]:g}. Choose another.")
    row = tuple(int(number) for number in new)
    if path == "input_ids":
        tokens = tuple(
            token if was == now else tokenizer.name(now)
            for token, was, now in zip(encoding.tokens, old, row, strict=True)
        )
        return replace(encoding, ids=row, tokens=tokens)
    if path == "attention_mask" and not any(row):
        raise InputError(
            "attention_mask must leave at least one token to attend to; this change hides all. Leave a 1 somewhere."
        )
    named = {"token_type_ids": "segments", "attention_mask": "mask", "position_ids": "positions"}
    return replace(encoding, **{named[path]: row})


def _change_formula(layout: Layout, where: Address, rule: Rule) -> Program:
    step = layout.step(where)
    new = rewrite(layout.program, step, rule)
    if where.index:
        raise InputError(
            f"A rule changes the formula of a whole tensor, and {where} is a part of one. Leave out the indices: "
            f"{step.address}."
        )
    return replace(layout.program, steps=tuple(new if each is step else each for each in layout.program.steps))
