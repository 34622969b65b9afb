"""A hook of the documentation's site: what lies outside of docs/ is no page of it, so a link there becomes its path."""

from __future__ import annotations

import re
from typing import Any

_OUTSIDE = re.compile(r"\[([^\]]+)\]\((\.\./[^)\s]+)\)")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page with links to the repository's other files written as their paths."""
    return _OUTSIDE.sub(lambda link: f"{link[1]} (`{link[2].removeprefix('../')}`)", markdown)
