"""Room for the words beside rows: Plotly would measure each of them in the page, and then draw the chart once more."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from html import unescape
from typing import Any
from unicodedata import east_asian_width

# Of words, in parts of their size: how wide each letter of ASCII is, at most. Two letters of a tier differ by little.
_WIDTHS: Mapping[float, str] = {
    0.2: " ",
    0.26: "',.:;ijl|",
    0.31: "!()I[]f{}",
    0.36: "-/\\rt",
    0.43: '"*?sz',
    0.5: "#$+0123456789<=>FJLY^_cekvxy~",
    0.56: "AESTVXZ`abdghnopqu",
    0.62: "&BCDGKPR",
    0.67: "HNOQU",
    0.79: "MWw",
    0.86: "%@m",
}
_OF_LETTERS = {letter: width for width, letters in _WIDTHS.items() for letter in letters}
_WIDE, _OTHER = 1.1, 0.8  # a letter of East Asia, and any other one
_NUMBER = 0.61  # of what is monospace
_BOLD = 1.08
_TAGS = re.compile(r"<[^>]*>")
_EDGE, _TITLE = 4, 1.3  # pixels left of the words, and of a title's size what it takes


def measure_text(text: str, size: float, *, monospace: bool = False) -> float:
    """Pixels that a text of a chart takes in a line, at most: as Plotly reads it, with tags and entities."""
    plain = unescape(_TAGS.sub("", text))
    wide = _BOLD if "<b>" in text else 1.0
    return size * wide * sum(_NUMBER if monospace and letter.isascii() else _measure(letter) for letter in plain)


def _measure(letter: str) -> float:
    return _OF_LETTERS.get(letter) or (_WIDE if east_asian_width(letter) in "WF" else _OTHER)


def settle(layout: Mapping[str, Any]) -> dict[str, Any]:
    """The layout with a left margin for the words of its rows, if it has such, and none for axes that say nothing; all
    texts as they are to be drawn."""
    axes = {key: _settle_axis(axis) for key, axis in layout.items() if key[1:].startswith("axis")}
    rows = axes.get("yaxis")
    if rows is None or "ticktext" not in rows or not rows.get("automargin") or rows.get("side") == "right":
        return {**layout, **axes}
    margin = {**layout["margin"], "l": max(layout["margin"]["l"], math.ceil(_leave_room(rows)))}
    return {**layout, **axes, "margin": margin, "yaxis": {**rows, "automargin": False}}


def _settle_axis(axis: Mapping[str, Any]) -> dict[str, Any]:
    """One with all of its words. One with neither ticks' texts nor a title makes no room for them: Plotly would keep a
    line free all the same."""
    words = {"ticklabeloverflow": "allow"} if "ticktext" in axis else {}
    silent = not axis.get("showticklabels", True) and not axis["title"]["text"]
    return {**words, **axis, **({"automargin": False} if silent else {})}


def _leave_room(rows: Mapping[str, Any]) -> float:
    font, title = rows["tickfont"], rows["title"]
    words = rows["ticktext"] if rows.get("showticklabels", True) else ()
    widths = (measure_text(word, font["size"], monospace="Sans" not in font["family"]) for word in words)
    beside = title["standoff"] + _TITLE * title["font"]["size"] if title["text"] else 0
    return _EDGE + max(widths, default=0) + rows.get("ticklabelstandoff", 0) + beside
