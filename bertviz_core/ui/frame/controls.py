"""What all pages share, as widgets: sentence, model, padding and notation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import streamlit as st

from bertviz_core.formula.notations import NOTATIONS, Notation
from bertviz_core.tracing.changes import Listed
from bertviz_core.ui.frame import choices, keys, state
from bertviz_core.ui.frame.fields import Field, bind_field, take_field
from bertviz_core.ui.frame.keys import FORMULAS, MASK, MODEL, PAD, TEXT, Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.preparation import NO_PADDING, PAD_TO
from bertviz_core.ui.frame.resources import BUNDLED, list_models, list_own
from bertviz_core.ui.frame.what_if import read_asked

LONGEST_TEXT = 6000  # characters
T = TypeVar("T")

_NOTATIONS = {"row": "rows", "column": "columns", "function": "arguments of functions"}


@dataclass(frozen=True)
class Example:
    """A sentence to begin with, or a pair of them. name: what it shows, in one to three words."""

    name: str
    text: str
    pair: str = ""


PAIR = Example("a pair", "He sat by the bank of the river.", "The bank lent him the money.")
EXAMPLES = (
    Example("a proverb", "When in Rome, do as the [MASK] do."),
    Example("agreement", "The keys to the cabinet [MASK] on the table."),
    Example("a fact", "The capital of France is [MASK]."),
    Example("a negation", "A robin is not a [MASK]."),
    PAIR,
    Example("long words", "Unbelievably, tokenizers split electroencephalography."),
)


@dataclass(frozen=True)
class Asked:
    """What is to be run: the sentence, the second one if any, the model's name; pad and mask as the URL has them.

    notation: how formulas are written.
    """

    text: str
    pair: str | None
    model: str
    pad: str
    mask: str
    changes: Listed
    notation: Notation


def show_sentence_editor() -> Asked:
    """The sentence, the second one, examples, the model, and how formulas are written."""
    with st.container(key="sentence-line", horizontal=True, vertical_alignment="center", gap="small"):
        text = _show_sentence(
            "Sentence", TEXT, "Type a sentence; write [MASK] for a token to predict", EXAMPLES[0].text
        )
        st.html('<button class="bv-run" data-run>Run ↵</button>', width="content")
    pair = _show_sentence("Second sentence (optional)", keys.PAIR, "A second sentence makes a pair")
    _show_examples((text, pair))
    with st.container(key="how-it-is-read", horizontal=True):
        return Asked(
            text, pair or None, _show_model(), _show_padding(), state.read(MASK), read_asked(), _show_notation()
        )


def _show_sentence(label: str, key: Key[str], placeholder: str, usual: str | None = None) -> str:
    field = bind_field(key, usual)
    return st.text_input(
        label,
        field.value,
        key=field.key,
        max_chars=LONGEST_TEXT,
        on_change=take_field,
        args=(key,),
        placeholder=placeholder,
        label_visibility="collapsed",
    )


def _show_examples(here: tuple[str, str]) -> None:
    """A card for each: what it shows, and its text. here: the sentences that are read now."""
    st.caption("or take one of these")
    with st.container(key="examples", gap=None):
        for i, example in enumerate(EXAMPLES):
            text = " / ".join(filter(None, (example.text, example.pair)))
            now = " *now open*" if here == (example.text, example.pair) else ""
            st.button(
                f"**{example.name.capitalize()}** {escape_markdown(text)}{now}",
                key=f"example-{i}",
                on_click=choices.use_sentence,
                args=(example.text, example.pair),
            )


def _show_model() -> str:
    names, free = list_models()
    field = bind_field(MODEL, names[0])
    names = (*names, *list_own())
    if not free and field.value not in names:  # the menu cannot say it; what loads the model refuses it, in words
        return field.value
    return _show_select(
        "Model",
        MODEL,
        field,
        names,
        accept_new_options=free,
        format_func=_name_model,
        help="A Hugging Face model id, or a folder where this app runs; safetensors only." if free else None,
    )


def _show_padding() -> str:
    return _show_select(
        "Pad to",
        PAD,
        bind_field(PAD),
        PAD_TO,
        accept_new_options=True,
        width=150,
        format_func=_name_padding,
        help="Appends [PAD] tokens, as in a batch of texts of different lengths.",
    )


def _name_padding(wish: str) -> str:
    return "No padding" if wish == NO_PADDING else f"{wish} tokens"


def _show_notation() -> Notation:
    field = bind_field(FORMULAS, options=NOTATIONS)
    return _show_select(
        "Formulas with tokens as", FORMULAS, field, NOTATIONS, format_func=_NOTATIONS.__getitem__, width=180
    )


def _show_select(label: str, key: Key[T], field: Field[T], options: Sequence[T], **looks: Any) -> T:
    """A menu of the options, and of what was set that is none of them."""
    offered = [*options, *({field.value} - {None, *options})]
    place = offered.index(field.value) if field.value in offered else 0
    return cast(
        T, st.selectbox(label, offered, place, key=field.key, on_change=take_field, args=(key,), **looks) or options[0]
    )


def _name_model(name: str) -> str:
    return "Bundled: 6 layers, hidden size 384" if name == BUNDLED else name
