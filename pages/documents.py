"""Documents that describe BERT: each is run as it is written, and set beside BERT or beside another."""

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.fold import fold
from bertviz_core.ui.views import (
    documents,
    documents_alignment,
    documents_departures,
    documents_differences,
    documents_five,
    documents_length,
    documents_slip_list,
    documents_slips,
    documents_told,
)

view = open_page(
    "documents",
    "Each is run as it is written, with this model's weights; a row chooses the document.",
    documents.write_headline,
)
left, right = documents.read_sides(view)
documents_told.offer(view, right.name)
documents_five.show_five(view, right)
if left.document is None:
    documents_departures.show_departures(view, right)
else:
    documents_differences.show_differences(view, left, right)
if documents_length.has_other_length(view, left, right):
    with fold("lengths", "**The note at two lengths** · your sentence's, and the longest") as opened:
        if opened:
            documents_length.show_lengths(view)
with fold("differences", "**Steps that differ** · by page, and what only one of the two has") as opened:
    if opened and left.document is None:
        documents_differences.show_differences(view, left, right)
with fold("slips-told", "**Four slips** · what is printed, and what is right") as opened:
    if opened:
        documents_slips.show_cards(view)
with fold("slips", f"**All {documents_slip_list.COUNT} slips** · each with what shows it") as opened:
    if opened:
        documents_slip_list.show_slips(view)
with fold("slips-worked", "**Four slips worked** · with their pictures") as opened:
    if opened:
        documents_slips.show_sigma(view)
        documents_slips.show_residual(view)
        documents_slips.show_epsilon(view)
        documents_slips.show_softmax(view)
with fold("steps", "**Side by side** · every step of any two, also those that are the same") as opened:
    if opened:
        documents.show_menus()
        documents_alignment.show_side_by_side(view, left, right)
with fold("layers", "**Layer by layer** · cosines and largest differences as a table") as opened:
    if opened:
        documents.show_layers(view, left, right)
for document in documents.list_shown(left, right):
    with fold(f"places-{document.number}", f"**Every place in the {document.name}** · and its page") as opened:
        if opened:
            documents.show_places(document)
            documents.show_others(document)
