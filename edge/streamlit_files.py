"""What Streamlit serves, and where its files lie: known without importing it, which takes a second.

It promises none of this. A test looks for all of it in the installed version.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

# What it serves and the app has no use for, as patterns: uploads, figures and probes of the operator, programs instead
# of people, accounts. Instead: options that leave them out.
CLOSED = (r"_stcore/(upload_file|metrics|script-health-check|agent)", r"auth/(login|logout)", "oauth2callback")
FILES = ("static", "media", "component", "_stcore")  # where what it serves is no page
_INLINE = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


@cache
def find_static() -> Path:
    """The folder of Streamlit's own page and its files: nginx serves them by itself. Instead: a function for it."""
    spec = find_spec("streamlit")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent / "static"


def read_inline_scripts() -> list[bytes]:
    """The scripts in Streamlit's page itself: a policy that allows no others has to know them. Instead: none."""
    return _INLINE.findall((find_static() / "index.html").read_bytes())
