"""The shortest story: from an answer back to the input, each stop with its formula worked."""

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.views import story

view = open_page(
    "story",
    "Where does the prediction come from? Start at its number, go on to the part of it that counts most and depends on "
    "the words, and repeat down to a token id. This is one path of very many; every number on it is real.",
)
story.show_story(view, story.choose_beginning(view))
