"""All slips of the documents, each with what is printed, what is right, and what shows it on the sentence."""

from __future__ import annotations

import streamlit as st

from bertviz_core.analysis.slip_numbers import Spot, measure_slip
from bertviz_core.analysis.slip_table import write_measured
from bertviz_core.documents import DOCUMENTS, Document
from bertviz_core.documents.slips import Slip
from bertviz_core.formula.steps import PREDICTION
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import site, url
from bertviz_core.ui.frame.keys import OPEN, Key
from bertviz_core.ui.frame.resources import get_store
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import open_card

COUNT = sum(len(document.slips) for document in DOCUMENTS)
_ALL = "all"
_SLIPS_OF = Key("slips_of", _ALL)


def show_slips(view: View) -> None:
    """Document by document, or those of one."""
    numbers = {document.number: document for document in DOCUMENTS}
    url.bind(_SLIPS_OF, (_ALL, *numbers))
    asked = st.segmented_control(
        "Slips of", (_ALL, *numbers), required=True, key=_SLIPS_OF.name, wrap=True, on_change=url.note_choice
    )
    for number, document in numbers.items():
        if asked in (_ALL, number):
            _show_document(view, document)


def _show_document(view: View, document: Document) -> None:
    spot = Spot(view.trace, view.chosen.layer, view.chosen.token, lambda program, more: _run(view, program, more))
    title = f"Slips in the {document.name}"
    with open_card(view, PREDICTION, title, f"document {document.number}, {len(document.slips)} of {COUNT}"):
        with st.container(key=f"slips-{document.number}"):
            st.markdown("\n".join(_write_entry(slip, spot) for slip in document.slips))
        with st.container(horizontal=True):
            for page, folds in _list_places(document).items():
                info = site.get_page(page)
                site.show_link(info, icon=info.icon, query={OPEN: ",".join(folds)} if any(folds) else {})


def _list_places(document: Document) -> dict[str, list[str]]:
    """The other pages that show slips of a document, each with its folds that do."""
    found: dict[str, list[str]] = {}
    for slip in document.slips:
        if slip.place and slip.place[0] != "documents" and slip.place[1] not in found.get(slip.place[0], ()):
            found.setdefault(slip.place[0], []).append(slip.place[1])
    return found


def _run(view: View, program: str, more: int) -> Trace | None:
    if len(view.trace.tokens) + more > view.trace.model.config.max_position_embeddings:
        return None
    return view.run_as(program, get_store(), more)


def _write_entry(slip: Slip, spot: Spot) -> str:
    found = write_measured(measure_slip(slip.name, spot))
    first = found[:1].upper() if found[:1].isascii() else found[:1]  # ε stays ε: Ε is another sign
    told = f"\n  - **{first}{found[1:]}**" if found else ""
    return f"- **{slip.where}**\n  - ~~{slip.says}~~ → {slip.right}\n  - {slip.shows}{told}"
