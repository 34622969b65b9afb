"""Two passes side by side: matched tokens, how far apart they are, what both answer, which heads look elsewhere."""

import streamlit as st

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.frame.with_field import show_wrong
from bertviz_core.ui.views import compare, compare_angles, compare_heads, compare_start, compare_tokens, compare_words
from bertviz_core.ui.views.compare_both import read_both

view = open_page(
    "compare",
    "By token and head.",
    compare.write_headline,
    more=compare.write_more,
)
show_wrong(view)
compare_start.show_start(view)
both = read_both(view)
if both is not None:
    compare_tokens.show_tokens(view, both)
    apart, words = st.columns(2, gap="small")
    with apart:
        compare_angles.show_angles(view, both)
    with words:
        compare_words.show_answers(view, both)
    compare_heads.show_heads(view, both)
