"""What quantities are called elsewhere, as a Markdown table: a row a quantity, a column a source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from bertviz_core.documents.names import FORMULAS, SOURCES, Names
from bertviz_core.ui.components.selectors import read_rules

IN_FORMULAS = tuple(source for source in SOURCES if source in FORMULAS)
IN_CODE = tuple(source for source in SOURCES if source not in FORMULAS)
_FIRST = {IN_FORMULAS: 51, IN_CODE: 24}  # percent of a wide table that its first column has
_BREAK = re.compile(r"(?<!\\left)(?<=.)\(")  # where a formula's line may end, besides at its signs
_JOINT = re.compile(r"(?=\\_|\.)|(?<=/)")  # where an identifier's line may end
_RULES = read_rules(Path(__file__).with_name("names.css"))


def write_css() -> str:
    """The tables' rules; where one has little room a row is a block, and every name stands beside its source."""
    first = "".join(
        f'.bv-names[data-names="{_join(sources)}"] th:first-child{{width:{width}%}}'
        for sources, width in _FIRST.items()
    )
    labels = "".join(
        f'.bv-names[data-names="{_join(sources)}"] td:nth-child({i})::before{{content:"{SOURCES[source]}"}}'
        for sources in (tuple(SOURCES), IN_FORMULAS, IN_CODE)
        for i, source in enumerate(sources, 2)
    )
    return f"<style>{first}{_RULES}@container (max-width: 720px){{{labels}}}</style>"


def write_table(title: str, rows: Sequence[tuple[str, Names]], sources: Sequence[str] = tuple(SOURCES)) -> str:
    """A table of names as Markdown with HTML around it. rows: what stands first in a row, as Markdown, and its names.

    sources: whose names, a column each.
    """
    lines = [
        f"| {title} | " + " | ".join(SOURCES[source] for source in sources) + " |",
        "|---" * (len(sources) + 1) + "|",
    ]
    lines += [
        f"| {first} | " + " | ".join(write_name(source, getattr(names, source)) for source in sources) + " |"
        for first, names in rows
    ]
    return f'<div class="bv-names" data-names="{_join(sources)}">\n\n' + "\n".join(lines) + "\n\n</div>"


def _join(sources: Sequence[str]) -> str:
    return " ".join(sources)


def write_name(source: str, name: str) -> str:
    """A source's name as Markdown: a formula, or an identifier that may be broken at its joints."""
    if not name:
        return "–"
    if source not in FORMULAS:
        letters = escape(name).replace("_", r"\_")  # which would begin slanted letters
        return f"<code>{_JOINT.sub('<wbr>', letters)}</code>"
    breaking = _BREAK.sub(r"\\allowbreak(", name).replace("|", r"\vert ")  # a bar would end the table's cell
    return f"${breaking}$"
