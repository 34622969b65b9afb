"""Word, position and segment: from three tables to one vector per token."""

import streamlit as st

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.views import embeddings, embeddings_positions

view = open_page(
    "embeddings",
    "Every token becomes a vector: the sum of its word embedding, position embedding and segment embedding. "
    "LayerNorm normalizes each vector before the first layer reads it.",
)
embeddings.show_token(view)
st.header("All tokens", anchor=False)
embeddings.show_all_tokens(view)
st.header("Vocabulary entries with similar embeddings", anchor=False)
embeddings.show_neighbours(view)
st.header("Position embeddings, learned and sinusoidal", anchor=False)
embeddings_positions.show_tables(view)
embeddings_positions.show_resemblance(view)
