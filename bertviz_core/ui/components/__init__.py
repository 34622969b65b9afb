"""Components that run in the browser, without a build: each is a folder of modules, which are joined at the start.

Streamlit calls what a component's index.js exports; index.html and, where it has a style, index.css stand beside it.
What more than one of them needs is in shared/.
"""

from __future__ import annotations

from pathlib import Path

from streamlit.components import v2
from streamlit.components.v2.types import ComponentRenderer

from bertviz_core.figures.palette import Palette
from bertviz_core.ui.components.joining import join_modules
from bertviz_core.ui.components.selectors import read_rules

FOLDER = Path(__file__).parent


def load_component(name: str, *, isolated: bool = True) -> ComponentRenderer:
    """What draws the component of this name. isolated: its style and what it draws stay apart from the page's."""
    folder = FOLDER / name
    html = (folder / "index.html").read_text(encoding="utf-8")
    style = folder / "index.css"
    css = read_rules(style) if style.is_file() else ""
    js = join_modules(folder / "index.js", FOLDER)
    return v2.component(f"bertviz.{name}", html=html, css=css, js=js, isolate_styles=isolated)


def list_colors(palette: Palette) -> dict[str, str]:
    """The theme's colours, by the names that the components' styles give them."""
    first, second = palette.segments
    return {
        "text": palette.text,
        "faint": palette.faint,
        "line": palette.line,
        "surface": palette.surface,
        "accent": palette.kinds["attention"],
        "first": first,
        "second": second,
    }
