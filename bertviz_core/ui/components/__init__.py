"""Components that run in the browser, without a build: each is a .html, a .css and a .js file beside this one.

A long .js file goes on in others that begin with its name; together, in the order of their names, they are one module.
Before those of a component that writes numbers stands numbers.js.
"""

from __future__ import annotations

import re
from pathlib import Path

from streamlit.components import v2
from streamlit.components.v2.types import ComponentRenderer

from bertviz_core.figures.palette import Palette
from bertviz_core.ui.components.selectors import expand

NUMBERS = "numbers.js"  # the rule of formula/numbers.py


def load_component(name: str, *, isolated: bool = True) -> ComponentRenderer:
    """What draws the component of this name. isolated: its style and what it draws stay apart from the page's."""
    html, css, js = (_read(f"{name}{part}") for part in (".html", ".css", "*.js"))
    numbers = _read(NUMBERS)
    if any(f"{function}(" in js for function in re.findall(r"^function (\w+)", numbers, re.M)):
        js = f"{numbers}\n{js}"
    return v2.component(f"bertviz.{name}", html=html, css=expand(css), js=js, isolate_styles=isolated)


def _read(pattern: str) -> str:
    return "\n".join(file.read_text(encoding="utf-8") for file in sorted(Path(__file__).parent.glob(pattern)))


def list_colors(palette: Palette) -> dict[str, str]:
    """The theme's colours, by the names that the components' styles give them."""
    first, second = palette.segments
    return {
        "text": palette.text, "faint": palette.faint, "line": palette.line, "surface": palette.surface,
        "accent": palette.kinds["attention"], "first": first, "second": second,
    }  # fmt: skip
