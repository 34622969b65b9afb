"""Five documents describe BERT; each is run as it is written, and set beside BERT or beside another."""

import streamlit as st

from bertviz_core.ui import alignment, documents, errata
from bertviz_core.ui.shell import end, page

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
alignment.side_by_side(view, left, right)
documents.places(left, right)
st.header("Slips, and the numbers that show them", anchor=False)
errata.sigma(view)
errata.residual(view)
errata.epsilon(view)
errata.softmax(view)
end("documents")
