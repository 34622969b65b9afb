"""One pass's numbers put into the other: which layer and token, and which head, carry the difference of the two."""

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.frame.with_field import show_wrong
from bertviz_core.ui.views import patch, patch_grids, patch_sentences

view = open_page(
    "patch",
    "Every cell is one forward pass with numbers of the other one, put where the cell says.",
    patch.write_headline,
    patch.ask,
    patch.write_warning,
)
show_wrong(view)
if patch_sentences.show_sentences(view):
    patch_grids.show_grids(view)
