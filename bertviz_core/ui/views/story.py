"""The shortest story: from an answer back to the input as one line of stops, and the stop that is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import streamlit as st

from bertviz_core.analysis.ablation import Without, cut_place, zero_each
from bertviz_core.analysis.hiding import Hidden, hide_each, list_hideable
from bertviz_core.analysis.naming import find_noun, name_crumb, name_number
from bertviz_core.analysis.parts import WITHOUT
from bertviz_core.analysis.walk import Turn, choose_stops, list_beginnings, list_turns
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number, format_percent
from bertviz_core.formula.steps import PARAMETER
from bertviz_core.formula.texts import name_token, write_count
from bertviz_core.programs.names import VALUES
from bertviz_core.sharing.findings import Found
from bertviz_core.tracing.store import is_long
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.components.colors import list_colors
from bertviz_core.ui.components.loading import load_component
from bertviz_core.ui.frame import choices, site, state, url
from bertviz_core.ui.frame.findings import WAITS, Wanted, show_finding, tell_progress
from bertviz_core.ui.frame.keys import STORY_OF, Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.state import Sent
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.passes import tell_pass
from bertviz_core.ui.panels.said import tell_alike
from bertviz_core.ui.views.story_words import render_hidden, render_steps, render_without, tell_choice, tell_passed
from bertviz_core.ui.walk.explain import Explained, draw_operands, work_out, write_text, write_words

_SHARES = 10  # drawn of a softmax over the vocabulary
_HIDDEN = 48  # tokens that are hidden in turn at most; of more, those on the way
_STOP = Key("stop", 0)
_LINE: Key[Sent] = Key("story-line", None)
_line = load_component("story_line")


@dataclass(frozen=True, eq=False)
class Story:
    """The way from a number back to the input. name, start: of the number; turns: every step; stops: their places."""

    trace: Trace
    name: str
    start: Address
    turns: tuple[Turn, ...]

    @property
    def value(self) -> float:
        """The number that it begins with."""
        return float(self.trace.recomputed(self.start))

    @cached_property
    def stops(self) -> list[int]:
        return choose_stops(self.trace, [turn.cell for turn in self.turns])

    @property
    def cells(self) -> list[Address]:
        """The cells of the stops."""
        return [self.turns[place].cell for place in self.stops]

    @property
    def token(self) -> int | None:
        """The token whose id it ends at; None where it ends at a parameter, or at what a change put there."""
        last = self.cells[-1]
        return last.at["token"] if last.path == "input_ids" else None

    @cached_property
    def tokens(self) -> list[int | None]:
        """The token whose way it is, stop by stop; None before there is one."""
        found: list[int | None] = []
        for cell in self.cells:
            at = cell.at
            own = next((at[axis] for axis in ("token", "key", "query") if axis in at), None)
            found.append(own if own is not None or not found else found[-1])
        return found


def read_story(view: View) -> Story:
    """The story that the URL asks for."""
    offered = _list_offered(view)
    url.bind(STORY_OF, offered, next(iter(offered)))
    name = state.read(STORY_OF)
    return Story(view.trace, name, offered[name], list_turns(view.trace, offered[name]))


def _list_offered(view: View) -> dict[str, Address]:
    return list_beginnings(view.trace, view.chosen.token)


def write_headline(view: View) -> str:
    """Where the way leads that takes the largest part computed from the token ids: the heads on it, and its end.

    It is one way of very many, and no cause: that is what `_tell_hidden` measures.
    """
    story = read_story(view)
    alike = tell_alike(view.trace, story.start) if story.start.path.endswith(".probs") else ""
    name = f"{escape_markdown(cut_place(story.name))}{alike}"
    if len(story.turns) == 1:
        return f"Where does {name} come from? A change put it there"
    stops = [f"**head {cell.at['head']} of layer {cell.layer}**" for cell in story.cells if cell.leaf == VALUES.path]
    last = story.cells[-1].path
    end = f"**{find_noun(last).inside}**, put there by a change"
    if story.token is not None:
        end = f"**{escape_markdown(name_token(view.trace.tokens, story.token))}**"
    elif last in view.trace.model.parameters:
        end = "a learned parameter"
    return f"Where does {name} come from? One way back of very many: {', '.join([*stops, end])}"


def show_line(view: View, story: Story) -> int:
    """The whole way as one line. Returns the stop that is looked at."""
    url.bind(_STOP, range(len(story.stops)))
    chosen = state.read(_STOP)
    heading = Heading(
        "The way back",
        "from stop to stop along a largest part; under each link: that part",
        r"y = \sum_i p_i, \quad i^{*} = \underset{i}{\arg\max}\, |p_i|",
        "in a sum; a rule of this app",
    )
    with open_card(view, PARAMETER, heading, story.start, name="way-back"):
        drawing = _make_drawing(view, story, chosen)
        _line(key=_LINE.name, data=drawing, on_stop_change=state.on_event(_LINE, "stop", _go, state.is_number))
        moves, words = st.columns([52, 45], gap="medium", vertical_alignment="center")
        with moves, st.container(horizontal=True, vertical_alignment="center"):
            _show_moves(view, story, chosen)
        with words:
            _show_hidden(view, story)
    return chosen


def _show_moves(view: View, story: Story, chosen: int) -> None:
    """Whose story it is, and a step along it to either side of the chosen stop."""
    st.selectbox(
        "The story of",
        list(_list_offered(view)),
        key=STORY_OF.name,
        width=210,
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


def _tell_way(story: Story) -> str:
    """By which rule the way goes, and what its line shows."""
    if len(story.turns) == 1:
        return "The way ends where it begins: a change put this number there, in place of what is computed."
    made = "" if story.token is None else " of those computed from the token ids"
    steps = len(story.turns) - 1
    return (
        f"{write_count(steps, 'step')}, {'each ' if steps > 1 else ''}to the part that counts most{made}: in a sum the "
        "largest in size, in a softmax the score that moves the result most, in attention the value. A stop is where "
        "the token, the head or the component changes, or the embeddings begin: "
        f"{write_count(len(story.stops), 'stop')}. Beside a link stands the part that is followed; the link is as "
        "thick as its share of the number before it."
    )


def _show_hidden(view: View, story: Story) -> None:
    """That the way is no cause; and what the number is, were the token at its end hidden: measured by another pass."""
    asked, token = _ask_hidden(story), story.tokens[-1]
    said = f"{tell_pass(view)}What the number depends on is another question."
    if asked is None or token is None or token not in _list_shown(story) or is_long(len(story.trace.tokens)):
        st.caption(said)
    else:
        show_finding("story-cause", asked, lambda found: st.caption(f"{said} {_tell_hidden(story, token, found)}"))


def _tell_hidden(story: Story, token: int, found: Found[Hidden]) -> str:
    """What the number becomes with one token hidden: "…" as long as that is not known."""
    without = (found.value or {}).get(token, WAITS)
    if found.error and token not in (found.value or {}):
        return escape_markdown(found.error)
    if without is None:
        return ""
    write = format_percent if story.start.name == "probs" else format_number
    was, to = write(story.value), write(without) if isinstance(without, float) else without
    stays = f"stays at {was}" if without == story.value else f"stays near {was}"  # written alike, it may have moved
    changes = stays if was == to else f"goes from {was} to {to}"
    name, word = map(escape_markdown, (cut_place(story.name), name_token(story.trace.tokens, token)))
    every = "every token" if _are_all_shown(story) else "every token on the way"
    return f"**Hide {word} behind \\[MASK\\], and {name} {changes}**; for {every}: below."


def _list_shown(story: Story) -> tuple[int, ...]:
    """The tokens that are hidden in turn."""
    every, on_way = list_hideable(story.trace), set(story.tokens)
    return every if len(every) <= _HIDDEN else tuple(i for i in every if i in on_way)


def _are_all_shown(story: Story) -> bool:
    """Whether every token that can be hidden is hidden in turn."""
    return len(list_hideable(story.trace)) <= _HIDDEN


def _ask_hidden(story: Story) -> Wanted[Hidden] | None:
    """The finding: the number with each token hidden; None where none can be."""
    trace, start, shown = story.trace, story.start, _list_shown(story)
    return Wanted(("hidden", start, shown), trace, partial(hide_each, trace, start, shown)) if shown else None


def _make_drawing(view: View, story: Story, chosen: int) -> dict[str, object]:
    """What the line needs: lanes, stops and colours."""
    tokens, lanes = view.trace.tokens, list(dict.fromkeys(story.tokens))
    return {
        "lanes": ["the answer" if i is None else f"{i} {tokens[i]}" for i in lanes],
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
        "value": format_number(view.trace[cell].item()),
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
        st.caption(_tell_way(story))
        st.html(render_steps(view, story.turns, story.stops, range(len(story.turns))))


def show_without(view: View, story: Story) -> None:
    """What the number becomes without each stop."""
    trace, start, cells = story.trace, story.start, tuple(story.cells)
    asked = Wanted(("without", start, cells), trace, partial(zero_each, [trace], start, cells))
    heading = Heading("Without each stop", "", r"y - y_{x = 0}", "one pass each, the stop set to 0")
    with open_card(view, PARAMETER, heading, start):
        show_finding("story-without", asked, partial(_draw_without, view, story))


def show_hidden(view: View, story: Story) -> None:
    """What it becomes with each token hidden; nothing where none can be."""
    asked = _ask_hidden(story)
    if asked is None:
        return
    heading = Heading("With each token hidden", "", r"y - y_{w = \mathrm{[MASK]}}", "one pass each, the token hidden")
    with open_card(view, PARAMETER, heading, story.start, name="story-hidden"):
        show_finding("story-hidden", asked, partial(_draw_hidden, view, story))


def _draw_without(view: View, story: Story, found: Found[tuple[Without, ...]]) -> None:
    (without,) = found.value or ({},)
    st.html(render_without(view, story.start, story.cells, without))
    progress = tell_progress(found, "the stops set to 0")
    st.caption(f"{tell_pass(view)}{progress or 'Each stop is set to 0, and the pass run again.'}")


def _draw_hidden(view: View, story: Story, found: Found[Hidden]) -> None:
    st.html(render_hidden(view, story.start, _list_shown(story), set(story.tokens), found.value or {}))
    progress = tell_progress(found, "the tokens hidden")
    st.caption(
        f"{tell_pass(view)}{_tell_marked(story)} A token that moves the number much need not be on the way: "
        "the way follows the largest parts, and the number has thousands of them. "
        f"{progress or 'Each is a pass with [MASK] in its place.'}"
    )


def _tell_marked(story: Story) -> str:
    """Which tokens are hidden in turn, and which of these are on the way."""
    if _are_all_shown(story):
        return "Marked: the tokens on the way."
    return f"Only the tokens on the way, of {len(list_hideable(story.trace))} that can be hidden."
