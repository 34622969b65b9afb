"""What hiding a token does to the story's number: a pass of its own for each, since the story's way is no cause."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from bertviz_core.analysis.ablation import cut_place
from bertviz_core.analysis.hiding import Hidden, hide_each, list_hideable
from bertviz_core.formula.numbers import format_number, format_percent, read_alike
from bertviz_core.formula.steps import PARAMETER
from bertviz_core.formula.texts import name_token, write_count
from bertviz_core.sharing.findings import Found
from bertviz_core.tracing.store import is_long
from bertviz_core.ui.frame.findings import WAITS, Wanted, show_finding, tell_progress
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.passes import tell_pass
from bertviz_core.ui.views.story_way import Story, read_story
from bertviz_core.ui.views.story_words import render_hidden

_WAITS = WAITS.strip()  # inside a sentence
BESIDE = 16  # tokens whose table stands beside the others; that of more has a row of the page, and several columns
_HIDDEN = 48  # tokens that are hidden in turn at most; of more, those on the way


def ask_story(view: View) -> Wanted[Hidden] | None:
    """The finding that tells what the story's tokens do: none where a pass is costly, or no token can be hidden."""
    story = read_story(view)
    return None if is_long(len(story.trace.tokens)) or len(story.turns) == 1 else ask_hidden(story)


def tell_without(view: View, story: Story, token: int) -> str:
    """What the number becomes with a token hidden, as far as that is known; nothing of one that is not hidden."""
    asked = ask_story(view)
    if asked is None or token not in list_shown(story):
        return ""
    without = (asked.look().value or {}).get(token, _WAITS)
    if without is None:
        return ""
    was, to = _write_both(story, without)
    changes = f"it stays {_tell_near(story, without)} {was}" if was == to else f"{was} becomes {to}"
    return f"; hide it, and {changes}"


def name_without(story: Story, token: int | None, found: Found[Hidden] | None) -> str:
    """The same where there is little room: `hidden: 6.9 %`."""
    if found is None or token is None or token not in list_shown(story):
        return ""
    without = (found.value or {}).get(token, _WAITS)
    return "" if without is None else f"hidden: {_write(story, without)}"


def tell_change(story: Story, without: float | str) -> str:
    """What becomes of the story's number: `“people” goes from 6.6 % to 6.9 %`. without: "…" if it is not known yet."""
    was, to = _write_both(story, without)
    changes = f"stays {_tell_near(story, without)} {was}" if was == to else f"goes from {was} to {to}"
    return f"{escape_markdown(cut_place(story.name))} {changes}"


def _tell_near(story: Story, without: float | str) -> str:
    """Written alike, it may have moved."""
    return "at" if without == story.value else "near"


def _write_both(story: Story, without: float | str) -> tuple[str, str]:
    """The number as it is and without a token: the same text where both are read alike."""
    was, to = _write(story, story.value), _write(story, without)
    return was, was if read_alike((was, to)) else to


def _write(story: Story, number: float | str) -> str:
    if isinstance(number, str):
        return number
    return format_percent(number) if story.start.name == "probs" else format_number(number)


def show_most_hidden(view: View, story: Story) -> None:
    """That the way is no cause; and which token the number depends on most, measured by hiding each."""
    said = f"{tell_pass(view)}The largest operand at each step is not the cause."
    asked = ask_story(view)
    if asked is None:
        st.caption(said)
    else:
        show_finding("story-cause", asked, lambda found: st.caption(f"{said} {_tell_hidden(story, found)}"))


def _tell_hidden(story: Story, found: Found[Hidden]) -> str:
    """The token that moves the number most when it is hidden: "…" as long as not all were."""
    if found.error:
        return escape_markdown(found.error)
    known = {i: without for i, without in (found.value or {}).items() if without is not None}
    if not found.whole or not known:
        return "" if found.over else _WAITS
    moved = {i: abs(without - story.value) for i, without in known.items()}
    most = max(moved, key=moved.__getitem__)
    word, change = escape_markdown(name_token(story.trace.tokens, most)), tell_change(story, known[most])
    if len(known) == 1:
        return f"With **{word} hidden {change}**."
    of = f"Of the {write_count(len(known), 'token')} hidden in turn"
    if len({*_write_both(story, known[most])}) == 1:
        return f"{of} none moves it in the digits shown: **{change}**."
    alike = sum(size == moved[most] for size in moved.values()) > 1
    leads = f"none moves it more than **{word}" if alike else f"**{word} moves it most"
    return f"{of} {leads}: {change}**."


def list_shown(story: Story) -> tuple[int, ...]:
    """The tokens that are hidden in turn."""
    every, on_way = list_hideable(story.trace), set(story.tokens)
    return every if len(every) <= _HIDDEN else tuple(i for i in every if i in on_way)


def _are_all_shown(story: Story) -> bool:
    """Whether every token that can be hidden is hidden in turn."""
    return len(list_hideable(story.trace)) <= _HIDDEN


def ask_hidden(story: Story) -> Wanted[Hidden] | None:
    """The finding: the number with each token hidden; None where none can be."""
    trace, start, shown = story.trace, story.start, list_shown(story)
    return Wanted(("hidden", start, shown), trace, partial(hide_each, trace, start, shown)) if shown else None


def show_hidden(view: View, story: Story, asked: Wanted[Hidden]) -> None:
    """What it becomes with each token hidden."""
    heading = Heading("With each token hidden", "", r"y_{w = \mathrm{[MASK]}}", "one pass each, the token hidden")
    with open_card(view, PARAMETER, heading, story.start, name="story-hidden"):
        show_finding("story-hidden", asked, partial(_draw_hidden, view, story))


def _draw_hidden(view: View, story: Story, found: Found[Hidden]) -> None:
    shown = list_shown(story)
    tables = np.array_split(shown, -(-len(shown) // BESIDE))
    st.html(render_hidden(view, story.start, [part.tolist() for part in tables], set(story.tokens), found.value or {}))
    progress = tell_progress(found, "the tokens hidden")
    st.caption(
        f"{tell_pass(view)}{_tell_marked(story)} "
        f"{progress or 'Each has a pass with [MASK] in its place, special tokens none; the line: as it is.'}"
    )


def _tell_marked(story: Story) -> str:
    """Which tokens are hidden in turn, and which of these are on the way."""
    if _are_all_shown(story):
        return "Marked: the tokens on the way."
    return f"Only the tokens on the way, of {len(list_hideable(story.trace))} that can be hidden."
