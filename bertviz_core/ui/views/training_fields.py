"""What a training is asked to do: every quantity of the document's algorithm is a field, and the URL holds them all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from bertviz_core.checkpoint.model import Model
from bertviz_core.documents.definition import DEFINITION
from bertviz_core.errors import TrainingError
from bertviz_core.learning import Settings, make_small_model, suggest_settings
from bertviz_core.programs.training import TRAINED
from bertviz_core.ui.frame import state, url
from bertviz_core.ui.frame.keys import Key

SENTENCES = ("When in Rome, do as the Romans do.", "The early bird catches the worm.", "All roads lead to Rome.")
SMALL, COPY, HEADS = LEARNERS = "small", "copy", "heads"  # as the URL has them
_LEARNERS = {
    SMALL: "A small model, made on the spot",
    COPY: "A copy of this model: all its weights",
    HEADS: "A copy of this model: its LM head alone",
}
_PROGRAMS = {
    DEFINITION.program: "Line 5: E-Transformer, as the definition has it",
    "bert": "Line 5: BERT as released",
}
_USUAL = Settings()
_TEXTS = Key("texts", "\n".join(SENTENCES), longest=4000)
_RUNNING: Key[Any] = Key("running", None)  # what a field says that is not to be changed now
_PASSES = Key("passes", str(_USUAL.passes))
_ETA = Key("eta", f"{_USUAL.eta:g}")
_P_MASK = Key("p_mask", f"{_USUAL.p_mask:g}")
_SEED = Key("seed", str(_USUAL.seed))
_LEARNER = Key("learner", SMALL)
_PRACTISED = Key("practised", False)
_PROGRAM = Key("program", TRAINED[0])


@dataclass(frozen=True)
class Asked:
    """A training as the fields ask for it. learner: which model learns; settings: the document's hyperparameters."""

    sentences: tuple[str, ...]
    learner: str
    settings: Settings


def read_asked() -> Asked:
    """What the fields, or the URL, ask for. Raises TrainingError for what is no number."""
    _bind()
    settings = Settings(
        passes=_read_whole(_PASSES, "T"),
        eta=_read_real(_ETA, "η"),
        p_mask=_read_real(_P_MASK, "p_mask"),
        seed=_read_whole(_SEED, "seed"),
        practised=state.read(_PRACTISED),
        program=state.read(_PROGRAM),
    )
    return Asked(_read_sentences(), state.read(_LEARNER), settings)


def _bind() -> None:
    url.bind(_TEXTS)
    url.bind(_PASSES)
    url.bind(_ETA)
    url.bind(_P_MASK)
    url.bind(_SEED)
    url.bind(_LEARNER, LEARNERS)
    url.bind(_PRACTISED)
    url.bind(_PROGRAM, TRAINED)


def _read_sentences() -> tuple[str, ...]:
    return tuple(line.strip() for line in state.read(_TEXTS).splitlines() if line.strip())


def _read_whole(key: Key[str], name: str) -> int:
    text = state.read(key).strip()
    try:
        return int(text)
    except ValueError as error:
        raise TrainingError(f"{name} is a whole number; {text[:40]!r} is none. Write for example 20.") from error


def _read_real(key: Key[str], name: str) -> float:
    text = state.read(key).strip()
    try:
        return float(text)
    except ValueError as error:
        raise TrainingError(f"{name} is a number; {text[:40]!r} is none. Write for example 0.03.") from error


def show_numbers(running: bool) -> None:
    """The quantities of the document's algorithm. running: they only say what they hold.

    Another setting is another training. So no widget that holds a setting stands in the part of the page that is drawn
    again every second, where a run that is broken off would forget it.
    """
    with st.container(horizontal=True, key="training-fields"):
        count = len(_read_sentences())
        st.text_input("n", str(count), key=f"training-n-{count}", disabled=True, width=36)
        for key, label in ((_PASSES, "T"), (_ETA, "η"), (_P_MASK, "pₘₐₛₖ"), (_SEED, "seed")):
            st.text_input(
                label, key=_hold(key, running), max_chars=24, disabled=running, on_change=url.note_choice, width=54
            )


def show_choices(origin: Model, running: bool) -> None:
    """What is learned from, and what learns. origin: the model that is copied; running: as for the numbers."""
    st.text_area(
        "Sentences, one a line",
        key=_hold(_TEXTS, running),
        height=92,
        max_chars=_TEXTS.longest,
        disabled=running,
        on_change=url.note_choice,
        label_visibility="collapsed",
    )
    st.selectbox(
        "What line 5 runs",
        TRAINED,
        key=_hold(_PROGRAM, running),
        format_func=_PROGRAMS.__getitem__,
        disabled=running,
        on_change=url.note_choice,
        label_visibility="collapsed",
    )
    _show_learner(origin, running)
    st.caption("T passes over n sentences; η: learning rate; pₘₐₛₖ: how likely a token is hidden; seed: of the draws.")


def _show_learner(origin: Model, running: bool) -> None:
    """What learns, and how it steps: a choice of either suggests other numbers."""
    st.selectbox(
        "Which model learns",
        LEARNERS,
        key=_hold(_LEARNER, running),
        format_func=_LEARNERS.__getitem__,
        disabled=running,
        on_change=_suggest,
        args=(origin,),
        label_visibility="collapsed",
    )
    st.toggle(
        "As practised: 80/10/10, AdamW, warm-up",
        key=_hold(_PRACTISED, running),
        disabled=running,
        on_change=_suggest,
        args=(origin,),
    )


def _suggest(origin: Model) -> None:
    """Another model, or another way to step, begins with the T and η that were tried with it."""
    learner, practised = state.read(_LEARNER), state.read(_PRACTISED)
    suggested = suggest(origin, learner, practised)
    state.write(_PASSES, str(suggested.passes))
    state.write(_ETA, f"{suggested.eta:g}")
    url.note_choice()


def suggest(origin: Model, learner: str, practised: bool) -> Settings:
    """The settings to begin with. learner: which model learns, as the URL has it."""
    model = make_small_model(origin, SENTENCES) if learner == SMALL else origin
    return suggest_settings(model, head_alone=learner == HEADS, practised=practised)


def _hold(key: Key[Any], running: bool) -> str:
    """The name of a field; of one that only says what is set, another one that has the same value."""
    if not running:
        return key.name
    shown = _RUNNING.of(key.name)
    state.write(shown, state.read(key))
    return shown.name
