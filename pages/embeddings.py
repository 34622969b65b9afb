"""Word, position and segment: from three tables to one vector per token."""

import streamlit as st

from bertviz_core.ui.frame.shell import close_page, open_page
from bertviz_core.ui.views import embeddings, embeddings_positions

view = open_page(
    "embeddings",
    "Every token becomes a vector: its word's row, its position's row and its segment's row are looked up and added. "
    "A LayerNorm then gives every vector the same mean and spread before the first layer reads it.",
)
embeddings.show_token(view)
st.header("For all tokens", anchor=False)
embeddings.show_all_tokens(view)
st.header("Which entries have similar vectors", anchor=False)
embeddings.show_neighbours(view)
st.header("Positions, learned and computed", anchor=False)
embeddings_positions.show_tables(view)
embeddings_positions.show_resemblance(view)
close_page("embeddings")
