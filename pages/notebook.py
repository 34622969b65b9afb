"""Every number that the notebook prints for bert-base-uncased, beside ours."""

import streamlit as st

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.views import notebook, notebook_facts

view = open_page(
    "notebook",
    "One of the five documents is a notebook that runs bert-base-uncased step by step and prints the results. "
    "This page compares each printed number with the one computed here.",
)
found = notebook.compare_all(view)
notebook.show_status(view, found)
st.header("One printed tensor", anchor=False)
printed = notebook.choose_printed()
notebook.show_tensor(view, printed, found.get(printed.cell))
notebook.show_summary(view, found)
st.header("The notebook against itself", anchor=False)
notebook.show_itself(view)
st.header("What else is printed", anchor=False)
notebook_facts.show_facts(view)
notebook_facts.show_other_facts(view)
