"""All that leans on Plotly's inside, which promises none of it: the only module that imports Plotly.

The names are looked for in the installed version by a test.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import numpy as np
import plotly.graph_objects as go
from _plotly_utils.utils import to_typed_array_spec
from plotly.graph_objects import Figure

# The parts of figures that are drawn here, each a package with a module for every property that has properties.
_PARTS = (go.Bar, go.Heatmap, go.Scatter, go.Scatter3d, go.Layout)
_BESIDE = ("pandas", "plotly.tools")  # pandas is what Plotly looks for, to know its arrays


class Drawn(Figure):
    """A specification as a figure, unvalidated and not copied: every kind is validated in a test, and validators and
    copies take longer than all the rest. write: gives the specification anew, as dicts and lists that may be changed,
    with its arrays as `write_array` has them.

    It has nothing of what a figure has that is going to be changed. Instead: Streamlit taking a specification as it is.
    """

    def __init__(self, write: Callable[[], dict[str, Any]]) -> None:
        self._write = write

    def to_dict(self) -> dict[str, Any]:
        """As `Figure.to_dict`."""
        return self._write()


def write_array(values: np.ndarray) -> Any:
    """Numbers in base64, as Plotly sends them; other values as they are.

    Plotly looks for arrays among all lists and texts of a figure, which takes longer. Instead: a public function.
    """
    return to_typed_array_spec(values)


def import_plotly() -> None:
    """Import everything that drawing and serializing a figure would import later, in whichever thread comes first.

    Two threads could see it half made. Instead: that Plotly imports all of itself at once.
    """
    for name in _BESIDE:
        importlib.import_module(name)
    for part in _PARTS:
        package = importlib.import_module(f"plotly.graph_objs.{part.__name__.lower()}")
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(found.name)
    Figure(go.Bar(y=np.zeros(1))).to_json()
