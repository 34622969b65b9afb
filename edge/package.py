"""Where the package lies, beside the app or installed, found without importing it: that would bring PyTorch."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


def _find() -> Path:
    found = find_spec("bertviz_core")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("The app needs the package bertviz_core: start it in its clone, or install it.")
    return Path(found.origin).parent


PACKAGE = _find()
