"""Five documents describe BERT; each is run as it is written, and set beside BERT or beside another."""

import streamlit as st

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.fold import fold
from bertviz_core.ui.views import (
    documents,
    documents_alignment,
    documents_departures,
    documents_differences,
    documents_length,
    documents_slip_list,
    documents_slips,
)

view = open_page(
    "documents",
    "Five documents describe BERT, and no two agree. Each runs here as it is written, with the model's weights; what "
    "it leaves open is told at the step.",
    documents.write_headline,
)
documents.show_menus()
left, right = documents.read_sides(view)
lead, list_of_steps = st.columns([2, 3], gap="small")
with lead:
    documents.show_distances(view, left, right)
    documents.show_answers(view, left, right)
with list_of_steps:
    if left.document is None:
        documents_departures.show_departures(view, right)
    documents_differences.show_differences(view, left, right)
documents_slips.show_cards(view)
if documents_length.has_other_length(view, left, right):
    with fold("lengths", "**The note at two lengths** · your sentence's, and the longest") as opened:
        if opened:
            documents_length.show_lengths(view)
with fold("slips", f"**All {documents_slip_list.COUNT} slips** · each with what shows it") as opened:
    if opened:
        documents_slip_list.show_slips(view)
with fold("slips-worked", "**Four slips worked** · with their pictures") as opened:
    if opened:
        documents_slips.show_sigma(view)
        documents_slips.show_residual(view)
        documents_slips.show_epsilon(view)
        documents_slips.show_softmax(view)
with fold("steps", "**Side by side** · every step, also those that are the same") as opened:
    if opened:
        documents_alignment.show_side_by_side(view, left, right)
with fold("layers", "**Layer by layer** · cosines and largest differences as a table") as opened:
    if opened:
        documents.show_layers(view, left, right)
for document in documents.list_shown(left, right):
    with fold(f"places-{document.number}", f"**Every place in the {document.name}** · and its page") as opened:
        if opened:
            documents.show_places(document)
            documents.show_others(document)
