"""Five documents describe BERT; each is run as it is written, and set beside BERT or beside another."""

import streamlit as st

from bertviz_core.ui.frame.shell import close_page, open_page
from bertviz_core.ui.views import documents, documents_alignment, documents_slips

view = open_page(
    "documents",
    "Five documents behind this explorer describe BERT, and no two of them agree. Here each is run as it is written, "
    "with the model's own weights on your sentence, beside BERT as released or beside another of them.",
)
left, right = documents.choose_sides(view)
st.header("How far from BERT?", anchor=False)
documents.show_distances(view, left, right)
documents.show_answers(view, left, right)
st.header("Step by step", anchor=False)
documents_alignment.show_side_by_side(view, left, right)
documents.show_places(left, right)
st.header("Slips, and the numbers that show them", anchor=False)
documents_slips.show_sigma(view)
documents_slips.show_residual(view)
documents_slips.show_epsilon(view)
documents_slips.show_softmax(view)
close_page("documents")
