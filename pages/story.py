"""The shortest story: from an answer back to the input, each stop with its formula worked."""

from bertviz_core.ui.frame.shell import close_page, open_page
from bertviz_core.ui.views import story

view = open_page(
    "story",
    "Where does the answer come from? Start at its number, go to the operand that contributed most, and on from there, "
    "until nothing is left but a token or a learned number. One path of very many, but every number on it is real.",
)
story.show_story(view, story.choose_beginning(view))
close_page("story")
