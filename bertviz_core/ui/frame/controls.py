"""What all pages share, as widgets: sentence, model, padding and notation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

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

_SENTENCES: tuple[tuple[Key[str], str | None], ...] = ((TEXT, EXAMPLES[0].text), (keys.PAIR, None))  # and what is usual


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


def bind_asked() -> Asked:
    """What is to be run: as the URL has it, and what was last typed or chosen in the editor."""
    names, _ = list_models()
    text, pair = (bind_field(key, usual).value for key, usual in _SENTENCES)
    model, pad = bind_field(MODEL, names[0]).value or names[0], bind_field(PAD).value or NO_PADDING
    return Asked(text, pair or None, model, pad, state.read(MASK), read_asked(), _bind_notation().value)


@st.fragment
def show_sentence_editor() -> None:
    """The sentence and the second one; once it is opened also examples, the model, and how formulas are written."""
    choices.rerun_if_asked()
    editor = st.popover("Edit the sentence", icon=":material/edit:", key="editor", type="tertiary", on_change="rerun")
    with editor:
        _show_sentences()
        if editor.open:
            _show_examples()
            with st.container(key="how-it-is-read", horizontal=True):
                _show_model()
                _show_padding()
                _show_notation()


def _show_sentences() -> None:
    """What one types into the moment that the editor opens, so it is there before."""
    with st.container(key="sentence-line", horizontal=True, vertical_alignment="center", gap="small"):
        _show_sentence("Sentence", *_SENTENCES[0], "Type a sentence; write [MASK] for a token to predict")
        st.html('<button class="bv-run" data-run>Run ↵</button>', width="content")
    _show_sentence("Second sentence (optional)", *_SENTENCES[1], "A second sentence makes a pair")


def _show_sentence(label: str, key: Key[str], usual: str | None, placeholder: str) -> None:
    field = bind_field(key, usual)
    st.text_input(
        label,
        field.value,
        key=field.key,
        max_chars=LONGEST_TEXT,
        on_change=take_field,
        args=(key,),
        placeholder=placeholder,
        label_visibility="collapsed",
    )


def _show_examples() -> None:
    """A card for each: what it shows, and its text."""
    here = tuple(state.read(key) for key, _ in _SENTENCES)
    st.caption("or take one of these")
    with st.container(key="examples", gap=None):
        for i, example in enumerate(EXAMPLES):
            text = " / ".join(filter(None, (example.text, example.pair)))
            now = " *now open*" if here == (example.text, example.pair) else ""
            st.button(
                f"**{example.name.capitalize()}** {escape_markdown(text)}{now}",
                key=f"example-{i}",
                on_click=_use_example,
                args=(example,),
            )


def _use_example(example: Example) -> None:
    choices.use_sentence(example.text, example.pair)
    choices.ask_for_rerun()


def _show_model() -> None:
    names, free = list_models()
    field = bind_field(MODEL, names[0])
    names = (*names, *list_own())
    if not free and field.value not in names:  # the menu cannot say it; what loads the model refuses it, in words
        return
    _show_select(
        "Model",
        MODEL,
        field,
        names,
        accept_new_options=free,
        format_func=_name_model,
        help="A Hugging Face model id, or a folder where this app runs; safetensors only." if free else None,
    )


def _show_padding() -> None:
    _show_select(
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


def _show_notation() -> None:
    field = _bind_notation()
    _show_select("Formulas with tokens as", FORMULAS, field, NOTATIONS, format_func=_NOTATIONS.__getitem__, width=180)


def _bind_notation() -> Field[Notation]:
    return bind_field(FORMULAS, options=NOTATIONS)


def _show_select(label: str, key: Key[T], field: Field[T], options: Sequence[T], **looks: Any) -> None:
    """A menu of the options, and of what was set that is none of them."""
    offered = [*options, *({field.value} - {None, *options})]
    place = offered.index(field.value) if field.value in offered else 0
    st.selectbox(label, offered, place, key=field.key, on_change=take_field, args=(key,), **looks)


def _name_model(name: str) -> str:
    return "Bundled: 6 layers, hidden size 384" if name == BUNDLED else name
