"""A component of a folder, as Streamlit takes it: the only module here that knows Streamlit.

Streamlit sends a component's script and style along with its data, whenever that is another; what is the same as before
and long, it sends once, and names from then on. So a long script comes as a component of its own, which is given
nothing and draws nothing.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

from streamlit.components import v2
from streamlit.components.v2.types import ComponentRenderer

from bertviz_core.ui.components.joining import FOLDER, join_modules
from bertviz_core.ui.components.selectors import read_rules

LONG = 10_000  # bytes; of Streamlit's `global.minCachedMessageSize`, which is hidden
_SCRIPT = "script-of-"  # the key of what comes by itself, before that of what is drawn by it
_HIDDEN = f'[class*="st-key-{_SCRIPT}"] {{\n  display: none;\n}}\n'  # of one line Streamlit takes it for a path

# Where a browser finds a component's script of one version, or waits for it.
_PLACE = """const come = (globalThis.bertviz ??= {{}})[{name}] ??= {{}};
come.whole ??= new Promise((take) => come.take = take);
"""
_CALLS = f"""{_PLACE}let call;
come.whole.then((found) => call = found);
export default (given) => call ? call(given) : come.whole.then((found) => found(given));
"""
_COMES = f"""{_PLACE}come.take(component);
export default () => {{{{}}}};
"""


def load_component(name: str, *, isolated: bool = True) -> ComponentRenderer:
    """What draws the component of this name. isolated: its style and what it draws stay apart from the page's."""
    folder, called = FOLDER / name, f"bertviz.{name}"
    html, style = (folder / "index.html").read_text(encoding="utf-8"), folder / "index.css"
    css = read_rules(style) if style.is_file() else ""
    js = join_modules(folder / "index.js", FOLDER)
    if len(js.encode()) < LONG:
        return v2.component(called, html=html, css=css, js=js, isolate_styles=isolated)
    script = join_modules(folder / "index.js", FOLDER, "component")
    version = json.dumps(f"{name} {blake2b(script.encode(), digest_size=8).hexdigest()}")
    comes, calls = (code.format(name=version) for code in (_COMES, _CALLS))
    hidden = _HIDDEN if isolated else f"{css}\n{_HIDDEN}"
    send = v2.component(f"{called}.script", css=hidden, js=f"{script}\n{comes}", isolate_styles=False)
    draw = v2.component(called, html=html, css=css if isolated else "", js=calls, isolate_styles=isolated)

    def show(**given: Any) -> Any:
        send(key=f"{_SCRIPT}{given['key']}")
        return draw(**given)

    return show
