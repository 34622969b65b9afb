"""The steppers of the bar: a layer or a head back or on, and the list of all in the middle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from html import escape

import streamlit as st

from bertviz_core.programs.config import BertConfig
from bertviz_core.ui.frame import choices, site, state
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.level import looks_at_whole
from bertviz_core.ui.frame.remade import show_remade
from bertviz_core.ui.frame.view import Selection

_AXES = ("layer", "head")
# By page, which of them it does not depend on, and why.
UNUSED: Mapping[str, tuple[Sequence[str], str]] = {
    "tokenization": (_AXES, "Tokens are cut before the first layer."),
    "embeddings": (_AXES, "Embeddings come before the first layer."),
    "add_norm": (("head",), "All heads are added up here."),
    "feed_forward": (("head",), "Neurons read what all heads together have left."),
    "predictions": (_AXES, "Words are predicted behind the last layer."),
    "where_from": (_AXES, "What was carried went through all layers and heads."),
    "sentence": (_AXES, "The sentence is judged behind the last layer."),
    "layers": (("head",), "A layer is seen as a whole here, with all its heads."),
    "story": (_AXES, "The story finds its own layers and heads."),
    "parameters": (_AXES, "All layers and heads are counted here."),
    "training": (_AXES, "A model of its own is trained here."),
    "notebook": (_AXES, "The notebook prints layers and heads of its own."),
    "notation": (("head",), "Every head is written in the same way."),
}
WHOLE = ("head",), "The whole pass draws the mean of all heads. Choose a layer to see each of them."
# Layer and head as they are drawn; as they have been chosen since, where several presses come before the next drawing.
_PLACE: Key[tuple[int, ...]] = Key("stepped-to", (0, 0))


def show_steppers(info: site.PageInfo, config: BertConfig, chosen: Selection) -> None:
    """One for the layer and one for the head; what the page does not look at is dim, and says why."""
    sizes = config.num_hidden_layers, config.num_attention_heads
    here = chosen.layer, chosen.head
    state.write(_PLACE, here)
    unused, why = _find_unused(info.name)
    for axis, size, index in zip(_AXES, sizes, here, strict=True):
        if axis in unused:
            st.html(_render_off(axis, index, why), width="content")
        else:
            _show(axis, size, index)


def name_place(page: str, chosen: Selection) -> str:
    """Where a page looks, such as "layer 2, head 0"; of what it depends on."""
    unused, _ = _find_unused(page)
    here = zip(_AXES, (chosen.layer, chosen.head), strict=True)
    return ", ".join(f"{axis} {index}" for axis, index in here if axis not in unused)


def _find_unused(page: str) -> tuple[Sequence[str], str]:
    """What a page does not depend on, and why; the first page as near as it looks now."""
    return WHOLE if page == site.PAGES[0].name and looks_at_whole() else UNUSED.get(page, ((), ""))


def _show(axis: str, size: int, index: int) -> None:
    with st.container(key=f"stepper-{axis}", horizontal=True, width="content", gap=None, wrap=False):
        for word, by, icon in (("Previous", -1, "left"), ("Next", 1, "right")):
            if by > 0:
                show_remade(
                    axis,
                    axis.capitalize(),
                    range(size),
                    index,
                    partial(_choose, axis),
                    width=72,
                    format_func=f"{axis.capitalize()} {{}}".format,
                )
            st.button(
                f"{word} {axis}",
                key=f"{word.lower()}-{axis}",
                icon=f":material/chevron_{icon}:",
                type="tertiary",
                disabled=not 0 <= index + by < size,
                on_click=_step,
                args=(axis, by, size),
            )


def _render_off(axis: str, index: int, why: str) -> str:
    return (
        f'<span class="bv-term bv-off" tabindex="0" aria-disabled="true" data-axis="{axis}">{axis.capitalize()} {index}'
        f'<span role="tooltip">{escape(why)}</span></span>'
    )


def _step(axis: str, by: int, size: int) -> None:
    """A press asks for one further than the one before it, also where that has not been drawn yet."""
    index = state.read(_PLACE)[_AXES.index(axis)] + by
    if 0 <= index < size:
        _choose(axis, index)


def _choose(axis: str, index: int) -> None:
    place = dict(zip(_AXES, state.read(_PLACE), strict=True)) | {axis: index}
    layer, head = (place[each] for each in _AXES)
    state.write(_PLACE, (layer, head))
    choices.choose_head(layer, head)
