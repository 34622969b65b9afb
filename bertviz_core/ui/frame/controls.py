"""The one selection that all pages share: sentence, model, layer, head and token, held in widgets bound to the URL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from bertviz_core.analysis.predictions import find_masks
from bertviz_core.formula.notations import NOTATIONS, Notation
from bertviz_core.programs.config import BertConfig
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import state
from bertviz_core.ui.frame.labels import escape_markdown, label_tokens
from bertviz_core.ui.frame.preparation import NO_PADDING, PAD_TO
from bertviz_core.ui.frame.resources import BUNDLED, list_models

LONGEST_IN_URL = 400
LONGEST_TEXT = 6000

_NOTATIONS = {"row": "rows", "column": "columns", "function": "arguments of functions"}
EXAMPLES: tuple[tuple[str, str], ...] = (
    ("When in Rome, do as the [MASK] do.", ""),
    ("She opened the door and [MASK] into the room.", ""),
    ("The old man was [MASK] and tired.", ""),
    ("He sat by the bank of the river.", "The bank lent him the money."),
    ("The children went to bed.", "Their mother turned off the [MASK]."),
    ("Unbelievably, tokenizers split electroencephalography.", ""),
)


@dataclass(frozen=True)
class Asked:
    """What is to be run: the sentence, the second one if any, the model's name; pad, mask, changes as the URL has them.

    notation: how formulas are written.
    """

    text: str
    pair: str | None
    model: str
    pad: str
    mask: str
    changes: str
    notation: Notation


def show_sentence_controls() -> Asked:
    """The sentence, and in a popover what else is run with it."""
    first = EXAMPLES[0][0]
    with st.container(horizontal=True, vertical_alignment="bottom", key="sentence-bar"):
        text = st.text_input(
            "Sentence",
            first,
            key="text",
            max_chars=LONGEST_TEXT,
            on_change=state.forget_tokens,
            bind=_bind_text("text", first),
            placeholder="Type a sentence; write [MASK] for a token to predict",
            persist_state="session",
        )
        with st.popover("Examples and options", icon=":material/tune:"):
            _show_examples()
            pair = st.text_input(
                "Second sentence (optional)", "", key="pair", max_chars=LONGEST_TEXT, on_change=state.forget_tokens,
                bind=_bind_text("pair", ""), placeholder="A second sentence makes a pair",
            )  # fmt: skip
            return Asked(text, pair or None, _show_model(), *_show_preparation(), _show_notation())


def _show_examples() -> None:
    for i, (text, pair) in enumerate(EXAMPLES):
        label = _shorten(text + (f" / {pair}" if pair else ""))
        st.button(label, key=f"example-{i}", on_click=state.use_sentence, args=(text, pair), type="tertiary")


def _show_model() -> str:
    names, free = list_models()
    linked = state.read_url("model")  # the menu drops a name that it does not offer, and would say nothing
    name = st.selectbox(
        "Model", names, key="model", accept_new_options=free, bind="query-params", format_func=_name_model,
        help="A Hugging Face model id, or a folder where this app runs; safetensors only." if free else None,
        on_change=state.forget_tokens,
    )  # fmt: skip
    return (linked if not free and linked and linked not in names else name) or names[0]


def _show_preparation() -> tuple[str, str, str]:
    """How far to pad, which positions are masked, what is changed; the latter two are chosen elsewhere."""
    state.keep("pad", "mask", "changes")  # while their popover is closed
    pad = st.selectbox(
        "Pad to", PAD_TO, key="pad", bind="query-params", accept_new_options=True,
        format_func=lambda wish: "No padding" if wish == NO_PADDING else f"{wish} tokens",
        help="Appends [PAD] tokens, as in a batch of texts of different lengths.",
    )  # fmt: skip
    mask = st.text_input("Masked positions", key="mask", bind="query-params", label_visibility="collapsed")
    changes = st.text_input("Changes", key="changes", bind="query-params", label_visibility="collapsed")
    return pad or NO_PADDING, mask, changes


def _show_notation() -> Notation:
    return st.selectbox(
        "Formulas with tokens as", NOTATIONS, key="formulas", bind="query-params", format_func=_NOTATIONS.__getitem__,
    ) or NOTATIONS[0]  # fmt: skip


def show_place_controls(config: BertConfig) -> tuple[int, int, str, list[str]]:
    """Layer and head, kept within what the model has; the token's position as the URL gives it; what is wrong there.

    They need no trace: where a sentence cannot be run, the place in the model stays chosen.
    """
    remarks: list[str] = []
    layer = _show_index("Layer", "layer", config.num_hidden_layers, remarks)
    head = _show_index("Head", "head", config.num_attention_heads, remarks)
    return layer, head, read_position("token"), remarks


def _show_index(label: str, key: str, size: int, remarks: list[str]) -> int:
    """A menu of 0 to size - 1. What else the URL or another model left behind becomes 0, with a remark."""
    for asked in (state.read_url(key), state.read(key)):
        if asked is not None and str(asked) not in map(str, range(size)):
            remarks.append(f"There is no {key} {_quote(asked)} in this model, only 0 to {size - 1}; 0 is shown.")
            state.write(key, 0)
            break
    return st.selectbox(label, range(size), key=key, bind="query-params", width=92) or 0


def show_token(trace: Trace, position: str, remarks: list[str]) -> int:
    """The token at a position, by default the first masked one, as a menu of words."""
    names, masks = label_tokens(trace), find_masks(trace)
    token = show_token_menu("Token", "token", names, position, masks[0] if masks else min(1, len(names) - 1))
    if position and position != str(token):
        remarks.append(
            f"There is no token {_quote(position)} in this input, only 0 to {len(names) - 1}; {token} is shown."
        )
    return token


def read_position(key: str) -> str:
    """A token's position as the URL gives it, by a field that is never seen: a menu of words would write the word."""
    return st.text_input("Position of the token", key=key, bind="query-params", label_visibility="collapsed")


def show_token_menu(label: str, key: str, names: Sequence[str], position: str, usual: int) -> int:
    """The token at a position, if there is one, otherwise the usual one, as a menu of its names."""
    positions, menu = [str(i) for i in range(len(names))], f"{key}-menu"
    chosen = positions.index(position) if position in positions else usual
    state.write(menu, chosen)
    st.selectbox(label, range(len(names)), key=menu, format_func=names.__getitem__,
                 on_change=lambda: state.choose_token(state.read(menu), key))  # fmt: skip
    return chosen


def _bind_text(key: str, default: str) -> Literal["query-params"] | None:
    """Binds a short text to the URL. What was typed while a long one stood there has to be put into the URL by hand."""
    short = len(state.read(key, default) or "") <= LONGEST_IN_URL
    if short and state.read(f"{key}-unbound"):
        state.keep(key)
    state.write(f"{key}-unbound", not short)
    return "query-params" if short else None


def _quote(asked: object) -> str:
    text = str(asked)
    return escape_markdown(text if len(text) <= 20 else text[:19] + "…")


def _name_model(name: str) -> str:
    return "Bundled: 6 layers, hidden size 384" if name == BUNDLED else name


def _shorten(text: str) -> str:
    text = text if len(text) <= 60 else text[:57] + "…"
    return escape_markdown(text)
