"""Every formula of the pass, in order."""

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.views import formulas

view = open_page(
    "formulas",
    "Every step of the pass in order, with its formula, its meaning, its address and its shape. Of the layers, which "
    "are alike, the chosen one.",
    formulas.write_headline,
)
formulas.show_steps(view)
