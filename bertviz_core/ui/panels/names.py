"""What quantities are called elsewhere, as a Markdown table: a row a quantity, a column a source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from bertviz_core.documents.names import FORMULAS, SOURCES, Names
from bertviz_core.ui.components.selectors import read_rules

_WIDTHS = (26, 6, 11, 10, 8, 8, 12, 9, 10)  # of the columns, in percent
_BREAK = re.compile(r"(?<!\\left)(?<=.)\(")  # where a formula's line may end, besides at its signs
_JOINT = re.compile(r"(?=\\_|\.)|(?<=/)")  # where an identifier's line may end
_RULES = read_rules(Path(__file__).with_name("names.css"))


def write_css() -> str:
    """The table's rules; where it has little room a row is a block, and every name stands beside its source."""
    widths = "".join(f".bv-names th:nth-child({i}){{width:{width}%}}" for i, width in enumerate(_WIDTHS, 1))
    labels = "".join(
        f'.bv-names td:nth-child({i})::before{{content:"{name}"}}' for i, name in enumerate(SOURCES.values(), 2)
    )
    return f"<style>{widths}{_RULES}@container (max-width: 720px){{{labels}}}</style>"


def write_table(title: str, rows: Sequence[tuple[str, Names]], *, picture: bool = False) -> str:
    """A table of names as Markdown with HTML around it. rows: what stands first in a row, as Markdown, and its names.

    picture: it is what the page opens with.
    """
    lines = [f"| {title} | " + " | ".join(SOURCES.values()) + " |", "|---" * (len(SOURCES) + 1) + "|"]
    lines += [
        f"| {first} | " + " | ".join(_write_name(source, getattr(names, source)) for source in SOURCES) + " |"
        for first, names in rows
    ]
    marked = ' data-picture="table"' if picture else ""
    return f'<div class="bv-names"{marked}>\n\n' + "\n".join(lines) + "\n\n</div>"


def _write_name(source: str, name: str) -> str:
    if not name:
        return "–"
    if source not in FORMULAS:
        letters = escape(name).replace("_", r"\_")  # which would begin slanted letters
        return f"<code>{_JOINT.sub('<wbr>', letters)}</code>"
    breaking = _BREAK.sub(r"\\allowbreak(", name).replace("|", r"\vert ")  # a bar would end the table's cell
    return f"${breaking}$"
