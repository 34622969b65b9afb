"""The whole pass on one page: the answer first, then every step in order."""

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.views import overview, overview_export
from bertviz_core.ui.views.overview_canvas import show_canvas

view = open_page(
    "overview",
    "The whole forward pass of a real BERT on your sentence, each step with its formula, address and shape. "
    "Every number on every page is real: computed by the model or read from its checkpoint.",
)
overview.show_answer(view)
show_canvas(view)
overview.show_steps(view)
overview_export.show_export(view)
