"""What everything is called: our symbols and addresses beside the names of the documents and three code bases."""

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.fold import fold
from bertviz_core.ui.views import notation

view = open_page(
    "notation",
    "Every step, parameter and axis of the forward pass: symbol and address here, and its names elsewhere.",
    notation.write_headline,
)
notation.show_lead(view)
notation.show_entries(view)
with fold("lengths", "**How long the axes are** · in this model and sentence") as opened:
    if opened:
        notation.show_lengths(view)
with fold("differences", "**What to keep in mind** · where the sources differ") as opened:
    if opened:
        notation.show_differences()
