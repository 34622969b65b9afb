"""The whole pass on one page: the answer first, then every step in order."""

from bertviz_core.ui import export, overview
from bertviz_core.ui.canvas import canvas
from bertviz_core.ui.shell import end, page

view = page(
    "overview",
    "A sentence goes in, every number comes out: the whole forward pass of a real BERT on your sentence, each step "
    "with its formula, address and shape. Nothing here is made up; every page shows the real values.",
)
overview.answer(view)
canvas(view)
overview.steps(view)
export.run_this_yourself(view)
end("overview")
