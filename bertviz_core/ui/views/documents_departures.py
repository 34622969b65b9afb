"""What each departure of a document does alone: BERT with it and nothing else, worked out unasked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from html import escape
from pathlib import Path

import streamlit as st

from bertviz_core.analysis.alignment import Pair, pair_steps
from bertviz_core.analysis.departures import Departed, run_departures
from bertviz_core.analysis.predictions import PROBS
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.formula.functions import Apply
from bertviz_core.formula.markup import write_html
from bertviz_core.formula.nodes import Symbol
from bertviz_core.formula.notations import Notation
from bertviz_core.formula.numbers import format_percent
from bertviz_core.formula.steps import NORM, Step, walk_nodes
from bertviz_core.programs import PADS_FIRST
from bertviz_core.programs.departures import ALWAYS_GELU, DEPARTURES, OF_DOCUMENTS, Departure
from bertviz_core.sharing.findings import Found
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame import style
from bertviz_core.ui.frame.findings import Wanted, show_finding, tell_progress
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import table_html
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.views.documents import Side, name_shortly
from bertviz_core.ui.views.documents_five import render_cosine, write_cosine

_STYLE = read_css(Path(__file__).with_name("documents_departures.css"))
_UNKNOWN = "…"
_NORMALIZED = "embeddings.LayerNorm"  # what the first layer reads
_PLAIN = {"embeddings.sum", "encoder.input"}  # what it reads where the embedding has no LayerNorm


def show_departures(view: View, side: Side) -> None:
    """A row for each departure of a document from BERT: both formulas, and BERT's pass with this one alone."""
    names = OF_DOCUMENTS.get(side.name)
    if names is None:
        return
    document = side.title.partition(" (")[0]
    heading = Heading(
        f"Where the {document} departs, step by step",
        "the differing part is marked; at the right BERT with this one departure alone",
        write_cosine(view) if names else "",
        "x BERT, y BERT with this alone, last layer",
    )
    with open_card(view, NORM, heading, f"BERT's pass with one step as in the {side.title}", name="departures"):
        besides = list_besides(view.trace, side.name)
        if names:
            token = view.chosen.token
            wanted = Wanted(("departures", names, token), view.trace, partial(run_departures, view.trace, token, names))
            show_finding("departures", wanted, partial(_draw, view, side, [DEPARTURES[name] for name in names]))
        else:
            st.markdown(
                f"{'In none of its steps' if besides else 'Nowhere'}: it writes BERT's own pass, up to the words."
            )
        if besides:
            st.caption(f"Here besides, without a row: {'; '.join(besides)}.")


def list_besides(trace: Trace, document: str) -> list[str]:
    """What a document does otherwise than BERT only on such an input, or with such a model."""
    told: list[str] = []
    if not all(trace.encoding.mask):
        before = " and stands before the text" if document in PADS_FIRST else ""
        told.append(f"no padding mask: every token attends to the padding, which gets vectors like words{before}")
    if any(trace.encoding.segments) and "no-segment" not in OF_DOCUMENTS[document]:
        told.append("segment 0 in the second text too")
    if document in ALWAYS_GELU and trace.model.config.hidden_act != "gelu":
        told.append("GELU by the normal distribution, which is not this model's activation")
    return told


def _draw(view: View, side: Side, departures: list[Departure], found: Found[tuple[Departed, ...]]) -> None:
    known = {one.name: one for one in found.value or ()}
    best = _name_answer(view)
    cost = tell_progress(found, "the passes run") or f"{len(departures)} passes"
    heads = (
        "step",
        "BERT as released",
        escape(side.title),
        "cosine, this alone",
        f"answer <small>{escape(cost)}</small>",
    )
    rows = (_render_row(view, side, each, known.get(each.name), best) for each in departures)
    table = table_html.write_table(table_html.write_heads(heads), rows)
    st.html(_STYLE + table_html.write_region("The departures", table, "bv-departures"))


def _name_answer(view: View) -> str:
    """BERT's own answer at the chosen token; "" without a language model head."""
    if PROBS not in view.trace:
        return ""
    best = rank_top(view.trace.recomputed(PROBS.fix(token=view.chosen.token)), 1)[0]
    return view.trace.model.tokenizer.name(best)


def _render_row(view: View, side: Side, departure: Departure, one: Departed | None, best: str) -> str:
    pair, document = pair_steps(departure.address, view.trace.program, side.program), side.document
    lacks, adds = mark_pair(pair)
    cells = (
        _render_formula(view, "row", "BERT", pair.left, lacks),
        _render_formula(view, side.notation, name_shortly(document) if document else "", pair.right, adds),
        _UNKNOWN if one is None else render_cosine(one.cosine),
        _render_answer(one, best),
    )
    name = f"<b>{escape(departure.title)}</b><br>{escape(departure.what)}"
    return table_html.write_row(name, table_html.write_cells(cells))


def mark_pair(pair: Pair) -> tuple[list[str], list[str]]:
    """What is marked of both formulas: symbols, by address, and functions, as LaTeX, that only one of them has. That
    one reads the normalized embedding, the other the plain one, is the departure of another row."""
    lacks, adds = pair.lacks, pair.adds
    if _NORMALIZED in lacks and not _PLAIN.isdisjoint(adds):
        lacks, adds = (tuple(one for one in own if one not in {_NORMALIZED, *_PLAIN}) for own in (lacks, adds))
    return _list_own(pair.left, pair.right, lacks), _list_own(pair.right, pair.left, adds)


def _list_own(step: Step | None, other: Step | None, own: Sequence[str]) -> list[str]:
    """Every symbol, where there is no other step."""
    if step is None:
        return []
    if other is None:
        return [leaf.address for leaf in step.leaves]
    return [*own, *(tex for tex in _list_functions(step) if tex not in _list_functions(other))]


def _list_functions(step: Step) -> list[str]:
    return [node.function.tex for node in walk_nodes(step.expr) if isinstance(node, Apply)]


def _render_formula(view: View, notation: Notation, whose: str, step: Step | None, own: Sequence[str]) -> str:
    """A step's formula in one line, marked what the other's does not have; its left side alone where it takes more
    lines. whose: it is, where it stands in no column of its own; own: as `mark_pair` has it."""
    return f'<small class="bv-whose" aria-hidden="true">{whose}</small>{_typeset(view, notation, step, own)}'


def _typeset(view: View, notation: Notation, step: Step | None, own: Sequence[str]) -> str:
    if step is None:
        return "–"
    plain = style.make_painter(view.colors)

    def paint(symbol: Symbol) -> str:
        return rf"\htmlClass{{bv-differs}}{{{plain(symbol)}}}" if symbol.address in own else plain(symbol)

    tex = step.typeset(paint, notation)
    for function in _list_functions(step):
        if function in own:
            tex = tex.replace(function, rf"\htmlClass{{bv-differs}}{{{function}}}")
    try:
        return f'<span class="bv-symbols">{write_html(tex)}</span>'
    except ValueError:
        return f'<span class="bv-symbols">{write_html(tex.partition(" = ")[0])} = …</span>'


def _render_answer(one: Departed | None, best: str) -> str:
    """What is answered, and what is left of BERT's own answer."""
    if one is None:
        return _UNKNOWN
    if not one.word:
        return "no words here"
    answer = f"“{escape(one.word)}” <small>{format_percent(one.probability)}</small>"
    own = "" if one.word == best else f"<br>{escape(best)} <small>{format_percent(one.answer)}</small>"
    return answer + own
