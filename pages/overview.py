"""The whole pass on one page: the question, the answer, and every number on the way."""

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.fold import fold
from bertviz_core.ui.views import overview, overview_export
from bertviz_core.ui.views.overview_canvas import show_canvas

view = open_page(
    "overview",
    "A real BERT on your sentence. Every number is real: computed by the model or read from its checkpoint. Choose a "
    "cell, and its formula is worked.",
    overview.write_headline,
    more=overview.tell_more,
)
show_canvas(view)
overview.show_model(view)
with fold("export", "**Take it with you** · the whole pass as a script, notebook or picture") as opened:
    if opened:
        overview_export.show_export(view)
