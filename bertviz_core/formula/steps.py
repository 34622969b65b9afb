"""Steps and programs: a forward pass as an ordered list of named expressions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, cast

from bertviz_core.formula.address import Address
from bertviz_core.formula.carry import is_carried
from bertviz_core.formula.dims import TOKEN, VOCAB, Dims, list_names
from bertviz_core.formula.nodes import Expr, Paint, Symbol, paint_plain
from bertviz_core.formula.notations import Notation, typeset
from bertviz_core.formula.stages import Stage

# What kind of vector a symbol is: decides its colour in formulas, charts and text.
EMBEDDING, QUERY, KEY, VALUE, ATTENTION = "embedding", "query", "key", "value", "attention"
RESIDUAL, NORM, FFN, PREDICTION = "residual", "norm", "ffn", "prediction"
INPUT, PARAMETER = "input", "parameter"


@dataclass(frozen=True)
class Step:
    """One line of the forward pass. Formula, code and axes are read off the expression.

    output: the symbol the result is known by; meaning: one line of plain words; source: where the formula is printed;
    stage: the part of the pass that it belongs to; choice: what the source leaves open or says otherwise, what is done
    here, and why.
    """

    output: Symbol
    expr: Expr
    meaning: str
    source: str
    stage: Stage
    choice: str = ""

    @property
    def address(self) -> str:
        return self.output.address

    @property
    def kind(self) -> str:
        return self.output.kind

    @cached_property
    def layer(self) -> int | None:
        """The encoder layer that the step belongs to, if any."""
        return Address(self.address).layer

    @property
    def repeats(self) -> bool:
        """Whether it does a layer's work outside the layers: the first layer once more, by itself."""
        return self.stage.in_layer and self.layer is None

    @property
    def symbol(self) -> str:
        """The result's symbol, as LaTeX."""
        return self.output.tex

    @property
    def latex(self) -> str:
        """The whole equation, symbol = formula, as LaTeX."""
        return self.typeset(paint_plain)

    @property
    def code(self) -> str:
        """The line of PyTorch that computes the step."""
        return f"{self.output.variable} = {self.expr.code()}"

    @property
    def dims(self) -> tuple[str, ...]:
        """The result's axes by name, in order."""
        return list_names(self.expr.dims())

    def typeset(self, paint: Paint = paint_plain, notation: Notation = "row") -> str:
        """The equation, every symbol passed through `paint`, with tokens as rows, as columns, or as functions."""
        made = typeset(self.output, paint, notation) if self.kind == PARAMETER else paint(self.output)
        return f"{made} = {typeset(self.expr, paint, notation)}"

    @cached_property
    def leaves(self) -> tuple[Symbol, ...]:
        """The symbols the formula reads, in order of first use."""
        return tuple(dict.fromkeys(walk_symbols(self.expr)))

    @cached_property
    def read_once(self) -> frozenset[str]:
        """The addresses that stand in the formula once."""
        counts = Counter(leaf.address for leaf in walk_symbols(self.expr))
        return frozenset(name for name, count in counts.items() if count == 1)


def walk_nodes(expr: Expr) -> Iterator[Expr]:
    """An expression and everything inside it, from the left."""
    yield expr
    for part in expr.parts:
        yield from walk_nodes(part)


def replace_nodes(expr: Expr, new: Mapping[Expr, Expr]) -> Expr:
    """The expression with other nodes in every place of some."""
    if expr in new:
        return new[expr]
    inner = {each.name: getattr(expr, each.name) for each in fields(cast(Any, expr))}
    parts = {name: replace_nodes(part, new) for name, part in inner.items() if isinstance(part, Expr)}
    return replace(cast(Any, expr), **parts) if parts else expr


def inline(expr: Expr, made: Mapping[str, Expr]) -> Expr:
    """The expression with others in place of the symbols of these addresses, also in those others."""
    named = {symbol for symbol in walk_symbols(expr) if symbol.address in made}
    return replace_nodes(expr, {symbol: inline(made[symbol.address], made) for symbol in named})


def walk_symbols(expr: Expr) -> Iterator[Symbol]:
    """The symbols in an expression, as often as they stand there."""
    return (node for node in walk_nodes(expr) if isinstance(node, Symbol))


@dataclass(frozen=True)
class Program:
    """A forward pass: its steps in order, and which of their results are kept (the spine).

    Everything else is recomputed from the spine when somebody looks at it.
    """

    name: str
    steps: tuple[Step, ...]
    spine: frozenset[str]

    @cached_property
    def by_address(self) -> dict[str, Step]:
        return {step.address: step for step in self.steps}

    @cached_property
    def forward(self) -> tuple[Step, ...]:
        """The steps that the spine is made from: all that a forward pass has to compute."""
        needed = set(self.spine)
        for step in reversed(self.steps):
            if step.address in needed:
                needed.update(leaf.address for leaf in step.leaves)
        return tuple(step for step in self.steps if step.address in needed)

    @cached_property
    def start(self) -> str:
        """The address of what every token starts as: the last step of the embeddings."""
        return [step.address for step in self.steps if step.stage is Stage.EMBEDDINGS][-1]

    @cached_property
    def carried(self) -> Mapping[str, Step]:
        """The steps whose tensors are sums of parts of the tokens, from their start on, by address."""
        found = {self.start: self.by_address[self.start]}
        for step in self.steps:
            if step.address not in found and is_carried(step.expr, found.keys()):
                found[step.address] = step
        return found

    @cached_property
    def last_reads(self) -> Mapping[str, frozenset[str]]:
        """By step of `forward`, the results, but for the spine's, that no later step of it reads."""
        read, found = set(self.spine), dict[str, frozenset[str]]()
        for step in reversed(self.forward):
            names = {leaf.address for leaf in step.leaves if leaf.address in self.by_address}
            found[step.address] = frozenset(names - read)
            read |= names
        return found

    @cached_property
    def by_rows(self) -> frozenset[str]:
        """The steps with a number per token and vocabulary entry, and what is made from these token by token.

        They are computed for the tokens that somebody looks at; none of them is needed for the spine.
        """
        forward, found = {step.address for step in self.forward}, set[str]()
        for step in self.steps:
            row = step.output.axes[:1] == (TOKEN,) and step.address not in forward
            if row and (VOCAB in step.output.axes or any(leaf.address in found for leaf in step.leaves)):
                found.add(step.address)
        return frozenset(found)

    def reached(self, starts: Iterable[str]) -> frozenset[str]:
        """The given addresses, and every one that is computed from them."""
        reached = set(starts)
        for step in self.steps:
            if any(leaf.address in reached for leaf in step.leaves):
                reached.add(step.address)
        return frozenset(reached)

    @cached_property
    def readers(self) -> Mapping[str, tuple[Step, ...]]:
        """By address, the steps whose formula names it; without what none does."""
        found: dict[str, tuple[Step, ...]] = {}
        for step in self.steps:
            for leaf in step.leaves:
                found[leaf.address] = (*found.get(leaf.address, ()), step)
        return found

    @cached_property
    def leaves(self) -> dict[str, Symbol]:
        """Parameters and inputs by address, in order of first use."""
        return {
            leaf.address: leaf for step in self.steps for leaf in step.leaves if leaf.address not in self.by_address
        }

    @property
    def parameters(self) -> tuple[Symbol, ...]:
        return tuple(leaf for leaf in self.leaves.values() if leaf.kind == PARAMETER)

    @property
    def inputs(self) -> tuple[Symbol, ...]:
        return tuple(leaf for leaf in self.leaves.values() if leaf.kind == INPUT)

    @cached_property
    def stages(self) -> dict[str, Stage]:
        """The stage of every address. A parameter belongs to that of the step that is the first to read it."""
        first: dict[str, Stage] = {symbol.address: Stage.INPUT for symbol in self.inputs}
        for step in self.steps:
            for leaf in step.leaves:
                first.setdefault(leaf.address, step.stage)
            first[step.address] = step.stage
        return first

    def symbol(self, address: str) -> Symbol | None:
        """The symbol of a step's result, a parameter or an input; None where there is none."""
        step = self.by_address.get(address)
        return step.output if step else self.leaves.get(address)


@dataclass
class Builder:
    """Collects steps while a program is written down. stage: the one that the next steps belong to."""

    steps: list[Step] = field(default_factory=list[Step])
    spine: set[str] = field(default_factory=set[str])
    stage: Stage = field(init=False)

    def add(
        self,
        address: str,
        tex: str,
        variable: str,
        kind: str,
        expr: Expr,
        meaning: str,
        source: str,
        keep: bool = False,
        choice: str = "",
        column: str = "",
    ) -> Symbol:
        """Write one step and return its symbol for the next ones.

        keep: its result belongs to the spine; column: as `Symbol` has it.
        """
        output = Symbol(address, tex, expr.dims(), variable, kind, column)
        self.steps.append(Step(output, expr, meaning, source, self.stage, choice))
        if keep:
            self.spine.add(address)
        return output

    def program(self, name: str) -> Program:
        return Program(name, tuple(self.steps), frozenset(self.spine))


def declare_parameter(address: str, tex: str, variable: str, axes: Dims, column: str = "") -> Symbol:
    """A tensor of the checkpoint, under its Hugging Face name without `bert.`; matrices are (in, out)."""
    return Symbol(address, tex, axes, variable, PARAMETER, column)


def declare_input(address: str, tex: str, variable: str, axes: Dims) -> Symbol:
    """One of the four numbers that every token comes in with."""
    return Symbol(address, tex, axes, variable, INPUT)
