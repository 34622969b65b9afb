"""What a link that is copied says: all that the URL does, and what decides about the page where that is usual."""

from __future__ import annotations

from bertviz_core.ui.frame import state
from bertviz_core.ui.frame.packing import FIXED, pack


def list_whole_query() -> dict[str, str]:
    """What a link has to say that shows the same wherever and whenever it is opened.

    Beside what the URL says: the usual sentence and model too, and the place that a rule chose.
    """
    view, fixed = state.read_view(), {key: str(state.read(key, "")) for key in FIXED}
    place = {}
    if view is not None and [view.text, view.trace.model.name] == list(fixed.values()):
        place = {name: str(getattr(view.chosen, name)) for name in ("layer", "head", "token")}
    return {**{key: pack(text) for key, text in fixed.items() if text}, **place, **state.list_query()}
