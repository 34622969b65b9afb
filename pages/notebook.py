"""Every number that the notebook prints for bert-base-uncased, beside ours."""

import streamlit as st

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.fold import fold
from bertviz_core.ui.views import notebook, notebook_cells, notebook_facts

view = open_page(
    "notebook",
    "One of the documents is a notebook that runs bert-base-uncased step by step and prints the results. "
    "This page compares what it prints with what is computed here, tensors where model and sentence are the same.",
    notebook.write_headline,
)
found = notebook.compare_all(view)
printed = notebook_cells.read_chosen()
notebook_cells.choose_printed(view, printed)
tensor, itself = (st.container(), None) if found else st.columns([3, 2], gap="small")
with tensor:
    notebook.show_tensor(view, printed, found)
    if not found:
        notebook.show_status(view, printed, found)
if itself:
    with itself:
        notebook.show_itself(view)
if found:
    table, status = st.columns([3, 1], gap="small")
    with table:
        notebook.show_summary(view, found)
    with status:
        notebook.show_status(view, printed, found)
        notebook.explain_verdicts()
    with fold("itself", "**The notebook against itself** · what it prints twice") as opened:
        if opened:
            notebook.show_itself(view)
else:
    with fold("printed", "**All printed tensors** · cell, address, smallest and largest number") as opened:
        if opened:
            notebook.show_summary(view, found)
with fold("facts", "**What else is printed** · shapes, ids, sizes") as opened:
    if opened:
        notebook_facts.show_facts(view)
        notebook_facts.show_other_facts(view)
