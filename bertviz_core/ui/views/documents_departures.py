"""What each departure of a document does alone: BERT with it and nothing else, worked out unasked."""

from __future__ import annotations

from functools import partial

import streamlit as st

from bertviz_core.analysis.alignment import pair_steps
from bertviz_core.analysis.departures import Departed, run_departures
from bertviz_core.analysis.predictions import PROBS
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.formula.numbers import format_percent, write_fixed
from bertviz_core.formula.steps import NORM
from bertviz_core.programs.departures import DEPARTURES, OF_DOCUMENTS, Departure
from bertviz_core.sharing.findings import Found
from bertviz_core.ui.frame.findings import Wanted, show_finding, tell_progress
from bertviz_core.ui.frame.labels import escape_markdown, quote
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import open_card
from bertviz_core.ui.views.documents import Side
from bertviz_core.ui.views.documents_differences import typeset

_HEAD = "| step | BERT as released | {name} | cosine, this alone | answer, this alone |\n|---|---|---|---|---|"
_UNKNOWN = "…"


def show_departures(view: View, side: Side) -> None:
    """A row for each departure of a document from BERT: both formulas, and BERT's pass with this one alone."""
    names = OF_DOCUMENTS.get(side.name)
    if names is None:
        return
    title = "Each departure alone"
    with open_card(view, NORM, title, f"BERT's pass with one step as in the {side.title}", name="departures"):
        if not names:
            st.markdown("None: it writes BERT's own pass, up to the words.")
            return
        token = view.chosen.token
        wanted = Wanted(("departures", names, token), view.trace, partial(run_departures, view.trace, token, names))
        show_finding("departures", wanted, partial(_draw, view, side, [DEPARTURES[name] for name in names]))


def _draw(view: View, side: Side, departures: list[Departure], found: Found[tuple[Departed, ...]]) -> None:
    known = {one.name: one for one in found.value or ()}
    best = _name_answer(view)
    rows = "\n".join(_write_row(view, side, each, known.get(each.name), best) for each in departures)
    with st.container(key="differ-departures"):
        st.markdown(f"{_HEAD.format(name=escape_markdown(side.title))}\n{rows}")
    word = quote(view.trace.tokens[view.chosen.token])
    st.caption(
        tell_progress(found, "the passes run")
        or f"Cosine: of the vector of {word} after the last layer with BERT’s. {len(departures)} passes, each BERT’s "
        "but for one step; all together they make the document’s own."
    )


def _name_answer(view: View) -> str:
    """BERT's own answer at the chosen token; "" without a language model head."""
    if PROBS not in view.trace:
        return ""
    best = rank_top(view.trace.recomputed(PROBS.fix(token=view.chosen.token)), 1)[0]
    return view.trace.model.tokenizer.name(best)


def _write_row(view: View, side: Side, departure: Departure, one: Departed | None, best: str) -> str:
    pair = pair_steps(departure.address, view.trace.program, side.program)
    cells = (
        f"**{departure.title}** {departure.what}",
        typeset(view, "row", pair.left), typeset(view, side.notation, pair.right),
        _UNKNOWN if one is None else f"**{write_fixed(one.cosine, 2)}**",
        _write_answer(one, best),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _write_answer(one: Departed | None, best: str) -> str:
    """What is answered, and what is left of BERT's own answer."""
    if one is None:
        return _UNKNOWN
    if not one.word:
        return "no words here"
    answer = f"{quote(one.word)} **{format_percent(one.probability)}**"
    own = "" if one.word == best else f"; {quote(best)} {format_percent(one.answer)}"
    return f"{answer}{own}".replace("|", "\\|")
