"""Every number that the notebook prints for bert-base-uncased, beside ours."""

import streamlit as st

from bertviz_core.ui.frame.shell import end, page
from bertviz_core.ui.views import notebook, notebook_facts

view = page(
    "notebook",
    "One of the documents behind this explorer is a notebook that runs bert-base-uncased step by step and prints what "
    "comes out. Whoever computes the same must print the same: here each of its numbers stands beside ours.",
)
found = notebook.comparisons(view)
notebook.status(view, found)
st.header("One printed tensor", anchor=False)
printed = notebook.choose()
notebook.tensor(view, printed, found.get(printed.cell))
notebook.summary(view, found)
st.header("The notebook against itself", anchor=False)
notebook.itself(view)
st.header("What else is printed", anchor=False)
notebook_facts.of_notebook(view)
notebook_facts.of_others(view)
end("notebook")
