"""Lines from token to token: what the component that draws them needs, and what it sends."""

from __future__ import annotations

import base64

import numpy as np

from bertviz_core.analysis.labels import describe_token, is_numbered
from bertviz_core.analysis.token_lines import Links
from bertviz_core.formula.address import Address
from bertviz_core.ui.components.colors import list_colors
from bertviz_core.ui.components.loading import load_component
from bertviz_core.ui.frame import choices, state
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.state import Sent
from bertviz_core.ui.frame.view import View

_LINES: Key[Sent] = Key("token-lines", None)
_CAPTIONS = {"query": "asks", "key": "answers"}
_lines = load_component("token_lines")


def show_lines(
    view: View,
    shown: Links,
    *,
    of: Address | None = None,
    full: float = 1.0,
    top: int = 0,
    row: int = 22,
    whole: bool = True,
) -> None:
    """Draw links; a click on a token chooses it.

    of: the head whose weights they are, where they are one's: the pair that is explained is then marked; full: the
    weight whose line is opaque; top, row: pixels above the first token, and of each; whole: each query's weights sum
    to 1, so that the rest of them is told.
    """
    _lines(
        key=_LINES.name,
        data={
            "query": [_describe(view, i) for i in shown.queries],
            "key": [_describe(view, i) for i in shown.keys],
            "shares": _pack(shown.weights),
            "hidden": _pack(shown.hidden if whole else np.zeros(len(shown.queries))),
            "part": _is_part(view, shown),
            "of": str(of or ""),
            "chosen": view.chosen.token,
            "captions": _CAPTIONS,
            "full": full,
            "top": top,
            "row": row,
            "colors": list_colors(view.colors),
        },
        on_token_change=state.on_event(_LINES, "token", choices.choose_token, state.is_number),
    )


def tell_no_lines(weights: np.ndarray, dashed: bool = False) -> str:
    """Why none of these weights has a line; "" where one has. dashed: whether the pair that is explained has one."""
    if (weights > 0).any():
        return ""
    why = "none of these weights is above 0" if weights.any() else "all of these weights are 0"
    return f"No line{' but that of the pair explained, dashed' if dashed else 's'}: {why}."


def _describe(view: View, i: int) -> dict[str, object]:
    return {**describe_token(view.trace, i), "numbered": is_numbered(view.trace, i)}


def _is_part(view: View, shown: Links) -> bool:
    """Whether weights of real tokens are left out, of which some can be larger than those that are drawn."""
    every = len(view.trace.encoding.real)
    return min(len(shown.queries), len(shown.keys)) < every or bool(np.isnan(shown.weights).any())


def _pack(shares: np.ndarray) -> str:
    return base64.b64encode(shares.astype("<f4").tobytes()).decode()
