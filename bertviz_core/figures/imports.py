"""What Plotly imports only when a first figure needs it, imported at one go."""

from __future__ import annotations

import importlib
import pkgutil

import numpy as np
import plotly.graph_objects as go

# The parts of figures that are drawn here, each a package with a module for every property that has properties.
_PARTS = (go.Bar, go.Heatmap, go.Scatter, go.Scatter3d, go.Layout)
_BESIDE = ("pandas", "plotly.tools")  # pandas is what Plotly looks for, to know its arrays


def import_plotly() -> None:
    """Import everything that drawing and serializing a figure would import later, in whichever thread comes first."""
    for name in _BESIDE:
        importlib.import_module(name)
    for part in _PARTS:
        package = importlib.import_module(f"plotly.graph_objs.{part.__name__.lower()}")
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(found.name)
    go.Figure(go.Bar(y=np.zeros(1))).to_json()
