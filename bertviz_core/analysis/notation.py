"""The glossary: every quantity of a program with its names elsewhere, and the search through it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from bertviz_core.checkpoint.model import Model
from bertviz_core.documents.names import AXIS_NAMES, SOURCES, Names, find_names
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import AXES
from bertviz_core.formula.nodes import Symbol
from bertviz_core.formula.stages import Stage
from bertviz_core.formula.steps import Program
from bertviz_core.programs.bert import MOST_HEADS, write_bert

AXIS = "axis"
_TYPESETTING = re.compile(r"\\(mathrm|mathcal|text|left|right|tilde|bar|hat)\b|[\\{}^_$\s]")

_of_models: WeakKeyDictionary[Model, dict[int, tuple[list[Entry], list[Entry]]]] = WeakKeyDictionary()  # by layer


@dataclass(frozen=True)
class Entry:
    """One row: our symbol, what it means, its names elsewhere, and its stage, as the program has it.

    An axis has a symbol too: the letter of its size, under the axis's name; it has no stage.
    """

    symbol: Symbol
    meaning: str
    names: Names
    stage: Stage | None = None


def list_entries(program: Program, layer: int) -> list[Entry]:
    """A program's quantities in the order of the computation; of its layers, which are alike, only one."""
    return list(dict.fromkeys(_walk_entries(program, layer)))


def _walk_entries(program: Program, layer: int) -> Iterator[Entry]:
    seen: set[str] = set()
    for step in program.steps:
        for leaf in step.leaves:
            if leaf.address in program.leaves and leaf.address not in seen and _is_shown(leaf.address, layer):
                seen.add(leaf.address)
                names = find_names(leaf.address)
                yield Entry(leaf, names.meaning, names, program.stages[leaf.address])
        if _is_shown(step.address, layer):
            yield Entry(step.output, step.meaning, find_names(step.address), program.stages[step.address])


def _is_shown(address: str, layer: int) -> bool:
    return Address(address).layer in (None, layer)


def list_of_model(model: Model, layer: int) -> tuple[list[Entry], list[Entry]]:
    """A model's quantities, and those that a BERT with every head has and this checkpoint has not; worked out once."""
    by_layer = _of_models.setdefault(model, {})
    if layer not in by_layer:
        by_layer[layer] = list_entries(model.program, layer), list_absent(model, layer)
    return by_layer[layer]


def list_absent(model: Model, layer: int) -> list[Entry]:
    """What a BERT with every head has and this checkpoint has not."""
    complete = write_bert(model.config, MOST_HEADS)
    return [entry for entry in list_entries(complete, layer) if model.program.symbol(entry.symbol.address) is None]


def list_axes() -> list[Entry]:
    """The named axes that shapes are made of."""
    return [
        Entry(
            Symbol(axis.name, axis.latex, (), axis.name, AXIS),
            f"length of an axis; a step along it is {axis.meaning}",
            AXIS_NAMES[axis.name],
        )
        for axis in AXES.values()
    ]


def search_entries(entries: Iterable[Entry], text: str) -> list[Entry]:
    """The entries in which every word of `text` occurs; LaTeX's signs do not count, and Greek letters have names."""
    words = [spell(word) for word in text.split()]
    if not words:
        return list(entries)
    return [entry for entry in entries if all(word in letters for letters in [_join_text(entry)] for word in words)]


def _join_text(entry: Entry) -> str:
    names = (getattr(entry.names, source) for source in SOURCES)
    axes = (axis.name for axis in entry.symbol.axes)
    parts = (entry.symbol.tex, entry.symbol.variable, entry.symbol.address, entry.meaning, *names, *axes)
    return "\n".join(spell(part) for part in parts)


def spell(text: str) -> str:
    """The text as it is searched: small letters, Greek ones by name, without LaTeX's braces, signs and fonts."""
    spelled = "".join(
        unicodedata.name(sign).rsplit(" ", 1)[-1] if "GREEK" in unicodedata.name(sign, "") else sign for sign in text
    )
    return _TYPESETTING.sub("", spelled).lower()
