"""Where pages look: the layer, head and token that the URL names; what it does not name, a rule chooses."""

from __future__ import annotations

from bertviz_core.analysis.openings import open_head, open_layer_for_answer, open_token
from bertviz_core.formula.texts import shorten
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import state
from bertviz_core.ui.frame.keys import HEAD, LAYER, LESSON, TOKEN, Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.needed import recall_needed
from bertviz_core.ui.frame.view import Selection

_LONGEST = 20  # characters of what is quoted
_ANSWERS, _HEADS = "layers", "heads"  # the pages that open where the answer appears, and at the head it needs most


def choose_place(trace: Trace, page: str) -> tuple[Selection, list[str]]:
    """The place, and what the URL asked for that is not there. page: the one that opens there."""
    remarks: list[str] = []
    config = trace.model.config
    token = read_index(TOKEN, len(trace.tokens), "input", remarks)
    layer = read_index(LAYER, config.num_hidden_layers, "model", remarks)
    head = read_index(HEAD, config.num_attention_heads, "model", remarks)
    if token is None:
        token = open_token(trace).token
    if layer is None and head is None:
        layer, head = _choose_head(trace, token, page)
    return Selection(layer or 0, head or 0, token), remarks


def _choose_head(trace: Trace, token: int, page: str) -> tuple[int, int]:
    """The layer and head of a page whose URL names neither. In a lesson, which may ask for it, no page shows what the
    answer needs most."""
    needed = recall_needed(trace, token) if page == _HEADS and not state.read(LESSON) else None
    if needed is not None:
        return needed
    opened = open_head(trace, token)
    return open_layer_for_answer(trace, token).layer if page == _ANSWERS else opened.layer, opened.head


def read_index(key: Key[str], size: int, where: str, remarks: list[str]) -> int | None:
    """An index that the URL names, below size; None where it names none, or another, which is remarked on."""
    asked = state.read(key)
    if asked.isascii() and asked.isdecimal() and int(asked[:9]) < size and len(asked) < 10:
        return int(asked)
    if asked:
        shown = shorten(asked, _LONGEST)
        name = key.name.replace("_", " ")
        remarks.append(f"There is no {name} {escape_markdown(shown)} in this {where}, only 0 to {size - 1}.")
    return None
