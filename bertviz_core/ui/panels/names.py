"""What quantities are called elsewhere, as a Markdown table: a row a quantity, a column a source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from bertviz_core.documents.names import FORMULAS, SOURCES, Names
from bertviz_core.ui.components.selectors import expand

_WIDTHS = (26, 6, 11, 10, 8, 8, 12, 9, 10)  # of the columns, in percent
_BREAK = re.compile(r"(?<!\\left)(?<=.)\(")  # where a formula's line may end, besides at its signs
_JOINT = re.compile(r"(?=\\_|\.)|(?<=/)")  # where an identifier's line may end
_RULES = expand("""
.st-key-names-lead .bv-names { background: var(--bv-surface); border: 1px solid var(--bv-line); border-radius: 12px;
  padding: 8px 16px; }
:--markdown-container:has(> .bv-names) { margin-bottom: 0; }
.bv-names { container-type: inline-size; }
.bv-names:focus-visible { outline: 3px solid var(--bv-accent); outline-offset: 1px; }
.bv-names table { table-layout: fixed; width: 100%; border-collapse: collapse; margin: 0; }
.bv-names :is(thead, tr) { border: 0; }
.bv-names :is(th, td) { border: 0; border-top: 1px solid var(--bv-line); padding: 5px 8px 5px 0; text-align: left;
  vertical-align: top; font-size: 13px; line-height: 18px; overflow-wrap: anywhere; }
.bv-names thead th { border-top: 0; padding-top: 0; font-weight: 600; color: var(--bv-faint); }
.bv-names thead th:first-child { font-size: 15px; color: var(--bv-text); }
.bv-names code { font-size: 12px; line-height: 16px; padding: 0; background: none; color: var(--bv-text); }
.bv-names td:first-child code { color: var(--bv-faint); }
.bv-names :--formula { font-size: 15px; }
@container (max-width: 720px) {
  .bv-names thead th:not(:first-child) { display: none; }
  .bv-names :is(table, thead, tbody, tr, th, td) { display: block; }
  .bv-names thead th:first-child { width: 100%; }
  .bv-names td { padding: 2px 0 2px 116px; position: relative; }
  .bv-names td:first-child { padding: 8px 0 4px; }
  .bv-names tr + tr td:first-child { border-top: 2px solid var(--bv-faint); }
  .bv-names td:not(:first-child)::before { position: absolute; left: 0; color: var(--bv-faint); }
}
""")


def write_css() -> str:
    """The table's rules; where it has little room a row is a block, and every name stands beside its source."""
    widths = "".join(f".bv-names th:nth-child({i}){{width:{width}%}}" for i, width in enumerate(_WIDTHS, 1))
    labels = "".join(f'.bv-names td:nth-child({i})::before{{content:"{name}"}}'
                     for i, name in enumerate(SOURCES.values(), 2))  # fmt: skip
    return f"<style>{widths}{_RULES}@container (max-width: 720px){{{labels}}}</style>"


def write_table(title: str, rows: Sequence[tuple[str, Names]], *, picture: bool = False) -> str:
    """A table of names as Markdown with HTML around it. rows: what stands first in a row, as Markdown, and its names.

    picture: it is what the page opens with.
    """
    lines = [f"| {title} | " + " | ".join(SOURCES.values()) + " |", "|---" * (len(SOURCES) + 1) + "|"]
    lines += [f"| {first} | " + " | ".join(_write_name(source, getattr(names, source)) for source in SOURCES) + " |"
              for first, names in rows]  # fmt: skip
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
