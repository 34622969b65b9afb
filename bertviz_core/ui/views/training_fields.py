"""What a training is asked to do: every quantity of the document's algorithm is a field, and the URL holds them all."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from bertviz_core.checkpoint.model import Model
from bertviz_core.documents.definition import DEFINITION
from bertviz_core.errors import TrainingError
from bertviz_core.learning import Settings, make_small_model, suggest_settings
from bertviz_core.programs.training import TRAINED
from bertviz_core.ui.frame import state

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
_LONGEST = 4000  # characters of all sentences together


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
        passes=_read_whole("passes", "T"), eta=_read_real("eta", "η"), p_mask=_read_real("p_mask", "p_mask"),
        seed=_read_whole("seed", "seed"), practised=bool(state.read("practised")),
        program=str(state.read("program")),
    )  # fmt: skip
    return Asked(_read_sentences(), str(state.read("learner")), settings)


def _bind() -> None:
    state.bind("texts", "\n".join(SENTENCES), longest=_LONGEST)
    state.bind("passes", str(_USUAL.passes))
    state.bind("eta", f"{_USUAL.eta:g}")
    state.bind("p_mask", f"{_USUAL.p_mask:g}")
    state.bind("seed", str(_USUAL.seed))
    state.bind("learner", SMALL, LEARNERS)
    state.bind("practised", False)
    state.bind("program", TRAINED[0], TRAINED)


def _read_sentences() -> tuple[str, ...]:
    return tuple(line.strip() for line in str(state.read("texts")).splitlines() if line.strip())


def _read_whole(key: str, name: str) -> int:
    text = str(state.read(key)).strip()
    try:
        return int(text)
    except ValueError as error:
        raise TrainingError(f"{name} is a whole number; {text[:40]!r} is none. Write for example 20.") from error


def _read_real(key: str, name: str) -> float:
    text = str(state.read(key)).strip()
    try:
        return float(text)
    except ValueError as error:
        raise TrainingError(f"{name} is a number; {text[:40]!r} is none. Write for example 0.03.") from error


def show_fields(origin: Model, running: bool) -> None:
    """The fields. origin: the model that is copied; running: they only say what they hold.

    Another setting is another training. So no widget that holds a setting stands in the part of the page that is drawn
    again every second, where a run that is broken off would forget it.
    """
    with st.container(horizontal=True, key="training-fields"):
        count = len(_read_sentences())
        st.text_input("n", str(count), key=f"training-n-{count}", disabled=True, width=40)
        for key, label in (("passes", "T"), ("eta", "η"), ("p_mask", "p_mask"), ("seed", "seed")):
            st.text_input(label, key=_hold(key, running), max_chars=24, disabled=running, on_change=state.note_choice,
                          width=58)  # fmt: skip
    st.caption("T passes over n sentences; η: learning rate; p_mask: how likely a token is hidden; seed: of the draws.")
    st.text_area("Sentences, one a line", key=_hold("texts", running), height=92, max_chars=_LONGEST, disabled=running,
                 on_change=state.note_choice, label_visibility="collapsed")  # fmt: skip
    st.selectbox("What line 5 runs", TRAINED, key=_hold("program", running), format_func=_PROGRAMS.__getitem__,
                 disabled=running, on_change=state.note_choice, label_visibility="collapsed")  # fmt: skip
    st.selectbox("Which model learns", LEARNERS, key=_hold("learner", running), format_func=_LEARNERS.__getitem__,
                 disabled=running, on_change=_suggest, args=(origin,), label_visibility="collapsed")  # fmt: skip
    st.toggle("As practised: 80/10/10, AdamW, warm-up", key=_hold("practised", running), disabled=running,
              on_change=_suggest, args=(origin,))  # fmt: skip


def _suggest(origin: Model) -> None:
    """Another model, or another way to step, begins with the T and η that were tried with it."""
    learner, practised = str(state.read("learner")), bool(state.read("practised"))
    suggested = suggest(origin, learner, practised)
    state.write("passes", str(suggested.passes))
    state.write("eta", f"{suggested.eta:g}")
    state.note_choice()


def suggest(origin: Model, learner: str, practised: bool) -> Settings:
    """The settings to begin with. learner: which model learns, as the URL has it."""
    model = make_small_model(origin, SENTENCES) if learner == SMALL else origin
    return suggest_settings(model, head_alone=learner == HEADS, practised=practised)


def _hold(key: str, running: bool) -> str:
    """The key of a field; of one that only says what is set, another one that has the same value."""
    if not running:
        return key
    state.write(f"running-{key}", state.read(key))
    return f"running-{key}"
