"""The pooler: the first token's vector projected, and what a function makes of that."""

from __future__ import annotations

import numpy as np

from bertviz_core.analysis.made_from import is_put
from bertviz_core.analysis.ranking import find_robust_limit
from bertviz_core.analysis.walk import sample_function
from bertviz_core.figures.bars import draw_curve
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.formula.address import Address
from bertviz_core.formula.functions import TANH, Apply, Function
from bertviz_core.formula.numbers import format_percent
from bertviz_core.formula.short import name_function
from bertviz_core.formula.steps import PREDICTION, walk_nodes
from bertviz_core.formula.texts import name_token
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.panel import show_panel
from bertviz_core.ui.panels.put import tell_put

DENSE, POOLED = Address("pooler.dense"), Address("pooler.activation")
_CURVE, _STRIPS = 336, 190  # pixels
_FLAT = 0.9  # beyond which tanh changes little
_NOTES_LAST_LINE = (
    r"The forward-pass note ends in the softmax of $\tanh(W^{final} Z[0,:])$, $Z$ after the last layer. BERT "
    r"as released has the same first step with a bias, $\bar{p} = \tanh(p)$, and one more matrix before the softmax: "
    "it turns the pooled components into one logit per class."
)


def show_pooler(view: View) -> None:
    """The projection, and its components on the tanh curve."""
    _show_projection(view)
    _show_curve(view)


def _find_function(view: View) -> Function:
    """What the pooler applies to the projection: tanh, unless a change has it apply another function."""
    return next(node.function for node in walk_nodes(view.trace.step(POOLED).expr) if isinstance(node, Apply))


def _show_curve(view: View) -> None:
    trace, function = view.trace, _find_function(view)
    before, after = trace[DENSE], trace[POOLED]
    reach = float(max(abs(before).max(), 3.0)) + 0.5
    grid = np.linspace(-reach, reach, 160)
    curve = draw_curve(
        grid, sample_function(function, grid), before, after, view.colors, view.colors.kinds[PREDICTION], height=_CURVE
    )
    flat = (
        f"{format_percent(float((abs(np.tanh(before)) > _FLAT).mean()))} of {len(after):,} components "
        f"{'would be' if is_put(trace, POOLED) else 'are'} beyond ±{_FLAT}, where tanh is nearly flat."
    )
    show_panel(
        view,
        POOLED,
        f"Every component on the curve of {name_function(function)}",
        curve.offer(picks.pick_every(trace, POOLED)),
        note=flat if function == TANH else "",
    )


def _show_projection(view: View) -> None:
    """The first token's vector, projected, then squeezed by tanh."""
    trace, function = view.trace, _find_function(view)
    vectors, name = np.stack([trace[DENSE], trace[POOLED]]), name_function(function)
    figure = draw_heatmap(
        vectors,
        Side("", ["dense", name]),
        Side("pooled"),
        view.colors,
        PREDICTION,
        end=find_robust_limit(vectors),
        height=_STRIPS,
    )
    keeps = "One column per component, one scale"
    keeps += ": tanh keeps numbers in −1 … 1, small ones hardly change." if function == TANH else "."
    show_panel(
        view,
        DENSE,
        f"{name_token(trace.tokens, 0)} after the projection; below it, after {name}",
        figure.offer(picks.pick_vectors(trace, [DENSE, POOLED])),
        note=f"{keeps}{tell_put(view, POOLED)} {_NOTES_LAST_LINE}",
    )
