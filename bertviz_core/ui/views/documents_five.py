"""The documents in a line each, and how far from BERT each is after every layer; worked out unasked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from html import escape
from pathlib import Path

import numpy as np
import streamlit as st

from bertviz_core.analysis.document_runs import DocumentRun, read_document, run_documents
from bertviz_core.documents import DOCUMENTS, Document
from bertviz_core.figures.stages import draw_runs
from bertviz_core.formula.numbers import format_percent, write_fixed
from bertviz_core.formula.steps import NORM
from bertviz_core.formula.texts import name_token
from bertviz_core.sharing.findings import Found
from bertviz_core.tracing.trace import run
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame.chart import show_chart
from bertviz_core.ui.frame.findings import Wanted, show_finding, tell_progress
from bertviz_core.ui.frame.keys import DOCUMENT
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import table_html
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.derived import Values, show_values
from bertviz_core.ui.views.documents import STYLE, Side, list_stages, name_shortly
from bertviz_core.ui.views.documents_told import find_cosine

_LOW = -0.2  # where the scale of cosines begins; the bar of a lower one ends there
_STYLE = read_css(Path(__file__).with_name("documents_five.css"))
_EACH = "of every layer's output, in BERT's pass and the document's"


def show_five(view: View, chosen: Side) -> None:
    """Each document in a line, and its cosine with BERT layer by layer. chosen: the one that stands out."""
    token = view.chosen.token
    trace = view.trace
    # Not from the store: a page that waits there for a pass must not wait for one that waits for the page.
    own_run = partial(
        run, trace.model, view.text, view.pair, pad_to=len(trace.tokens), masked=view.masked, cache=trace.cache
    )
    wanted = Wanted(
        ("documents", token), trace, partial(run_documents, trace, token, lambda program: own_run(program=program))
    )
    own = {chosen.name: read_document(view.trace, chosen.trace, token)} if chosen.document else {}
    show_finding("documents", wanted, partial(_draw, view, chosen, own))


def _draw(view: View, chosen: Side, own: Mapping[str, DocumentRun], found: Found[tuple[DocumentRun, ...]]) -> None:
    runs = {**own, **{one.program: one for one in found.value or ()}}
    five, curve = st.columns([70, 30], gap="small")
    with five:
        _show_table(view, chosen, runs, tell_progress(found, "the documents run"))
    with curve:
        _show_curves(view, chosen, runs)


def _show_table(view: View, chosen: Side, runs: Mapping[str, DocumentRun], progress: str) -> None:
    token = name_token(view.trace.tokens, view.chosen.token)
    heading = Heading(
        "The documents, each run as written",
        f"the vector of {token} against BERT’s; the answer",
        write_cosine(view),
        progress or "x BERT, y the document, last layer",
    )
    with open_card(view, NORM, heading, "the last layer's output, in BERT's pass and the document's", name="five"):
        st.html(_STYLE + STYLE)
        heads = table_html.write_heads(
            ("document", "what it is", f"cosine <small>{write_fixed(_LOW, 1)} to 1</small>", "its answer")
        )
        rows = [_render_row(view, each, runs.get(each.program), each.program == chosen.name) for each in DOCUMENTS]
        table = table_html.write_table(heads, rows)
        st.html(table_html.write_region("The documents", table, "bv-five", picture=True))


def _render_row(view: View, document: Document, run: DocumentRun | None, marked: bool) -> str:
    pressed = str(marked).lower()
    name = (
        f'<button data-choose="{DOCUMENT.name}={document.program}" aria-pressed="{pressed}">'
        f"<small>{document.number}</small>{escape(document.name[:1].upper() + document.name[1:])}</button>"
    )
    cells = (escape(document.form), _render_own(view, document, run), _render_answer(run))
    return table_html.write_row(name, table_html.write_cells(cells), "bv-picked" if marked else "")


def _render_own(view: View, document: Document, run: DocumentRun | None) -> str:
    """A document's number after the last layer, which the drawer works out."""
    if run is None:
        return "…"
    return render_cosine(run.cosines[-1], str(find_cosine(document, view.chosen.token)))


def render_cosine(cosine: float, cell: str = "") -> str:
    """A cosine with a bar from 0, on the scale of all cosines of this page; none of a vector of length 0.

    cell: what a click explains.
    """
    zero, known = -_LOW / (1 - _LOW), not np.isnan(cosine)
    part = min(max(cosine, _LOW), 1.0) / (1 - _LOW) if known else 0.0
    bar = f'<b style="left:{zero + min(part, 0.0):.1%};width:{abs(part):.1%}"{" class=bv-minus" * (cosine < 0)}></b>'
    text = write_fixed(cosine, 2) if known else "none"
    number = f'<button data-cell="{cell}" title="Work it out">{text}</button>' if cell else f"<span>{text}</span>"
    return f'<div class="bv-cosine">{number}<i>{bar}<u style="left:{zero:.1%}"></u></i></div>'


def _render_answer(run: DocumentRun | None) -> str:
    if run is None or not run.word:
        return "…" if run is None else "no words here"
    return f"“{escape(run.word)}” <small>{format_percent(run.probability)}</small>"


def _show_curves(view: View, chosen: Side, runs: Mapping[str, DocumentRun]) -> None:
    stages = list_stages(view)
    lines = {name_shortly(each): np.array(runs[each.program].cosines) for each in DOCUMENTS if each.program in runs}
    main = name_shortly(chosen.document) if chosen.document else ""
    heading = Heading("Layer by layer", "the same cosine after every layer", _write_layer_cosine(view), "one pass each")
    with open_card(view, NORM, heading, _EACH, name="document-curves") as tools:
        with tools:
            values = np.stack(list(lines.values()), axis=1) if lines else np.zeros((len(stages), 0))
            show_values("document-cosines", Values(values, stages, list(lines)))
        chart = draw_runs(lines, [str(i) for i in range(len(stages))], main, view.colors, view.colors.kinds[NORM])
        show_chart(chart, "document-cosines", "Cosine of each document's vector with BERT's, after each layer")


def write_cosine(view: View) -> str:
    """The formula of the cosine at the chosen token, as LaTeX."""
    x, y = _write_vectors(view, "")
    return rf"\cos({x}, {y}) = {x} \cdot {y} / (\lvert {x} \rvert \, \lvert {y} \rvert)"


def _write_layer_cosine(view: View) -> str:
    x, y = _write_vectors(view, "^{(l)}")
    return rf"\cos({x}, {y})"


def _write_vectors(view: View, layer: str) -> list[str]:
    """The chosen token's vector in BERT's pass and in the document's."""
    return [rf"\textcolor{{{view.colors.kinds[NORM]}}}{{{name}{layer}}}_{{{view.chosen.token}}}" for name in "xy"]
