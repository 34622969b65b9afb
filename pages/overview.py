"""The whole pass on one page: the answer first, then every step in order."""

from bertviz_core.ui.frame.shell import end, page
from bertviz_core.ui.views import overview, overview_export
from bertviz_core.ui.views.overview_canvas import canvas

view = page(
    "overview",
    "A sentence goes in, every number comes out: the whole forward pass of a real BERT on your sentence, each step "
    "with its formula, address and shape. Nothing here is made up; every page shows the real values.",
)
overview.answer(view)
canvas(view)
overview.steps(view)
overview_export.run_this_yourself(view)
end("overview")
