"""Five documents describe BERT; each is run as it is written, and set beside BERT or beside another."""

import streamlit as st

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.views import documents, documents_alignment, documents_slips

view = open_page(
    "documents",
    "This explorer grew from five documents about BERT, no two of which agree. Here each one runs as it is written, "
    "with the model's weights on your sentence, next to BERT as released or to another document.",
)
left, right = documents.choose_sides(view)
st.header("How far from BERT?", anchor=False)
documents.show_distances(view, left, right)
documents.show_answers(view, left, right)
st.header("Step by step", anchor=False)
documents_alignment.show_side_by_side(view, left, right)
documents.show_places(left, right)
st.header("Errors in the documents, shown with numbers", anchor=False)
documents_slips.show_sigma(view)
documents_slips.show_residual(view)
documents_slips.show_epsilon(view)
documents_slips.show_softmax(view)
