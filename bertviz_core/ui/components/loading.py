"""A component of a folder, as Streamlit takes it: the only module here that knows Streamlit."""

from __future__ import annotations

from streamlit.components import v2
from streamlit.components.v2.types import ComponentRenderer

from bertviz_core.ui.components.joining import FOLDER, join_modules
from bertviz_core.ui.components.selectors import read_rules


def load_component(name: str, *, isolated: bool = True) -> ComponentRenderer:
    """What draws the component of this name. isolated: its style and what it draws stay apart from the page's."""
    folder = FOLDER / name
    html = (folder / "index.html").read_text(encoding="utf-8")
    style = folder / "index.css"
    css = read_rules(style) if style.is_file() else ""
    js = join_modules(folder / "index.js", FOLDER)
    return v2.component(f"bertviz.{name}", html=html, css=css, js=js, isolate_styles=isolated)
