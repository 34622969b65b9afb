"""Controls that a link takes away, so that a class looks at what is asked: they are not drawn on any of its pages."""

from __future__ import annotations

from collections.abc import Mapping

# By the name that stands in the URL: what it is called, and where it stands on pages.
CONTROLS: Mapping[str, tuple[str, str]] = {
    "sentence": ("Sentence and model", ".st-key-editor"),
    "whatif": ("What if", '[class*="st-key-what-if"]'),
    "pages": ("Other pages", '[class*="st-key-menu-"],.st-key-whole,.st-key-map'),
    "share": ("Share", ".st-key-share"),
}


def write_hidden(names: str) -> str:
    """The rules by which these controls are not drawn; names: with commas between them, of which unknown ones are
    passed over."""
    hidden = [CONTROLS[name][1] for name in names.split(",") if name in CONTROLS]
    return f"{','.join(hidden)}{{display:none!important}}" if hidden else ""
