"""The five documents on screen: which are shown, how far each is from BERT on the sentence, and all their places."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape

import numpy as np
import streamlit as st

from bertviz_core.analysis.alignment import (
    LayerDistance,
    find_layer_outputs,
    guess_words,
    has_own_scores,
    measure_layers,
)
from bertviz_core.documents import Document, find_document, find_title
from bertviz_core.figures.stages import draw_by_stage
from bertviz_core.formula.address import Address
from bertviz_core.formula.notations import NOTATIONS, Notation
from bertviz_core.formula.numbers import format_number
from bertviz_core.formula.steps import NORM, PREDICTION, Program
from bertviz_core.programs import DOCUMENT_PROGRAMS, PROGRAMS
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import site, state, style
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.resources import get_store
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.derived import Origin, Values, show_derived
from bertviz_core.ui.panels.panel import open_card
from bertviz_core.ui.panels.tables import Column, render_table
from bertviz_core.ui.panels.worked import write_cosine

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
        return find_document(self.name)

    @property
    def short(self) -> str:
        """A name for a table's head."""
        return f"{self.document.number if self.document else 'BERT'}{'+' if self.name.endswith('dropout') else ''}"

    @property
    def title(self) -> str:
        return find_title(self.name)


def choose_sides(view: View) -> tuple[Side, Side]:
    """What is compared with what: BERT or a second document, then the document."""
    state.bind("document", next(iter(DOCUMENT_PROGRAMS)), DOCUMENT_PROGRAMS)
    state.bind("beside", next(iter(PROGRAMS)), PROGRAMS)
    state.bind("notation", AS_WRITTEN, (AS_WRITTEN, *NOTATIONS))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Document", list(DOCUMENT_PROGRAMS), key="document", width=250)
        beside = st.selectbox("Compared with", list(PROGRAMS), key="beside", width=250)
        notation = st.segmented_control("Formulas", (AS_WRITTEN, *NOTATIONS), required=True,
                                        key="notation", wrap=True)  # fmt: skip
    left, right = (_make_side(view, one, str(notation)) for one in (beside or "bert", name or "forward-pass-note"))
    for side in _list_documents(left, right):
        if side.document:
            st.markdown(f"**{side.title}**: {side.document.what} {side.document.differs}")
    return left, right


def _make_side(view: View, name: str, notation: str) -> Side:
    known: dict[str, Notation] = {one: one for one in NOTATIONS}
    asked = known.get(notation, _OWN_NOTATION.get(name, "row"))
    return Side(name, view.run_as(name, get_store()), asked)


def show_distances(view: View, left: Side, right: Side) -> None:
    """How far from BERT each shown document is after every layer."""
    shown = _list_documents(left, right)
    names = {side.short: side.title for side in shown}
    found = {side.short: measure_layers(view.trace, side.trace) for side in shown}
    if len(shown) > 1:
        both = " and ".join(found)
        names[both] = f"{both} with each other"
        found[both] = measure_layers(left.trace, right.trace)
    token, layer = view.chosen.token, view.chosen.layer
    series = {names[key]: np.array([one.cosines[token] for one in layers]) for key, layers in found.items()}
    stages = [f"L{i}" for i in range(view.trace.model.config.num_hidden_layers)]
    columns = _list_columns(found, token)
    word = f"“{view.trace.tokens[token]}”"
    x, y = (trace[find_layer_outputs(trace.program)[layer].fix(token=token)] for trace in (view.trace, right.trace))
    show_derived(
        view, "document-cosines", f"Cosine with BERT's vector of {word}, after each layer",
        draw_by_stage(series, stages, view.colors, view.colors.kinds[NORM], name="cosine",
                      ends=(min(0.0, *(float(line.min()) for line in series.values())), 1.0)),
        Origin(f"{Address.in_layer(layer, 'output')} and every other layer's output, in each forward pass", NORM,
               r"\cos(x, y) = \frac{x \cdot y}{\lVert x \rVert\, \lVert y \rVert}",
               "x is BERT's vector after the layer, y the document's, from the same weights and the same sentence. "
               "1: same direction. 0: orthogonal.",
               write_cosine(x, y, rf"x^{{({layer})}}_{{{token}}}, y^{{({layer})}}_{{{token}}}")),
        values=Values(np.array([column.values for column in columns], dtype=np.float64).T, stages,
                      [column.name for column in columns]),
        note=_describe(found, names, word, token), table=render_table("after layer", stages, columns, [layer]),
    )  # fmt: skip


def _list_columns(found: dict[str, tuple[LayerDistance, ...]], token: int) -> list[Column]:
    return [
        column
        for name, layers in found.items()
        for column in (
            Column(f"{name}: cosine", [float(one.cosines[token]) for one in layers]),
            Column(f"{name}: lowest of all tokens", [float(one.cosines.min()) for one in layers]),
            Column(f"{name}: largest difference", [one.largest for one in layers]),
        )
    ]


def _list_documents(left: Side, right: Side) -> list[Side]:
    """The documents that are shown, each once."""
    return [right] if left.document is None or left.name == right.name else [right, left]


def _describe(found: dict[str, tuple[LayerDistance, ...]], names: dict[str, str], word: str, token: int) -> str:
    told = [
        f"{names[key]}: cosine {format_number(float(layers[-1].cosines[token]))} for {word} after the last layer; the "
        f"largest difference of any number there is {format_number(layers[-1].largest)}."
        for key, layers in found.items()
    ]
    return escape_markdown(" ".join(told))


def show_answers(view: View, left: Side, right: Side) -> None:
    """The most probable words at the chosen token, after each program."""
    token = view.chosen.token
    bert = Side("bert", view.trace, "row")
    with open_card(view, PREDICTION, f"Top predictions at position {token}", f"the top {_GUESSES} vocabulary entries"):
        if not guess_words(view.trace, token, 1):
            st.caption("This checkpoint has no LM head, so there are no predictions to compare.")
            return
        shown = _list_documents(left, right)
        for place, side in zip(st.columns(len(shown) + 1), (bert, *shown), strict=True):
            with place:
                best = [(guess.token, guess.probability) for guess in guess_words(side.trace, token, _GUESSES)]
                st.html(f"<b>{escape(side.title)}</b>{style.render_answer(best, view.colors.kinds[PREDICTION])}")
                if not has_own_scores(side.trace):
                    st.caption("It ends before the LM head: BERT's LM head reads its last layer.")


def show_places(left: Side, right: Side) -> None:
    """Every place of each document that is shown."""
    for document in dict.fromkeys(side.document for side in _list_documents(left, right)):
        if document:
            _show_document(document)


def _show_document(document: Document) -> None:
    """What a document prints at each place, what that is, and the page that shows it."""
    titles = {info.name: info.title for info in site.PAGES}
    with st.expander(f"Every place in the {document.name}, with the page that shows it"):
        st.markdown("\n".join(
            f"- {place.place} &ensp; {place.what}{f' ({place.remark})' if place.remark else ''}: :gray[page "
            f"{titles[place.page]}]"
            for place in document.places
        ))  # fmt: skip
