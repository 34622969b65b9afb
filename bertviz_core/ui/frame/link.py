"""What a link that is copied says: all that the URL does, and what decides about the page where that is usual."""

from __future__ import annotations

from bertviz_core.checkpoint.model import Model
from bertviz_core.ui.frame import state, url
from bertviz_core.ui.frame.keys import FIXED, HEAD, LAYER, TOKEN, VIEW, WEIGHTS
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.packing import pack


def list_whole_query() -> dict[str, str]:
    """What a link has to say that shows the same wherever and whenever it is opened.

    Beside what the URL says: the usual sentence and model too, its weights, and the place that a rule chose.
    """
    view, fixed = state.read(VIEW), {key.name: state.read(key) for key in FIXED}
    place, weights = {}, {}
    if view is not None and [view.text, view.trace.model.name] == list(fixed.values()):
        chosen = view.chosen
        place = {LAYER.name: str(chosen.layer), HEAD.name: str(chosen.head), TOKEN.name: str(chosen.token)}
        weights = {WEIGHTS.name: name_weights(view.trace.model)}
    return {**{key: pack(text) for key, text in fixed.items() if text}, **place, **url.list_query(), **weights}


def name_weights(model: Model) -> str:
    """The model's name, and what tells its weights from others that may be under this name elsewhere, or later."""
    return f"{model.name}:{model.digest}"


def tell_other_weights(model: Model) -> tuple[str, ...]:
    """That the link was copied where this model had other weights, if it was; nothing of another model."""
    name, _, digest = state.read(WEIGHTS).rpartition(":")
    if name != model.name or digest == model.digest:
        return ()
    theirs, ours = (escape_markdown(text) for text in (digest[:12], model.digest))
    return (
        f"The link was made with other weights of {escape_markdown(name)} ({theirs}, here {ours}): its numbers may be "
        "others.",
    )
