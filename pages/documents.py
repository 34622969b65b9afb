"""Five documents describe BERT; each is run as it is written, and set beside BERT or beside another."""

import streamlit as st

from bertviz_core.ui.frame.shell import end, page
from bertviz_core.ui.views import documents, documents_alignment, documents_slips

view = page(
    "documents",
    "Five documents behind this explorer describe BERT, and no two of them agree. Here each is run as it is written, "
    "with the model's own weights on your sentence, beside BERT as released or beside another of them.",
)
left, right = documents.choose(view)
st.header("How far from BERT?", anchor=False)
documents.distances(view, left, right)
documents.answers(view, left, right)
st.header("Step by step", anchor=False)
documents_alignment.side_by_side(view, left, right)
documents.places(left, right)
st.header("Slips, and the numbers that show them", anchor=False)
documents_slips.sigma(view)
documents_slips.residual(view)
documents_slips.epsilon(view)
documents_slips.softmax(view)
end("documents")
