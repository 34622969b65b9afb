"""What a handout is drawn with: cells whose shade also prints in grey, tables with empty boxes, a code for phones."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape

import segno

from bertviz_core.formula.texts import shorten, spell_controls

WIDTH = 687  # of what is printed on a sheet, in CSS pixels
LARGEST_MAP = 16  # tokens; of more a row is printed as a table
BLOCK = 16  # rows; a table of more goes on beside itself
SHORT = 8  # characters of a token where there is little room
_MOST_ROWS = 33  # of a table
_ACROSS = 5  # parts beside each other of a table as wide as the sheet
_LONGEST_CODE = 1800  # characters; a code of more cannot be read by a phone
_MODULE = 1.35  # pixels of a code’s smallest square, 0.36 mm
_PALE, _MIDDLE, _DARK = (243, 241, 247), (155, 128, 199), (64, 34, 110)  # always darker, in colour and in grey

Cell = str | None  # None: an empty box, to be filled in


def shade(part: float) -> str:
    """A colour for a part of 1, as CSS has it: the more, the darker."""
    part = min(1.0, max(0.0, part))
    low, high, along = (_PALE, _MIDDLE, 2 * part) if part < 0.5 else (_MIDDLE, _DARK, 2 * part - 1)
    return "#" + "".join(f"{round(a + (b - a) * along):02x}" for a, b in zip(low, high, strict=True))


def isolate(text: str) -> str:
    """A text that does not turn what stands around it, where some of it is written from right to left."""
    turns = any(unicodedata.bidirectional(sign) in ("R", "AL") for sign in text)
    return f"\N{LEFT-TO-RIGHT ISOLATE}{text}\N{POP DIRECTIONAL ISOLATE}" if turns else text


def write_label(token: str, longest: int = SHORT) -> str:
    """A token as a picture shows it, without HTML."""
    return isolate(shorten(spell_controls(token), longest))


def draw_text(x: float, y: float, text: str, **looks: object) -> str:
    """A text of a picture. looks: attributes of SVG, with _ for -."""
    return f'<text x="{x:.1f}" y="{y:.1f}"{_write(looks)}>{escape(text)}</text>'


def draw_box(x: float, y: float, width: float, height: float, **looks: object) -> str:
    """A rectangle of a picture."""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"{_write(looks)}/>'


def draw_line(x: float, y: float, to_x: float, to_y: float, **looks: object) -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"{_write({"stroke": "#000", **looks})}/>'


def draw_cell(x: float, y: float, width: float, height: float, part: float, text: str = "", size: int = 12) -> str:
    """A cell of a map, shaded by a part of 1, with a text in it."""
    drawn = draw_box(x, y, width - 1, height - 1, fill=shade(part), stroke="#ccc", stroke_width=0.4)
    if not text:
        return drawn
    looks = {"font_size": size, "text_anchor": "middle", "fill": "#fff" if part > 0.6 else "#000"}
    return drawn + draw_text(x + (width - 1) / 2, y + height / 2 + size * 0.35, text, **looks)


def _write(looks: dict[str, object]) -> str:
    return "".join(f' {name.replace("_", "-")}="{escape(str(value))}"' for name, value in looks.items())


def draw_picture(width: float, height: float, name: str, parts: Iterable[str]) -> str:
    """A picture of its parts. name: what it shows, for who cannot see it."""
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    return f'<svg {size} role="img" aria-label="{escape(name)}">{"".join(parts)}</svg>'


def write_figure(title: str, body: str, wide: bool = False) -> str:
    """A picture or a table with its title. body: HTML; wide: whether nothing stands beside it."""
    kind = ' class="wide"' if wide else ""
    return f"<figure{kind}><h3>{escape(title)}</h3>{body}</figure>"


def write_table(head: Sequence[str], rows: Sequence[Sequence[Cell]], note: str = "", across: bool = False) -> str:
    """A table, which goes on beside itself where it is long. An empty box stands where None does.

    across: whether it is as wide as the sheet, so that it goes on early.
    """
    blocks = max(1, -(-len(rows) // BLOCK), _ACROSS if across else 1)
    each = -(-len(rows) // blocks) or 1
    tables = "".join(_write_block(head, rows[first : first + each]) for first in range(0, len(rows), each))
    kind = "blocks dense" if blocks > 1 else "blocks"
    return f'<div class="{kind}">{tables}</div>{f"<p>{escape(note)}</p>" if note else ""}'


def _write_block(head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(map(_write_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"


def _write_cell(cell: Cell) -> str:
    return '<td class="box"></td>' if cell is None else f"<td>{escape(cell)}</td>"


def choose_rows(sizes: Sequence[float], asked: Iterable[int] = ()) -> list[int]:
    """Which rows of a long table are printed: the largest ones and those that are asked about, in their order."""
    first = sorted(set(asked))
    rest = sorted((i for i in range(len(sizes)) if i not in first), key=lambda i: (-sizes[i], i))
    return sorted([*first, *rest][: max(_MOST_ROWS, len(first))])


def tell_left_out(shown: int, total: int, what: str) -> str:
    """That a table has only some of its rows, if so. what: decides which."""
    return f"{shown} of {total} tokens: those with {what}." if shown < total else ""


def draw_code(link: str) -> str:
    """A link as a code for phones; nothing where it is too long for one."""
    if not link or len(link) > _LONGEST_CODE:
        return ""
    out = io.BytesIO()
    code = segno.make(link, error="m")
    code.save(out, kind="svg", scale=_MODULE, border=0, xmldecl=False, svgns=False, nl=False, title="QR code")
    return out.getvalue().decode()
