"""The shortest story: from an answer back to the input, one line first, each stop with its formula worked."""

import streamlit as st

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.fold import fold
from bertviz_core.ui.views.story import show_line, show_steps, show_stop, show_without, write_headline
from bertviz_core.ui.views.story_brings import find_brought, show_brought
from bertviz_core.ui.views.story_hidden import BESIDE, ask_hidden, ask_story, list_shown, show_hidden
from bertviz_core.ui.views.story_way import read_story

view = open_page(
    "story",
    "From the answer's number to the part of it that counts most and depends on the words, down to a token id; this is "
    "no cause.",
    write_headline,
    ask_story,
)
story = read_story(view)
chosen = show_line(view, story)
brought, hidden = find_brought(view, story, chosen), ask_hidden(story)
many = len(list_shown(story)) > BESIDE
beside = bool(hidden) and not (brought and many)
widths = [44] * bool(brought) + [28] + [72 if many else 28] * beside
places = iter(st.columns(widths, gap="small"))
if brought:
    with next(places):
        show_brought(view, brought)
with next(places):
    show_without(view, story)
if hidden:
    with next(places) if beside else st.container():
        show_hidden(view, story, hidden)
with fold("stop", f"**Stop {chosen + 1}** · its formula, and the picture of what it is made from") as opened:
    if opened:
        show_stop(view, story, chosen)
with fold("steps", "**All steps** · with every sum, norm and curve between the stops") as opened:
    if opened:
        show_steps(view, story)
