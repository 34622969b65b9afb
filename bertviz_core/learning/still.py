"""Which weights no step of a training moves: rows of tables that none of its sentences looks up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

from torch import Tensor

from bertviz_core.formula.nodes import Symbol
from bertviz_core.formula.shapes import Lookup
from bertviz_core.formula.steps import Program, walk_nodes
from bertviz_core.learning.weights import Tie


@dataclass(frozen=True)
class Still:
    """Rows of one table that no step reads: their gradient is always 0. weights: how many numbers they hold."""

    parameter: str
    rows: tuple[int, ...]
    weights: int


def find_still(
    loss: Program, weights: Mapping[str, Tensor], ties: Mapping[str, Tie], read: Mapping[str, Set[int]]
) -> tuple[Still, ...]:
    """The rows that stay as they are of the parameters that learn.

    weights: these parameters by address; read: the whole numbers that any step can look up, by the input that holds
    them. A table that is also multiplied by, as the word embeddings tied to the LM head are, moves in all its rows.
    """
    tied = {tie.owner for name, tie in ties.items() if name in loss.leaves}
    return tuple(_list_still(loss, {name: table for name, table in weights.items() if name not in tied}, read))


def _list_still(loss: Program, tables: Mapping[str, Tensor], read: Mapping[str, Set[int]]) -> Iterator[Still]:
    nodes = [node for step in loss.steps for node in walk_nodes(step.expr)]
    uses = Counter(node.address for node in nodes if isinstance(node, Symbol))
    inputs: dict[str, list[str]] = {name: [] for name in tables}
    for node in nodes:
        if isinstance(node, Lookup) and isinstance(node.ids, Symbol) and node.table.address in inputs:
            inputs[node.table.address].append(node.ids.address)
    for name, table in tables.items():
        if len(inputs[name]) == uses[name] and all(address in read for address in inputs[name]):
            looked_up = set[int]().union(*(read[address] for address in inputs[name]))
            rows = tuple(i for i in range(len(table)) if i not in looked_up)
            if rows:
                yield Still(name, rows, len(rows) * table[0].numel())
