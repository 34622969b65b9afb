"""The walk from number to number: the URL holds it, and links lead along it, on to an operand or back.

Links are HTML, drawn together with the text beside them; what a click on one asks for, the panel's picker sends.
"""

from __future__ import annotations

from html import escape

from bertviz_core.analysis.parts import Part, Parts
from bertviz_core.analysis.walk import choose_stops, tell_story
from bertviz_core.errors import AddressError
from bertviz_core.figures.palette import Palette
from bertviz_core.formula.address import Address, Where, read_address
from bertviz_core.formula.explain import Explanation
from bertviz_core.formula.numbers import format_number
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.components import load_component
from bertviz_core.ui.frame import state
from bertviz_core.ui.frame.cell_names import shorten

OFFERED = 12  # operands to walk on to

_picker = load_component("picker")


def read_walk(trace: Trace, panel: str) -> tuple[Where, ...]:
    """The walk that the URL holds, if it began in this panel; what is no address of the trace stays text."""
    return tuple(_read_step(trace, text) for text in state.read_drawer(panel))


def _read_step(trace: Trace, text: str) -> Where:
    try:
        cell = read_address(text)
        trace.axes(cell)
    except AddressError:
        return text
    return cell


def listen(trace: Trace, panel: str, way: tuple[Where, ...]) -> None:
    """Listens to clicks in a panel: on a cell of a chart, an operand, a crumb (or Close), the shortest story."""
    key = f"picker-{panel}"

    def sent(name: str) -> str:
        return state.read_event(key, name)

    _picker(
        key=key,
        on_cell_change=lambda: state.open_drawer(panel, [sent("cell")]),
        on_step_change=lambda: state.open_drawer(panel, [*way, sent("step")]),
        on_keep_change=lambda: state.open_drawer(panel, way[: int(sent("keep"))]),
        on_story_change=lambda: state.open_drawer(panel, _take_story(trace, way)),
    )


def render_crumbs(trace: Trace, colors: Palette, way: tuple[Where, ...]) -> str:
    """The cells walked through, each a way back, and the way out."""
    back = "".join(
        f'<button data-keep="{i}">{escape(_name_crumb(trace, place))} ›</button>' for i, place in enumerate(way[:-1], 1)
    )
    return (
        f'<nav class="bv-crumbs" aria-label="The walk so far" style="{_write_colors(colors)}">{back}'
        '<button data-keep="0" aria-label="Close">✕ Close</button></nav>'
    )


def _name_crumb(trace: Trace, place: Where) -> str:
    return shorten(trace, place) if isinstance(place, Address) else place


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
        'depend on the words.">Shortest story down to the input</button></div>'
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
    told = tell_story(trace, read_address(way[-1]))
    return (*way[:-1], *(told[i] for i in choose_stops(trace, told)))
