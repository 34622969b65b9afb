"""Why a story goes the way it goes, in words; all its steps as a table; what the answer is without each stop."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape

from bertviz_core.analysis.ablation import Without
from bertviz_core.analysis.claims import Part, say_largest
from bertviz_core.analysis.hiding import Hidden
from bertviz_core.analysis.naming import name_crumb
from bertviz_core.analysis.parts import ALONE, SLOPE, WITHOUT
from bertviz_core.analysis.walk import Choice, Turn
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number, format_percent
from bertviz_core.formula.steps import PREDICTION
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.cell_names import shorten
from bertviz_core.ui.frame.findings import WAITS
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import table_html
from bertviz_core.ui.panels.panel import write_value
from bertviz_core.ui.panels.tables import Column, render_table

_GOES_ON = {
    SLOPE.heading: "what it is a function of",
    WITHOUT.heading: "a score that moves it most",
    ALONE.heading: "the same number elsewhere",
}
_DEPENDS, _OR_PUT = " computed from the token ids", " or put there by a change"


def tell_choice(trace: Trace, turn: Turn) -> str:
    """Why the way led here from the number before; nothing where that is made of this number alone."""
    chosen = turn.choice
    if chosen is None or chosen.part.amount is None or chosen.measure in (ALONE, SLOPE):
        return ""
    parts = {
        "size": Part(chosen.weight, format_number),
        "name": Part(shorten(trace, turn.cell)),
        "amount": Part(chosen.part.amount, format_number),
        "heading": Part(chosen.measure.heading),
        "depends": Part(_tell_followed(chosen)),
    }
    if chosen.measure is WITHOUT:
        moves = "No other score{depends} moves {name} "
        forms = f"{moves}as much: without this one it would be {{amount}}.", f"{moves}more: without it {{amount}}."
    else:
        forms = (
            "Of the {heading}s of {name} the largest in size{depends}: {amount}.",
            "No {heading} of {name}{depends} is larger in size than this: {amount}.",
        )
    leads, shares = forms
    return say_largest(("part leads", leads), ("no part leads", shares), parts, chosen.rivals).text


def tell_passed(trace: Trace, turn: Turn) -> str:
    """A part that counts for more than the one followed, and is no answer to what this sentence did."""
    passed = turn.choice.passed if turn.choice else None
    if turn.choice is None or passed is None or passed.amount is None:
        return ""
    whole, heading, amount = shorten(trace, turn.cell), turn.choice.measure.heading, format_number(passed.amount)
    learned = all(operand.path in trace.model.parameters for operand in passed.operands)
    names = " × ".join(shorten(trace, operand) for operand in passed.operands)
    same = "for every sentence" if learned else "whatever the words are"
    return f"A {heading} of {whole} that is larger in size is the same {same}: {names}, {amount}."


def render_steps(
    view: View, turns: Sequence[Turn], stops: Sequence[int], shown: Sequence[int], followed: bool = True
) -> str:
    """The shown steps as rows: the number, a button that explains it; its value; if wanted, what of it is followed."""
    rows = (
        table_html.write_row(
            str(i + 1),
            table_html.write_cells(
                (
                    f'<button data-cell="{escape(str(turn.cell))}">{escape(shorten(view.trace, turn.cell))}</button>',
                    write_value(view, turn.cell),
                    *([name_part(turn)] if followed else ()),
                )
            ),
            "bv-stop" if i in stops else "",
        )
        for i in shown
        for turn in (turns[i],)
    )
    heads = table_html.write_heads(("no.", "name", "value", *(["goes on with"] if followed else ())))
    return table_html.write_region("Table by number", table_html.write_table(heads, rows), "bv-table bv-steps")


def name_part(turn: Turn) -> str:
    """Which of its parts the way takes."""
    if turn.choice is None or turn.choice.part.amount is None:
        return "–"
    heading = turn.choice.measure.heading
    if heading in _GOES_ON:
        return _GOES_ON[heading]
    largest = "the largest" if turn.choice.leads else "one of the largest"
    return f"{largest} {heading}{'' if turn.choice.leads else 's'}{_tell_followed(turn.choice)}"


def _tell_followed(choice: Choice) -> str:
    """Which parts could be followed; nothing where all could that count as much."""
    return f"{_DEPENDS}{_OR_PUT if choice.put else ''}" if choice.passed else ""


def render_without(view: View, start: Address, cells: Sequence[Address], without: Without) -> str:
    """The story's number with each stop set to 0 in turn, as far as that is known."""
    color = view.colors.kinds[PREDICTION]
    names = [f"{i + 1}. {name_crumb(view.trace, cell)}" for i, cell in enumerate(cells)]
    value, others = float(view.trace.recomputed(start)), [without.get(cell, WAITS) for cell in cells]
    column = _compare("without it", start, others, value, _find_end(value, others), color)
    return render_table("stop set to 0", names, [column], opens=("cell", cells))


def render_hidden(
    view: View, start: Address, shown: Sequence[Sequence[int]], marked: Collection[int | None], hidden: Hidden
) -> str:
    """The story's number with each of these tokens hidden in turn, as far as that is known. shown: the tokens of each
    of several tables side by side; marked: those whose rows stand out."""
    trace, color, value = view.trace, view.colors.kinds[PREDICTION], float(view.trace.recomputed(start))
    end = _find_end(value, [hidden.get(i) for part in shown for i in part])
    tables = (
        render_table(
            "token hidden" if len(shown) == 1 else f"hidden, {part[0]} to {part[-1]}",
            [f"{i} {trace.tokens[i]}" for i in part],
            [_compare("with it hidden", start, [hidden.get(i, WAITS) for i in part], value, end, color)],
            {row for row, i in enumerate(part) if i in marked},
            ("token", part),
        )
        for part in shown
    )
    return f'<div class="bv-beside">{"".join(tables)}</div>'


def _compare(
    name: str, start: Address, others: Sequence[float | str | None], value: float, end: float, color: str
) -> Column:
    """What a number becomes, beside a line at what it was. end: of the bars' scale."""
    write = format_percent if start.name == "probs" else format_number
    return Column(name, others, color, end, write=write, mark=value)


def _find_end(value: float, others: Sequence[float | str | None]) -> float:
    return max(abs(x) for x in (value, *others) if isinstance(x, float))
