"""Components that run in the browser, without a build: each is a .html, a .css and a .js file beside this one."""

from __future__ import annotations

from pathlib import Path

from streamlit.components import v2
from streamlit.components.v2.types import ComponentRenderer

from bertviz_core.figures.palette import Palette


def load_component(name: str) -> ComponentRenderer:
    """What draws the component of this name."""
    html, css, js = (
        Path(__file__).with_name(f"{name}.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js")
    )
    return v2.component(f"bertviz.{name}", html=html, css=css, js=js)


def list_colors(palette: Palette) -> dict[str, str]:
    """The theme's colours, by the names that the components' styles give them."""
    first, second = palette.segments
    return {
        "text": palette.text, "faint": palette.faint, "line": palette.line, "surface": palette.surface,
        "accent": palette.kinds["attention"], "first": first, "second": second,
    }  # fmt: skip
