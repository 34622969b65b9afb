"""Patching: what a number of one pass becomes when some of another pass's numbers are put into it.

Restored does not mean stored there: a patch carries all that lies below it (Heimersheim and Nanda 2024).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from bertviz_core.errors import ArgumentError, InputError
from bertviz_core.formula.address import Address, Where, read_address
from bertviz_core.programs.names import CONTEXT, Leaf
from bertviz_core.tracing.changes import Override, Value, make_overrides
from bertviz_core.tracing.identity import name_pass
from bertviz_core.tracing.matching import match_tokens
from bertviz_core.tracing.readonly import lock
from bertviz_core.tracing.rewrites import FROM, Rule
from bertviz_core.tracing.stacked import list_blocks, run_stacked
from bertviz_core.tracing.taken import Pairs, Taken, is_taken, take_head
from bertviz_core.tracing.trace import Trace

EMBEDDED, RESIDUAL = "embeddings.LayerNorm", Leaf("output.LayerNorm")
ATTENTION_OUT, FEED_FORWARD = Leaf("attention.output.dense"), Leaf("output.dense")
_MOST = 1500  # tokens of the passes that are run at once
LEAST = 0.01  # of two measures: what is less has no percentages

Places = Where | Iterable[Where] | Mapping[Where, Where]


@dataclass(frozen=True)
class Measure:
    """The number of a pass that is looked at: a cell, or with `less`, how far it lies above another one."""

    cell: Address
    less: Address | None = None

    @property
    def cells(self) -> tuple[Address, ...]:
        return (self.cell,) if self.less is None else (self.cell, self.less)

    def read(self, trace: Trace) -> float:
        """The number in a pass. Raises AddressError where it has none."""
        return float(self.put_together(np.array([[float(trace.recomputed(cell)) for cell in self.cells]]))[0])

    def put_together(self, cells: np.ndarray) -> np.ndarray:
        """(pass,) from (pass, cell)."""
        return cells[:, 0] if self.less is None else cells[:, 0] - cells[:, 1]


@dataclass(frozen=True, eq=False)
class Patched:
    """A pass with numbers of another one put into it, and its measure in all three passes."""

    trace: Trace
    source: float
    target: float
    value: float

    @property
    def moved(self) -> float:
        """The part of the way from the target's measure to the source's; NaN where there is no way to go."""
        return measure_moved(self.value, self.source, self.target)


def measure_moved(value: float, source: float, target: float) -> float:
    """The part of the way from the target to the source; NaN where these two hardly differ."""
    return float("nan") if abs(source - target) < LEAST else (value - target) / (source - target)


def patch(source: Trace, target: Trace, addresses: Places, measure: Where | tuple[Where, Where]) -> Patched:
    """The target's pass with the source's numbers at some addresses, and what that does to a measure.

    addresses: one, several, or a mapping of those in the target to those in the source, from one cell to a whole layer;
    measure: one cell, or two, of which the second is taken off the first. Tokens are matched by place where both have
    as many, else by equal word pieces; what is not matched is not patched. The answer has the measure in all three
    passes, in its own unit, and `moved`, the part of the way that the patch went, 1 for all of it. Raises InputError
    where nothing can be patched, AddressError for what is not there, ArgumentError for what is no trace. Source: Meng
    et al. 2022, Locating and Editing Factual Associations in GPT, section 2.

        >>> he, she = (bv.run(model, f"The {who} said that [MASK] was late.") for who in ("doctor", "nurse"))
        >>> measure = f"cls.predictions.decoder[token=5,vocab={model.tokenizer.id('he')}]"
        >>> found = bv.patch(he, she, "encoder.layer.5.output.LayerNorm", measure)
        >>> f"{found.moved:.3f}"
        '1.000'
    """
    for trace in (source, target):
        if not isinstance(trace, Trace):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may have no types
            raise ArgumentError.of("Patching takes two traces", trace, "Give what bv.run returns, twice.")
    looked = read_measure(measure)
    values = looked.read(source), looked.read(target)
    patched = target.with_changes(_list_changes(source, target, addresses))
    return Patched(patched, *values, looked.read(patched))


def read_measure(measure: Where | tuple[Where, Where]) -> Measure:
    """A measure as a caller gives it."""
    if isinstance(measure, tuple):
        if len(measure) != 2:  # pyright: ignore[reportUnnecessaryComparison] - callers may have no types
            raise ArgumentError.of("A measure is one address or two", measure, "Give a pair, or one address.")
        return Measure(*map(read_address, measure))
    return Measure(read_address(measure))


def _list_changes(source: Trace, target: Trace, addresses: Places) -> dict[Address, Value]:
    if isinstance(addresses, Mapping):
        return {read_address(here): source[there].astype(np.float64) for here, there in addresses.items()}
    places = [addresses] if isinstance(addresses, str | Address) else list(addresses)
    if not places:
        raise InputError("There is nothing to patch: no address was given. Give one, such as embeddings.LayerNorm.")
    pairs = match_tokens(target, source, by_place=True)
    return {read_address(place): take(source, pairs, Rule(FROM)) for place in places}


def take(source: Trace, pairs: Pairs, rule: Rule) -> Taken:
    """The change that takes numbers from a pass, as a rule says."""
    return Taken(rule, pairs, name_pass(source), source)


def give_source(changes: Mapping[Where, Value], source: Trace, pairs: Pairs) -> dict[Where, Value]:
    """The same changes, those that take numbers from another pass with this one as that."""
    return {
        where: take(source, pairs, value) if is_taken(value) and isinstance(value, Rule) else value
        for where, value in changes.items()
    }


@dataclass(frozen=True, eq=False)
class Grid:
    """The measure in every pass of one kind of patch, NaN where it is not known or no token is matched.

    values: (row, token), the last layer last; a head's: (layer, head). paths: the tensor that each row is patched in.
    """

    values: np.ndarray
    paths: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Patching:
    """What each patch does to a measure, as far as it is known. source, target: the measure in the two passes."""

    measure: Measure
    source: float
    target: float
    pairs: Pairs
    grids: Mapping[str, Grid] = field(default_factory=dict[str, Grid])

    @property
    def has_way(self) -> bool:
        """Whether the two passes differ in the measure, so that there is something to restore."""
        return bool(abs(self.source - self.target) >= LEAST)

    def moved(self, grid: str) -> np.ndarray:
        """The parts of the way from target to source; where there is no way, how far the measure moves."""
        values = self.grids[grid].values - self.target
        return lock(values / (self.source - self.target) if self.has_way else values)


OF_RESIDUAL, OF_ATTENTION, OF_FEED_FORWARD, OF_HEADS = GRIDS = "residual", "attention", "feed-forward", "heads"


def list_paths(trace: Trace, grid: str) -> tuple[str, ...]:
    """The tensors that a grid has a row for."""
    leaves = {OF_RESIDUAL: RESIDUAL, OF_ATTENTION: ATTENTION_OUT, OF_FEED_FORWARD: FEED_FORWARD, OF_HEADS: CONTEXT}
    rows = tuple(leaves[grid].in_layer(i).path for i in range(trace.model.config.num_hidden_layers))
    return (EMBEDDED, *rows) if grid == OF_RESIDUAL else rows


def place_patch(trace: Trace, grid: str, row: int, column: int) -> tuple[Address, Rule]:
    """The change that a cell of a grid stands for."""
    if grid == OF_HEADS:
        return take_head(row, column)
    return Address(list_paths(trace, grid)[row]).fix(token=column), Rule(FROM)


def check_fit(source: Trace, target: Trace, pairs: Pairs) -> None:
    """Raises InputError where the two passes have no vectors that could stand for one another."""
    own, other = (
        [getattr(trace.model.config, size) for size in ("num_hidden_layers", "num_attention_heads", "hidden_size")]
        for trace in (target, source)
    )
    if own != other:
        raise InputError(
            f"The two models have {own[0]} and {other[0]} layers, {own[1]} and {other[1]} heads, vectors of {own[2]} "
            f"and {other[2]} numbers; only models of the same sizes can be patched into one another. Choose another."
        )
    if not pairs:
        raise InputError("The two texts have no token in common, so nothing is patched. Match tokens by hand.")


def patch_each(
    source: Trace, target: Trace, pairs: Pairs, measure: Measure, there: Measure | None = None
) -> Generator[tuple[float, Patching]]:
    """Every patch of every grid by itself, the last layer first; what is known after each part of the work.

    there: the measure in the source, where its tokens stand elsewhere.
    """
    check_fit(source, target, pairs)
    paths = {grid: list_paths(target, grid) for grid in GRIDS}
    known = {grid: np.full((len(rows), _count_columns(target, grid)), np.nan) for grid, rows in paths.items()}
    values = (there or measure).read(source), measure.read(target)
    work = list(_list_work(target, pairs, paths))
    for done, (grid, row, columns) in enumerate(work, 1):
        puts = [_list_puts(source, target, pairs, grid, row, column) for column in columns]
        cells = run_stacked(target, paths[grid][row], puts, measure.cells)
        known[grid][row, columns] = measure.put_together(cells)
        grids = {name: Grid(lock(known[name].copy()), paths[name]) for name in GRIDS}
        yield done / len(work), Patching(measure, *values, pairs, grids)


def _count_columns(trace: Trace, grid: str) -> int:
    return trace.model.config.num_attention_heads if grid == OF_HEADS else len(trace.tokens)


def _list_work(
    target: Trace, pairs: Pairs, paths: Mapping[str, tuple[str, ...]]
) -> Generator[tuple[str, int, list[int]]]:
    """Which cells of which grid are worked out together. What they put is made when it is their turn: of a long text it
    takes seconds in all.
    """
    heads = list(range(target.model.config.num_attention_heads))
    for back in range(1, len(paths[OF_RESIDUAL]) + 1):
        for grid in GRIDS:
            row = len(paths[grid]) - back
            if row < 0:
                continue
            columns = heads if grid == OF_HEADS else [here for here, _ in pairs]
            for block in list_blocks(len(columns), len(target.tokens), _MOST):
                yield grid, row, [columns[i] for i in block]


def _list_puts(source: Trace, target: Trace, pairs: Pairs, grid: str, row: int, column: int) -> list[Override]:
    where, rule = place_patch(target, grid, row, column)
    return make_overrides(target.layout, target.encoding, where, take(source, pairs, rule))
