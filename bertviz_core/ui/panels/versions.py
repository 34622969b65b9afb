"""One step as the documents write it, and what becomes of its numbers if a document is followed all the way."""

from __future__ import annotations

import numpy as np
import streamlit as st

from bertviz_core.analysis.alignment import Pair, list_places, pair_steps, read_ordered
from bertviz_core.documents import DOCUMENTS, Document
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number
from bertviz_core.ui.frame import state
from bertviz_core.ui.frame.chart import show_chart
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.resources import get_store, tell_if_busy
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.charts import draw_difference

_ASKED = Key("compare", "")  # the number of the document that a panel is compared with
_RELATIONS = {"same": "the same formula", "different": "a different formula", "missing": "leaves this step out"}


@st.fragment
def show_versions(view: View, address: Address, card: str) -> None:
    """The step of a panel in every document, opened on request; a click runs one and shows the difference.

    card: in which it stands, of which there may be several with the same step.
    """
    if not st.toggle("In the documents", key=f"versions-{card}"):
        return
    view, path = view.unchanged, address.path
    with st.container(border=True, key=f"versions-box-{card}"):
        for document in DOCUMENTS:
            pair = pair_steps(path, view.trace.program, view.trace.model.written(document.program))
            with st.container(horizontal=True, vertical_alignment="center", key=f"version-{card}-{document.number}"):
                st.markdown(_write_entry(view, document, pair))
                if pair.right is not None:
                    st.button(
                        "Run it", key=f"run-{card}-{document.number}", on_click=_compare, args=(card, document.number)
                    )
        asked = state.read(_ASKED.of(card))
        for document in DOCUMENTS:
            if document.number == asked:
                with tell_if_busy():
                    _show_difference(view, address, document, card)


def _compare(card: str, number: str) -> None:
    state.write(_ASKED.of(card), number)


def _write_entry(view: View, document: Document, pair: Pair) -> str:
    head = f"**{document.name}** ({document.number}): {_RELATIONS[pair.relation]}"
    if pair.right is None:
        return head
    choice = f"  \n:small[{pair.right.choice}]" if pair.right.choice else ""
    return f"{head} &ensp; ${view.typeset(pair.right)}$  \n:small[:gray[{pair.right.source}]]{choice}"


def _show_difference(view: View, address: Address, document: Document, card: str) -> None:
    """The document's numbers minus BERT's, on this sentence."""
    with st.spinner("Running the document's program …"):
        other = view.run_as(document.program, get_store())
    if other.shape(address) != view.trace.shape(address):
        st.info("The document's tensor has a different shape, so there is no difference to draw.")
        return
    largest = float(np.abs(read_ordered(other, address) - view.trace[address]).max(initial=0.0))
    st.markdown(f"Largest difference from BERT on this sentence: **{format_number(largest)}**.")
    if list_places(other) != list_places(view.trace):
        st.caption(f"The {document.name} pads before the text, so its cells stand elsewhere: no picture of them.")
    elif len(view.trace.dims(address)) == 2:
        chart, note = draw_difference(view, view.trace, other, address)
        show_chart(chart, f"difference-{card}", f"{address} in the {document.name} minus {address} in BERT")
        st.caption(f"The {document.name}'s numbers minus BERT's. {note}".strip())
