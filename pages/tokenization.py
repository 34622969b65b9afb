"""From characters to token ids: cleaning, splitting, and the longest-match search."""

import streamlit as st

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.fold import fold
from bertviz_core.ui.views import tokenization, tokenization_inputs, tokenization_lead, tokenization_vocabulary

view = open_page(
    "tokenization",
    "Each word is split into the longest pieces in the vocabulary (WordPiece); a piece's index there is its id. Its "
    "segment: 0 in a first sentence, 1 in a second.",
    tokenization_lead.write_headline,
)
tokenization_lead.show_tokens(view)
tokenization.bind_word()
tokenization.show_search(view)
with fold("cleaning", "**Cleaning** · how the text was normalized and split, and every word's search") as opened:
    if opened:
        tokenization.show_stages(view)
        tokenization.show_searches(view)
with fold(
    "vocabulary", f"**Vocabulary** · {view.trace.model.config.vocab_size:,} entries by kind, and a search"
) as opened:
    if opened:
        tokenization_vocabulary.show_census(view)
        with st.container(border=True):
            tokenization_vocabulary.show_search(view)
with fold("padding", "**Segments and padding** · the four numbers of every token, and what padding does") as opened:
    if opened:
        tokenization_inputs.show_numbers(view)
        with st.container(border=True):
            tokenization_inputs.show_padding(view)
