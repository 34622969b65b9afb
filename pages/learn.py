"""Learn: lessons that ask, and are marked from the pass."""

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.views import learn

view = open_page("learn", learn.tell_lessons())
learn.show_end(view)
learn.show_catalogue(view)
learn.show_notes()
