"""All that leans on Plotly's inside, which promises none of it: the only module that imports Plotly.

The names are looked for in the installed version by a test.
"""

from __future__ import annotations

import importlib
import pkgutil
from base64 import b64encode
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
from _plotly_utils.utils import plotlyjsShortTypes, to_typed_array_spec
from plotly.graph_objects import Figure

from bertviz_core.errors import InputError

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


class Picture(Figure):
    """A figure like any other, which in a notebook shows itself without fetching anything, and saves itself for print.

    Where a notebook draws figures of Plotly's, it gets this one; everywhere else, as in an exported page, the card.
    card: writes it as HTML; save: takes a path, and how it is to be printed.
    """

    _ipython_display_ = None  # pyright: ignore[reportAssignmentType] - so notebooks ask for what is below; Plotly would choose a renderer, most of which fetch a script

    def __init__(
        self,
        spec: Any = None,
        card: Callable[[], str] | None = None,
        save: Callable[..., None] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(spec, **more)
        self._card, self._save = card, save

    def save(self, path: str | PathLike[str], **how: Any) -> None:
        """Write the picture as .svg or .pdf, light and with its provenance below.

        how: width_mm, by default one column of 85 mm; font_pt, of all letters, by default 7; caption=False leaves out
        what stands above and below. Cells are rectangles up to 64 x 64, above that an image of 300 dpi. Raises
        InputError for another kind of file, where it cannot be written, and in a PDF for a letter that its fonts lack.
        """
        if self._save is None:
            raise InputError("A copy of a figure knows nothing of its trace. Save the one that it was made from.")
        self._save(Path(path), **how)

    def _repr_html_(self) -> str:
        return self._card() if self._card else super()._repr_html_()

    def _repr_mimebundle_(
        self, include: Any = None, exclude: Any = None, validate: bool = True, **more: Any
    ) -> dict[str, Any]:
        return {"application/vnd.plotly.v1+json": self.to_plotly_json(), "text/html": self._repr_html_()}


def write_array(values: np.ndarray) -> Any:
    """Numbers in base64, as Plotly sends them; other values as they are.

    Plotly looks for arrays among all lists and texts of a figure, and asks of each whose library it is, which takes
    longer. Instead: a public function.
    """
    short = plotlyjsShortTypes.get(values.dtype.name) if values.dtype.kind == "f" and values.size else None
    if short is None:
        return to_typed_array_spec(values)
    written = {"dtype": short, "bdata": b64encode(values.tobytes()).decode("ascii")}
    return {**written, "shape": str(values.shape)[1:-1]} if values.ndim > 1 else written


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
