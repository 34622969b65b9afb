"""What went wrong, in words, and what can be done about it, as buttons beside them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import streamlit as st

from bertviz_core.checkpoint.model import Model
from bertviz_core.errors import BertvizError, BusyError, CheckpointError, InputError, LengthError
from bertviz_core.formula.texts import shorten
from bertviz_core.tracing.inputs import cut_to_fit
from bertviz_core.ui.frame import choices, site
from bertviz_core.ui.frame.controls import EXAMPLES, Asked
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.resources import BUNDLED, OWN, get_model, get_shelf, list_models

_AGAIN_S = 20
_LONGEST_NAME = 60  # letters of a page's name that are said


@dataclass(frozen=True)
class Remedy:
    """A button: what is on it, and what a press does. page: where it leads then, if not back to this one."""

    label: str
    act: Callable[[], None]
    page: str = ""


def show_refused(error: BertvizError, asked: Asked | None) -> None:
    """The error's own text and its remedies. asked: what could not be run; None where it was not even tried."""
    with st.container(key="refused", gap="small"):
        st.error(escape_markdown(str(error)), icon=":material/error:")
        with st.container(horizontal=True):
            for i, remedy in enumerate(list_remedies(error, asked)):
                kind = "secondary" if i else "primary"
                if st.button(remedy.label, type=kind, on_click=remedy.act) and remedy.page:
                    site.switch_to(remedy.page)
        if isinstance(error, BusyError):
            st.caption(f"This page tries again by itself, {_AGAIN_S} seconds after it was refused.")
            _try_again_later(time.monotonic())


def list_remedies(error: BertvizError, asked: Asked | None) -> list[Remedy]:
    """What helps against an error of its kind, the likeliest first."""
    if asked is None or isinstance(error, BusyError):
        return [Remedy("Try again", _do_nothing)]
    if isinstance(error, CheckpointError):
        return list(_mend_model(asked))
    return list(_mend_text(asked, error)) if isinstance(error, InputError) else []


def find_first_model() -> str:
    """The model to work with where the one that was asked for cannot be had."""
    names, _ = list_models()
    return BUNDLED if BUNDLED in names else names[0]


def _mend_model(asked: Asked) -> Iterator[Remedy]:
    if asked.model.startswith(OWN):
        yield Remedy("Open Training", partial(choices.choose_model, find_first_model()), "training")
    else:
        yield Remedy("Try again", partial(get_shelf().forget_failure, asked.model))
    other = find_first_model()
    if other != asked.model:
        name = "the bundled model" if other == BUNDLED else escape_markdown(other)
        yield Remedy(f"Use {name}", partial(choices.choose_model, other))


def _mend_text(asked: Asked, error: InputError) -> Iterator[Remedy]:
    if isinstance(error, LengthError):
        longest = get_model(asked.model).config.max_position_embeddings
        yield Remedy(f"Cut to {longest} tokens", partial(_cut, asked))
    if asked.pair:
        yield Remedy("Leave out the second sentence", partial(choices.use_sentence, asked.text))
    example = EXAMPLES[0]
    yield Remedy(escape_markdown(f"Read “{example.text}”"), partial(choices.use_sentence, example.text, example.pair))


def _cut(asked: Asked) -> None:
    text, pair = cut_to_fit(get_model(asked.model), asked.text, asked.pair)
    choices.use_sentence(text, pair or "")


def show_lost() -> None:
    """Where the URL names a page that there is not: that the first one is shown, and the page that may be meant."""
    name, meant = site.find_lost()
    if name:
        told = escape_markdown(shorten(name, _LONGEST_NAME))
        st.info(f"There is no page “{told}”. This is the first page; the menu lists all.", icon=":material/info:")
        if meant:
            site.show_link(meant, f"Open {meant.title}")


def show_mask_button(model: Model, asked: Asked, blank: str) -> None:
    """A press hides what was meant to be a blank: the first of these characters become the mask token."""
    mask = model.tokenizer.token(model.tokenizer.mask_id or 0)
    text, pair = asked.text.replace(blank, mask, 1), asked.pair or ""
    if text == asked.text:
        pair = pair.replace(blank, mask, 1)
    st.button(escape_markdown(f"Put {mask} in place of {blank}"), on_click=choices.use_sentence, args=(text, pair))


def _do_nothing() -> None:
    """The press itself asks for a run."""


@st.fragment(run_every=_AGAIN_S)
def _try_again_later(refused: float) -> None:
    if time.monotonic() - refused > _AGAIN_S / 2:  # not in the run that was refused
        st.rerun()
