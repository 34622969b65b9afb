"""The five documents on screen: which are shown, how far each is from BERT on the sentence, and all their places."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape

import numpy as np
import streamlit as st

from bertviz_core.analysis.alignment import (
    LayerDistance,
    guesses,
    has_own_scores,
    layer_distances,
    layer_outputs,
)
from bertviz_core.documents import Document, document_of, title_of
from bertviz_core.figures.stages import by_stage
from bertviz_core.formula.address import layer_path
from bertviz_core.formula.notations import NOTATIONS, Notation
from bertviz_core.formula.numbers import text_number
from bertviz_core.formula.steps import NORM, PREDICTION, Program
from bertviz_core.programs import DOCUMENT_PROGRAMS, PROGRAMS
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import site, style
from bertviz_core.ui.frame.labels import literal
from bertviz_core.ui.frame.resources import store
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.derived import Origin, Values, derived
from bertviz_core.ui.panels.panel import card
from bertviz_core.ui.panels.tables import Column, table
from bertviz_core.ui.panels.worked import worked_cosine

AS_WRITTEN = "as written"
_OWN_NOTATION: dict[str, Notation] = {"definition": "column", "formula-post": "function"}
_GUESSES = 5


@dataclass(frozen=True)
class Side:
    """One program beside another: its name, its run on the sentence, and the notation of its formulas."""

    name: str
    trace: Trace
    notation: Notation

    @property
    def program(self) -> Program:
        return self.trace.program

    @cached_property
    def document(self) -> Document | None:
        """The document that it is written after; None for BERT as released."""
        return document_of(self.name)

    @property
    def short(self) -> str:
        """A name for a table's head."""
        return f"{self.document.number if self.document else 'BERT'}{'+' if self.name.endswith('dropout') else ''}"

    @property
    def title(self) -> str:
        return title_of(self.name)


def choose(view: View) -> tuple[Side, Side]:
    """What is compared with what: BERT or a second document, then the document."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Document", list(DOCUMENT_PROGRAMS), key="document", bind="query-params", width=250)
        beside = st.selectbox("Beside", list(PROGRAMS), key="beside", bind="query-params", width=250)
        notation = st.segmented_control("Formulas", (AS_WRITTEN, *NOTATIONS), default=AS_WRITTEN, required=True,
                                        key="notation", bind="query-params", wrap=True)  # fmt: skip
    left, right = (_side(view, one, str(notation)) for one in (beside or "bert", name or "forward-pass-note"))
    for side in _documents(left, right):
        if side.document:
            st.markdown(f"**{side.title}**: {side.document.what} {side.document.differs}")
    return left, right


def _side(view: View, name: str, notation: str) -> Side:
    known: dict[str, Notation] = {one: one for one in NOTATIONS}
    asked = known.get(notation, _OWN_NOTATION.get(name, "row"))
    return Side(name, view.run_as(name, store()), asked)


def distances(view: View, left: Side, right: Side) -> None:
    """How far from BERT each shown document is after every layer."""
    shown = _documents(left, right)
    names = {side.short: side.title for side in shown}
    found = {side.short: layer_distances(view.trace, side.trace) for side in shown}
    if len(shown) > 1:
        both = " and ".join(found)
        names[both] = f"{both} with each other"
        found[both] = layer_distances(left.trace, right.trace)
    token, layer = view.chosen.token, view.chosen.layer
    series = {names[key]: np.array([one.cosines[token] for one in layers]) for key, layers in found.items()}
    stages = [f"L{i}" for i in range(view.trace.model.config.num_hidden_layers)]
    columns = _columns(found, token)
    word = f"“{view.trace.tokens[token]}”"
    x, y = (trace[f"{layer_outputs(trace.program)[layer]}[token={token}]"] for trace in (view.trace, right.trace))
    derived(
        view, "document-cosines", f"How near to BERT's the vector of {word} is after each layer",
        by_stage(series, stages, view.colors, view.colors.kinds[NORM], name="cosine",
                 ends=(min(0.0, *(float(line.min()) for line in series.values())), 1.0)),
        Origin(f"{layer_path(layer, 'output')} and every other layer's last tensor, in each run", NORM,
               r"\cos(x, y) = \frac{x \cdot y}{\lVert x \rVert\, \lVert y \rVert}",
               "x is BERT's vector after the layer, y the document's, from the same weights and the same sentence. 1: "
               "they point the same way. 0: nothing in common.",
               worked_cosine(x, y, rf"x^{{({layer})}}_{{{token}}}, y^{{({layer})}}_{{{token}}}")),
        values=Values(np.array([column.values for column in columns], dtype=np.float64).T, stages,
                      [column.name for column in columns]),
        note=_reading(found, names, word, token), table=table("after", stages, columns, [layer]),
    )  # fmt: skip


def _columns(found: dict[str, tuple[LayerDistance, ...]], token: int) -> list[Column]:
    return [
        column
        for name, layers in found.items()
        for column in (
            Column(f"{name}: cosine", [float(one.cosines[token]) for one in layers]),
            Column(f"{name}: lowest of all tokens", [float(one.cosines.min()) for one in layers]),
            Column(f"{name}: largest difference", [one.largest for one in layers]),
        )
    ]


def _documents(left: Side, right: Side) -> list[Side]:
    """The documents that are shown, each once."""
    return [right] if left.document is None or left.name == right.name else [right, left]


def _reading(found: dict[str, tuple[LayerDistance, ...]], names: dict[str, str], word: str, token: int) -> str:
    told = [
        f"{names[key]}: {text_number(float(layers[-1].cosines[token]))} for {word} after the last layer, where no "
        f"number of any token differs by more than {text_number(layers[-1].largest)}."
        for key, layers in found.items()
    ]
    return literal(" ".join(told))


def answers(view: View, left: Side, right: Side) -> None:
    """The most probable words at the chosen token, after each program."""
    token = view.chosen.token
    bert = Side("bert", view.trace, "row")
    with card(view, PREDICTION, f"What each would say at position {token}", f"the {_GUESSES} most probable words"):
        if not guesses(view.trace, token, 1):
            st.caption("This checkpoint has no masked language model head, so there are no words to compare.")
            return
        shown = _documents(left, right)
        for place, side in zip(st.columns(len(shown) + 1), (bert, *shown), strict=True):
            with place:
                best = [(guess.token, guess.probability) for guess in guesses(side.trace, token, _GUESSES)]
                st.html(f"<b>{escape(side.title)}</b>{style.answer_html(best, view.colors.kinds[PREDICTION])}")
                if not has_own_scores(side.trace):
                    st.caption("It ends before a vocabulary: BERT's own head reads its last layer.")


def places(left: Side, right: Side) -> None:
    """Every place of each document that is shown."""
    for document in dict.fromkeys(side.document for side in _documents(left, right)):
        if document:
            _places(document)


def _places(document: Document) -> None:
    """What a document prints at each place, what that is, and the page that shows it."""
    titles = {info.name: info.title for info in site.PAGES}
    with st.expander(f"Every place of the {document.name}, and the page that shows it"):
        st.markdown("\n".join(
            f"- {place.place} &ensp; {place.what}{f' ({place.remark})' if place.remark else ''}: :gray[page "
            f"{titles[place.page]}]"
            for place in document.places
        ))  # fmt: skip
