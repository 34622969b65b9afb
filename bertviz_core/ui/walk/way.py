"""The walk from number to number: the URL holds it, and links lead along it, on to an operand or back.

Links are HTML, drawn together with the text beside them; what a click on one asks for, the listener sends.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from html import escape

from bertviz_core.analysis.parts import Part, Parts
from bertviz_core.analysis.walk import choose_stops, tell_story
from bertviz_core.errors import AddressError
from bertviz_core.figures.palette import Palette
from bertviz_core.formula.address import Address, Where
from bertviz_core.formula.explain import Explanation
from bertviz_core.formula.numbers import format_number
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.components import list_colors, load_component
from bertviz_core.ui.frame import choices, site, state, url
from bertviz_core.ui.frame.cell_names import shorten
from bertviz_core.ui.frame.follow import explain_clicked
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.state import Sent
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.frame.walked import read_cell

_LISTENER: Key[Sent] = Key("listener", None)
OFFERED = 12  # operands to walk on to

_listener = load_component("listener", isolated=False)


def list_lit(found: Parts) -> list[str]:
    """The operands that the page's pictures outline: those of the parts that count most."""
    return [str(operand) for i in found.strongest(OFFERED) for operand in found[i].operands]


def listen(view: View, way: tuple[Where, ...], lit: Sequence[str]) -> None:
    """Listen to clicks on the whole page: on a cell, an operand, a crumb, a token, a head, or whatever else the
    URL names (`data-choose="word=rome"`); ring the chosen cell.

    lit: the operands that are outlined where a chart draws them.
    """
    trace = view.trace

    def sent(name: str) -> str:
        return state.read_event(_LISTENER, name)

    def choose_head() -> None:
        layer, head = map(int, sent("head").split(","))
        choices.choose_head(layer, head)
        choices.ask_for_rerun()

    def choose_token() -> None:
        choices.choose_token(int(sent("token")))
        choices.ask_for_rerun()

    def choose() -> None:
        name, _, value = sent("choose").partition("=")
        url.choose_named(name, value)
        choices.ask_for_rerun()

    _listener(
        key=_LISTENER.name,
        data={"cell": str(way[-1]) if way else None, "operands": list(lit), "token": view.chosen.token,
              "caption": {"checkpoint": trace.model.name, "sentence": " / ".join(filter(None, (view.text, view.pair)))},
              "colors": list_colors(view.colors), "address": site.tell_address()},
        on_cell_change=lambda: explain_clicked(read_cell(sent("cell"))),
        on_step_change=lambda: choices.open_drawer([*way, read_cell(sent("step"))]),
        on_keep_change=lambda: choices.open_drawer(way[: int(sent("keep"))]),
        on_close_change=lambda: choices.open_drawer([]),
        on_story_change=lambda: choices.open_drawer(_take_story(trace, way)),
        on_head_change=choose_head,
        on_token_change=choose_token,
        on_choose_change=choose,
    )  # fmt: skip


def render_crumbs(trace: Trace, way: tuple[Where, ...]) -> str:
    """The cells walked through, each a way back, and the way out."""
    back = "".join(
        f'<button data-keep="{i}">{escape(_name_crumb(trace, place))} ›</button>' for i, place in enumerate(way[:-1], 1)
    )
    return (
        f'<nav class="bv-crumbs" aria-label="The walk so far">{back}'
        '<button data-close="yes" aria-label="Close">✕</button></nav>'
    )


def _name_crumb(trace: Trace, place: Where) -> str:
    """What a cell is called; what names no cell of the pass as it was written."""
    with suppress(AddressError):
        if isinstance(place, Address):
            trace.axes(place)
            return shorten(trace, place)
    return str(place)


def render_onward(trace: Trace, colors: Palette, why: Explanation, found: Parts) -> str:
    """The parts that count most as a table, each operand a step of the walk, and the whole walk at once."""
    if not len(found):
        return '<p class="bv-onward" tabindex="-1">This number has no operands.</p>'
    measure = found.measure
    titles = ("operand", measure.operand, *measure.columns, *([measure.heading] if measure.heading else []))
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in titles)
    rows = "".join(_render_row(trace, why, found[i]) for i in found.strongest(OFFERED))
    more = f"The {OFFERED} that count most, of {len(found):,}. " if len(found) > OFFERED else ""
    shared = ", ".join(
        f"{_render_step(trace, why, operand)} {format_number(trace[operand].item())}" for operand in found.shared
    )
    return (
        f'<div class="bv-onward" style="{_write_colors(colors)}"><table><caption>Walk back to</caption>'
        f"<tr>{head}</tr>{rows}</table>{f'<p>In each of them: {shared}</p>' if shared else ''}"
        f"<p>{more}{escape(measure.note)}</p>"
        '<button class="bv-story" data-story="all" title="At every step: the part that counts most of those that '
        'are computed from the token ids.">Shortest story down to the input</button></div>'
    )


def _render_row(trace: Trace, why: Explanation, part: Part) -> str:
    """One part: its operand, or the factors of a product; their values; its amount, if it has one."""
    steps = " × ".join(_render_step(trace, why, operand) for operand in part.operands)
    values = " × ".join(format_number(trace[operand].item()) for operand in part.operands)
    numbers = (*part.columns, *([] if part.amount is None else [part.amount]))
    cells = "".join(f"<td>{text}</td>" for text in (values, *map(format_number, numbers)))
    return f"<tr><td>{steps}</td>{cells}</tr>"


def _render_step(trace: Trace, why: Explanation, operand: Address) -> str:
    name = escape(shorten(trace, operand, why.cell.layer))
    return f'<button data-step="{escape(str(operand))}">{name}</button>'


def _write_colors(colors: Palette) -> str:
    return f"--accent:{colors.kinds['attention']};--faint:{colors.faint};--line:{colors.line}"


def _take_story(trace: Trace, way: tuple[Where, ...]) -> tuple[Where, ...]:
    *before, cell = way
    if not isinstance(cell, Address):
        return way
    told = tell_story(trace, cell)
    return (*before, *(told[i] for i in choose_stops(trace, told)))
