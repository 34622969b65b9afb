"""Word, position and segment: from three tables to one vector per token."""

import streamlit as st

from bertviz_core.ui import embeddings, positions
from bertviz_core.ui.shell import end, page

view = page(
    "embeddings",
    "Every token becomes a vector: its word's row, its position's row and its segment's row are looked up and added. "
    "A LayerNorm then gives every vector the same mean and spread before the first layer reads it.",
)
embeddings.one_token(view)
st.header("For all tokens", anchor=False)
embeddings.all_tokens(view)
st.header("Which entries have similar vectors", anchor=False)
embeddings.neighbours(view)
st.header("Positions, learned and computed", anchor=False)
positions.tables(view)
positions.resemblance(view)
end("embeddings")
