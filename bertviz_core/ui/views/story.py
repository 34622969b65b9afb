"""The shortest story: from an answer back to the input as one line of stops, and the stop that is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from bertviz_core.analysis.ablation import Without, cut_place, zero_each
from bertviz_core.analysis.hiding import Hidden
from bertviz_core.analysis.made_from import is_put, name_put
from bertviz_core.analysis.naming import find_noun, name_crumb, name_number
from bertviz_core.analysis.parts import WITHOUT
from bertviz_core.analysis.walk import Turn
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number, write_recorded
from bertviz_core.formula.steps import PARAMETER
from bertviz_core.formula.texts import name_token, write_count
from bertviz_core.programs.names import VALUES
from bertviz_core.sharing.findings import Found
from bertviz_core.ui.components.colors import list_colors
from bertviz_core.ui.components.loading import load_component
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame import choices, site, state, url
from bertviz_core.ui.frame.findings import Wanted, show_finding, tell_progress
from bertviz_core.ui.frame.keys import STORY_OF, Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.state import Sent
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.passes import tell_pass
from bertviz_core.ui.panels.said import tell_alike
from bertviz_core.ui.views.story_hidden import ask_story, name_without, show_most_hidden, tell_without
from bertviz_core.ui.views.story_way import Story, list_offered, read_story
from bertviz_core.ui.views.story_words import render_steps, render_without, tell_choice, tell_passed
from bertviz_core.ui.walk.explain import Explained, draw_operands, work_out, write_text, write_words

_STYLE = read_css(Path(__file__).with_name("story.css"))
_SHARES = 10  # drawn of a softmax over the vocabulary
_STOP = Key("stop", 0)
_LINE: Key[Sent] = Key("story-line", None)
_line = load_component("story_line")


def write_headline(view: View) -> str:
    """Where the way along the largest operands leads, and what the number is with the token at its end hidden.

    It is one way of very many, and no cause: that is what hiding measures.
    """
    story = read_story(view)
    alike = tell_alike(view.trace, story.start) if story.start.path.endswith(".probs") else ""
    name = f"{escape_markdown(cut_place(story.name))}{alike}"
    if len(story.turns) == 1:
        return f"Where does {name} come from? It is {name_put(view.trace, story.start)}"
    stops = [f"**head {cell.at['head']} of layer {cell.layer}**" for cell in story.cells if cell.leaf == VALUES.path]
    cell = story.cells[-1]
    if story.token is not None:
        stays = "" if stops else " itself, over no head"
        token = escape_markdown(name_token(view.trace.tokens, story.token))
        end = f"**{token}**{stays}{tell_without(view, story, story.token)}"
    elif cell.path in view.trace.model.parameters:
        end = "a learned parameter"
    else:
        stands = name_put(view.trace, cell) if is_put(view.trace, cell) else f"after {len(story.turns)} steps"
        end = f"**{find_noun(cell.path).inside}**, {stands}"
    over = f"Over {', '.join(stops)} to" if stops else "To"
    return f"Where does {name} lead back to? {over} {end}"


def show_line(view: View, story: Story) -> int:
    """The whole way as one line. Returns the stop that is looked at."""
    url.bind(_STOP, range(len(story.stops)))
    chosen = state.read(_STOP)
    heading = Heading(
        "The way back",
        "along a largest part, under each link; under a token: with it hidden",
        r"y = \sum_i p_i, \quad i^{*} = \underset{i}{\arg\max}\, |p_i|",
        "in a sum; a rule of this app",
        story.cells[chosen],
    )
    with open_card(view, PARAMETER, heading, story.start, name="way-back", chooses=True) as tools:
        with tools:
            _show_moves(view, story, chosen)
        asked = ask_story(view)
        if asked is None:
            _draw_line(view, story, chosen, None)
        else:
            show_finding("story-line", asked, partial(_draw_line, view, story, chosen))
        show_most_hidden(view, story)
    return chosen


def _draw_line(view: View, story: Story, chosen: int, found: Found[Hidden] | None) -> None:
    """The line, with what becomes of the number when a lane's token is hidden, as far as that is known."""
    drawing = _make_drawing(view, story, chosen, found)
    _line(key=_LINE.name, data=drawing, on_stop_change=state.on_event(_LINE, "stop", _go, state.is_number))


def _show_moves(view: View, story: Story, chosen: int) -> None:
    """Whose story it is, and a step along it to either side of the chosen stop."""
    st.selectbox(
        "The story of",
        list(list_offered(view)),
        key=STORY_OF.name,
        width=190,
        label_visibility="collapsed",
        on_change=_go,
        args=(0,),
    )
    st.button(
        "Back",
        icon=":material/chevron_left:",
        key="stop-back",
        on_click=_go,
        args=(chosen - 1,),
        disabled=not chosen,
    )
    st.button(
        "Next stop",
        icon=":material/chevron_right:",
        key="stop-next",
        on_click=_go,
        args=(chosen + 1,),
        disabled=chosen + 1 == len(story.stops),
    )


def _tell_way(view: View, story: Story) -> str:
    """By which rule the way goes, and what its line shows."""
    if len(story.turns) == 1:
        return f"The way ends where it begins: this number is {name_put(view.trace, story.start)}."
    made = "" if story.token is None else " of those computed from the token ids"
    steps = len(story.turns) - 1
    return (
        f"{write_count(steps, 'step')}, {'each ' if steps > 1 else ''}to the part that counts most{made}: in a sum the "
        "largest in size, in a softmax the score that moves the result most, in attention the value. A stop is where "
        "the token, the head or the component changes, or the embeddings begin: "
        f"{write_count(len(story.stops), 'stop')}. Beside a link stands the part that is followed; the link is as "
        "thick as its share of the number before it."
    )


def _make_drawing(view: View, story: Story, chosen: int, found: Found[Hidden] | None) -> dict[str, object]:
    """What the line needs: lanes, stops and colours."""
    tokens, lanes = view.trace.tokens, list(dict.fromkeys(story.tokens))
    return {
        "lanes": [
            {"name": "the answer" if i is None else f"{i} {tokens[i]}", "hidden": name_without(story, i, found)}
            for i in lanes
        ],
        "stops": [
            {**_make_stop(view, story.turns[place]), "lane": lanes.index(token)}
            for place, token in zip(story.stops, story.tokens, strict=True)
        ],
        "chosen": chosen,
        "colors": list_colors(view.colors),
    }


def _make_stop(view: View, turn: Turn) -> dict[str, object]:
    cell, value = turn.cell, float(view.trace[turn.cell])
    step = view.trace.program.by_address.get(cell.path)
    choice = turn.choice
    amount = choice.part.amount if choice and choice.measure.sums else None
    layer = "" if cell.layer is None else f"layer {cell.layer}"
    return {
        "name": name_crumb(view.trace, cell),
        "place": f"{layer} {_name_component(cell)}".strip(),
        "value": write_recorded(view.trace[cell].item()),
        "part": "" if amount is None else format_number(amount),
        "share": 0.1 if amount is None or not value else min(abs(amount / value), 1.0),
        "color": view.colors.kinds.get(step.kind, view.colors.faint) if step else view.colors.faint,
    }


def _name_component(cell: Address) -> str:
    """The last index, which is no token: of a component, a word or an answer."""
    at = cell.at
    head = f"head {at['head']} " if "head" in at else ""
    last = next((str(i) for axis, i in reversed(cell.index) if axis not in ("token", "query", "key", "head")), "")
    return f"{head}{f'no. {last}' if last else ''}".strip()


def _go(stop: int) -> None:
    choices.choose({_STOP: stop})


def show_stop(view: View, story: Story, number: int) -> None:
    """One stop: its value, what led there, its formula, and the picture of what it is made from."""
    place = story.stops[number]
    cell, walked = story.turns[place].cell, story.turns[story.stops[number - 1] if number else place : place]
    shown = work_out(view, cell)
    step = shown.why.step
    see = f"{number + 1}. {name_number(view.trace, cell)} is {format_number(shown.why.value)}"
    formula, source = (view.typeset(step), step.source) if step else ("", "")
    heading = Heading(see, formula=formula, source=source, worked=cell)
    with open_card(view, step.kind if step else PARAMETER, heading, str(cell), name="story-stop"):
        _tell_stop(view, walked, shown)
        if step is None:
            st.markdown(write_text(view, shown.why))
        else:
            draw_operands(view, f"story-{number}", shown, largest=_SHARES)
        link = site.find_link(view.trace, cell)
        query = {**site.name_place(cell, view.chosen), **link.query}
        site.show_link(link.page, f"The page “{link.page.title}”", link.page.icon, query)


def _tell_stop(view: View, walked: Sequence[Turn], shown: Explained) -> None:
    """How the way came here, and what is said of this stop's formula. walked: the steps since the stop before."""
    told = [turn for turn in walked if turn is walked[-1] or (turn.choice and turn.choice.measure is WITHOUT)]
    back = f"{len(walked)} steps back, through sums, normalizations and functions." if len(walked) > 1 else ""
    said = [tell_pass(view), back, *(tell_choice(view.trace, turn) for turn in told)]
    said += [tell_passed(view.trace, turn) for turn in walked]
    if any(said):
        st.caption(escape_markdown(" ".join(filter(None, said))))
    if words := write_words(view.trace, shown.why, shown.found):
        st.markdown(words)


def show_steps(view: View, story: Story) -> None:
    """Every step of the way as a table."""
    with open_card(view, PARAMETER, "All steps", story.start):
        st.caption(_tell_way(view, story))
        st.html(render_steps(view, story.turns, story.stops, range(len(story.turns))))


def show_without(view: View, story: Story) -> None:
    """What the number becomes without each stop."""
    trace, start, cells = story.trace, story.start, tuple(story.cells)
    asked = Wanted(("without", start, cells), trace, partial(zero_each, [trace], start, cells))
    heading = Heading("Without each stop", "", r"y_{x = 0}", "one pass each, the stop set to 0")
    with open_card(view, PARAMETER, heading, start, name="story-without"):
        st.html(_STYLE)
        show_finding("story-without", asked, partial(_draw_without, view, story))


def _draw_without(view: View, story: Story, found: Found[tuple[Without, ...]]) -> None:
    (without,) = found.value or ({},)
    st.html(render_without(view, story.start, story.cells, without))
    progress = tell_progress(found, "the stops set to 0")
    st.caption(f"{tell_pass(view)}{progress or 'Each stop is set to 0, and the pass run again.'}")
