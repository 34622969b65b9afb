"""The elements that Streamlit, Plotly and KaTeX draw, as CSS selectors: all that is known of them stands in one file.

They promise none of these names. shared/selectors.json gives each element a name of ours, and a reason; style sheets,
and selectors elsewhere, write `:--name`, as the custom selectors of CSS do that no browser knows yet.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("shared") / "selectors.json"
_NAME = re.compile(r":--([a-z-]+)")


@cache
def read_selectors() -> dict[str, str]:
    """The selectors by their names: of a test id, of a class, or as they are given."""
    return {name: _write(entry) for name, entry in json.loads(_FILE.read_text(encoding="utf-8")).items()}


def expand(text: str) -> str:
    """A style sheet, a selector or a script, with selectors for their names. Raises KeyError for an unknown one."""
    return _NAME.sub(lambda found: read_selectors()[found[1]], text)


def read_rules(file: Path) -> str:
    """The rules of a style sheet, expanded."""
    return expand(file.read_text(encoding="utf-8"))


def read_css(file: Path) -> str:
    """A style sheet as HTML."""
    return f"<style>{read_rules(file)}</style>"


def _write(entry: dict[str, str]) -> str:
    if "testid" in entry:
        return f'[data-testid="{entry["testid"]}"]'
    return f".{entry['class']}" if "class" in entry else entry["selector"]
