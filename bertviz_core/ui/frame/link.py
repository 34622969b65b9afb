"""What a link that is copied says: all that the URL does, and what decides about the page where that is usual."""

from __future__ import annotations

from bertviz_core.ui.frame import state, url
from bertviz_core.ui.frame.keys import FIXED, HEAD, LAYER, TOKEN, VIEW
from bertviz_core.ui.frame.packing import pack


def list_whole_query() -> dict[str, str]:
    """What a link has to say that shows the same wherever and whenever it is opened.

    Beside what the URL says: the usual sentence and model too, and the place that a rule chose.
    """
    view, fixed = state.read(VIEW), {key.name: state.read(key) for key in FIXED}
    place = {}
    if view is not None and [view.text, view.trace.model.name] == list(fixed.values()):
        chosen = view.chosen
        place = {LAYER.name: str(chosen.layer), HEAD.name: str(chosen.head), TOKEN.name: str(chosen.token)}
    return {**{key: pack(text) for key, text in fixed.items() if text}, **place, **url.list_query()}
