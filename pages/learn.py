"""Learn: lessons that ask, and are marked from the pass."""

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.views import learn, learn_class, learn_pictures

view = open_page(
    "learn",
    "You answer by choosing, typing and running the model. What gives an answer away stays covered; each answer is "
    "marked from the forward pass that you see.",
    learn.write_headline,
    more=learn_pictures.tell_changes,
)
learn.show_end(view)
learn_class.show_way_in()
learn.show_catalogue(view)
learn.show_notes()
