"""The whole pass on one page: the answer first, then every step in order."""

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.fold import fold
from bertviz_core.ui.views import overview, overview_export
from bertviz_core.ui.views.overview_canvas import show_canvas

view = open_page(
    "overview",
    "The whole forward pass of a real BERT on your sentence. Every number on every page is real: computed by the model "
    "or read from its checkpoint. Click one, and its formula is worked.",
    overview.write_headline,
)
show_canvas(view)
overview.show_answer(view)
with fold("steps", "**All formulas** · every step of the pass with its address and shape") as opened:
    if opened:
        overview.show_steps(view)
with fold("export", "**Take it with you** · the whole pass as a script or notebook") as opened:
    if opened:
        overview_export.show_export(view)
