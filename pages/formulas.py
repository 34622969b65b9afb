"""Every formula of the pass, in order."""

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.views import formulas

view = open_page(
    "formulas",
    "Every step in order, of one layer for all; beside its formula its numbers at the chosen token, the strongest "
    "printed.",
    formulas.write_headline,
)
formulas.show_counts(view)
formulas.show_steps(view)
