"""The documents on screen: which are shown, how far each is from BERT on the sentence, and all their places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import streamlit as st

from bertviz_core.analysis.alignment import (
    LayerDistance,
    guess_words,
    measure_layers,
)
from bertviz_core.analysis.claims import Claim, Part, Relation, Said, choose, say
from bertviz_core.documents import Document, find_document, find_title
from bertviz_core.formula.notations import NOTATIONS, Notation
from bertviz_core.formula.steps import NORM, Program
from bertviz_core.programs import DOCUMENT_PROGRAMS, PROGRAMS
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame import site, state, url
from bertviz_core.ui.frame.keys import DOCUMENT, Key
from bertviz_core.ui.frame.resources import get_store
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.said import name_word, tell_nowhere, tell_number, tell_percent, tell_token
from bertviz_core.ui.panels.tables import Column, render_table

AS_WRITTEN = "as written"
STYLE = read_css(Path(__file__).with_name("documents.css"))
_OWN_NOTATION: dict[str, Notation] = {"definition": "column", "formula-post": "function"}
_COSINE = r"\cos(x, y) = \frac{x \cdot y}{\lVert x \rVert\, \lVert y \rVert}"
_SAME = 0.9999  # a cosine from which two runs agree
BESIDE = Key("beside", next(iter(PROGRAMS)))
NOTATION = Key("notation", AS_WRITTEN)


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
    def spoken(self) -> str:
        """A name in a sentence."""
        name = f"the {self.document.name}" if self.document else "BERT"
        return f"{name} with dropout" if self.name.endswith("dropout") else name

    @property
    def spoken_again(self) -> str:
        """The same, further on in the sentence."""
        return f"the {name_shortly(self.document)}" if self.document else "BERT"

    @property
    def title(self) -> str:
        return find_title(self.name)


def read_sides(view: View) -> tuple[Side, Side]:
    """What is compared with what, as the URL has it: BERT or a second document, then the document."""
    url.bind(DOCUMENT, DOCUMENT_PROGRAMS, next(iter(DOCUMENT_PROGRAMS)))
    url.bind(BESIDE, PROGRAMS)
    url.bind(NOTATION, (AS_WRITTEN, *NOTATIONS))
    notation = state.read(NOTATION)
    left, right = (_make_side(view, state.read(one), notation) for one in (BESIDE, DOCUMENT))
    return left, right


def write_headline(view: View) -> Said:
    """How far apart the two end at the chosen token, and which word each reads there."""
    left, right = read_sides(view)
    token = view.chosen.token
    cosine = measure_layers(left.trace, right.trace)[-1].cosines[token]
    apart = tell_number(cosine)
    parts, limit = {"cosine": apart, "word": tell_token(view.trace.tokens, token)}, {"limit": tell_nowhere(_SAME)}
    alone = left.name == right.name
    ask = f"Does {left.spoken} agree with itself" if alone else f"Do {left.spoken} and {right.spoken} agree"
    without = f", without {view.outcome.yours}" if view.outcome.changed else ""  # which no document's pass takes
    ask += f"{without}? "
    guesses = [(side, guess) for side in list_sides(left, right) for guess in guess_words(side.trace, token, 1)]
    told = [
        Claim(
            f"answer of the {name}",
            f"{start} {side.spoken_again} {{guess}} **{{share}}**",
            {"share": tell_percent(guess.probability), "guess": name_word(guess.token)},
        )
        for name, start, (side, guess) in zip(("left", "right"), (";", ","), guesses, strict=False)
    ]
    alike = len(guesses) == len({side.name for side, _ in guesses}) == 2 and guesses[0][1].id == guesses[1][1].id
    differ = ("two differ but for the word", "Only in the likeliest word") if alike else ("two differ", "No")
    return say(
        choose(
            Claim(
                "two agree",
                f"{ask}Yes: cosine **{{cosine}}** at {{word}}",
                {"cosine": apart, **limit, **parts},
                Relation.ABOVE,
            ),
            Claim(
                differ[0],
                f"{ask}{differ[1]}: cosine **{{cosine}}** at {{word}}",
                {**limit, **parts},
                Relation.ABOVE,
            ),
            _tell_unknown(ask, parts)
            if np.isnan(cosine)
            else Claim("two compared", f"{ask}Cosine **{{cosine}}** at {{word}}", parts),
        ),
        *told,
    )


def _tell_unknown(ask: str, parts: Mapping[str, Part]) -> Claim:
    """That a vector has no direction after the last layer, so that there is nothing to compare."""
    form = f"{ask}A vector of {{word}} has length 0 after the last layer, and so no cosine"
    return Claim("two without a cosine", form, {"word": parts["word"]})


def name_shortly(document: Document) -> str:
    """The last word of its name."""
    return document.name.rpartition(" ")[2]


def list_sides(left: Side, right: Side) -> tuple[Side, ...]:
    """The two, or the one that stands beside itself."""
    return (left,) if left.name == right.name else (left, right)


def show_menus() -> None:
    """Which two are compared: a row of the list chooses the document as well."""
    with st.container(horizontal=True, vertical_alignment="center", key="document-sides"):
        sides = ((DOCUMENT, "Document", "", DOCUMENT_PROGRAMS), (BESIDE, "Against", "against ", PROGRAMS))
        for key, label, before, options in sides:
            st.selectbox(
                label,
                list(options),
                key=key.name,
                width=225,
                label_visibility="collapsed",
                format_func=lambda name, before=before: before + find_title(name),
                on_change=url.note_choice,
            )


def _make_side(view: View, name: str, notation: str) -> Side:
    known: dict[str, Notation] = {one: one for one in NOTATIONS}
    asked = known.get(notation, _OWN_NOTATION.get(name, "row"))
    return Side(name, view.run_as(name, get_store()), asked)


def show_layers(view: View, left: Side, right: Side) -> None:
    """How far apart the runs are after every layer, as a table."""
    found, _ = _measure(view, left, right)
    heading = Heading(
        "Distance after each layer", "1: same direction; 0: orthogonal; none: a vector of length 0", _COSINE
    )
    with open_card(view, NORM, heading, f"{_name_all(view)}, from the same weights and sentence"):
        columns = _list_columns(found, view.chosen.token)
        st.html(render_table("after layer", list_stages(view), columns, [view.chosen.layer]))


def _measure(view: View, left: Side, right: Side) -> tuple[dict[str, tuple[LayerDistance, ...]], dict[str, str]]:
    """How far each shown document is from BERT, and two from each other, by short name; and their titles."""
    shown = _list_documents(left, right)
    names = {side.short: side.title for side in shown}
    found = {side.short: measure_layers(view.trace, side.trace) for side in shown}
    if len(shown) > 1:
        both = " and ".join(found)
        names[both] = f"{both} with each other"
        found[both] = measure_layers(left.trace, right.trace)
    return found, names


def list_stages(view: View) -> list[str]:
    """The layers, as a table calls them."""
    return [f"L{i}" for i in range(view.trace.model.config.num_hidden_layers)]


def _list_columns(found: dict[str, tuple[LayerDistance, ...]], token: int) -> list[Column]:
    return [
        column
        for name, layers in found.items()
        for column in (
            Column(f"{name}: cosine", [_leave_unknown(one.cosines[token]) for one in layers]),
            Column(f"{name}: lowest of all tokens", [_leave_unknown(one.lowest) for one in layers]),
            Column(f"{name}: largest difference", [one.largest for one in layers]),
        )
    ]


def _leave_unknown(cosine: float) -> float | None:
    """A cosine for a table; None where there is none."""
    return None if np.isnan(cosine) else float(cosine)


def _list_documents(left: Side, right: Side) -> list[Side]:
    """The documents that are shown, each once."""
    return [right] if left.document is None or left.name == right.name else [right, left]


def _name_all(view: View) -> str:
    """The tokens that count."""
    return "all tokens" if all(view.trace.encoding.mask) else "all tokens but padding"


def show_places(document: Document) -> None:
    """What a document prints at each place and what that is, under a link to the page that shows it."""
    for info in site.PAGES:
        places = [place for place in document.places if place.page == info.name]
        if places:
            site.show_link(info, icon=info.icon)
            st.markdown(
                "\n".join(
                    f"- {place.place} &ensp; {place.what}{f' ({place.remark})' if place.remark else ''}"
                    for place in places
                )
            )


def show_others(document: Document) -> None:
    """What no step computes, and where the app has it."""
    st.caption("No step computes these: sizes, sets, settings, and pictures by what they show.")
    st.markdown(
        "\n".join(
            f"- {other.place} &ensp; {other.what} :gray[{site.get_page(other.page).title}]" for other in document.others
        )
    )


def list_shown(left: Side, right: Side) -> list[Document]:
    """The documents that are compared, each once."""
    return list(dict.fromkeys(side.document for side in _list_documents(left, right) if side.document))
