"""Where a number comes from: the formula worked, what it says in words, the picture of its operands."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from bertviz_core.analysis.claims import Part, say_largest
from bertviz_core.analysis.made_from import is_put, say_changed
from bertviz_core.analysis.parts import WITHOUT, Parts, take_apart
from bertviz_core.formula.address import Where
from bertviz_core.formula.explain import Explanation
from bertviz_core.formula.numbers import format_number, format_percent
from bertviz_core.formula.texts import name_token, write_count
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import style
from bertviz_core.ui.frame.cell_names import shorten
from bertviz_core.ui.frame.chart import show_chart
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.walk.operand_charts import choose_chart
from bertviz_core.ui.walk.what_if_cell import describe_change


@dataclass(frozen=True)
class Explained:
    """A number, worked out and taken apart."""

    why: Explanation
    found: Parts


def work_out(view: View, cell: Where) -> Explained:
    """Work out a cell. Raises AddressError for what is none."""
    why = view.trace.explain(cell)
    return Explained(why, take_apart(view.trace, why))


def draw_operands(view: View, key: str, shown: Explained, **size: int) -> None:
    """The chart of what a computed number was made from, and how to read it. size: as `choose_chart` has it."""
    chart, note = choose_chart(view, shown.why, shown.found, **size)
    show_chart(chart, f"operands-{key}", note)
    st.caption(note)


def write_text(view: View, why: Explanation) -> str:
    """Markdown: the formula in letters and with numbers, and how exactly they give the number."""
    if why.step is None:
        return "\n\n".join([_write_end(view, why), _mark_change(view, why)])
    operands = write_count(why.count, "operand")
    exact = (
        f"Recorded: {format_number(why.value)}. Recomputed in double precision from {operands}: "
        f"{format_number(why.recomputed)}. Difference: {format_number(abs(why.value - why.recomputed))}."
    )
    formulas = (f"$$\n{latex}\n$$" for latex in (view.typeset(why.step), style.break_lines(why.latex)))
    return "\n\n".join([*formulas, _mark_change(view, why), f":small[:gray[{exact}]]"])


def _mark_change(view: View, why: Explanation) -> str:
    said = describe_change(view, why)
    return f":small[**What if:** {said}.]" if said else ""


def _write_end(view: View, why: Explanation) -> str:
    where = why.cell
    if where.path in view.trace.model.parameters:
        return "A parameter of the checkpoint, learned in training. A walk back ends here."
    if is_put(view.trace, where):
        return f"{say_changed(view.trace, where)} A walk back ends here."
    token = view.trace.tokens[where.at["token"]]
    return escape_markdown(f"An input of the forward pass, made by the tokenizer for “{token}”. A walk back ends here.")


def write_words(trace: Trace, why: Explanation, found: Parts) -> str:
    """Markdown: the numbers as a sentence, where they support one."""
    if found.measure is WITHOUT and "key" in why.cell.at:
        return escape_markdown(_write_share(trace, why))
    if not found.measure.sums or len(found) < 2:
        return ""
    best = found.strongest(1)[0]
    parts = {
        "size": Part(found.weights[best], format_number),
        "amount": Part(float(found.amounts[best]), format_number),
        "name": Part(" × ".join(shorten(trace, operand) for operand in found[best].operands)),
    }
    said = say_largest(
        ("largest part", "The largest in size is {amount}, {name}"),
        ("no larger part", "None is larger in size than {amount}, {name}"),
        parts,
        found.weights,
        (best,),
    )
    total = format_number(float(found.amounts.sum()))
    return escape_markdown(f"A sum of {len(found):,} {found.measure.heading}s. {said}; their sum is {total}.")


def _write_share(trace: Trace, why: Explanation) -> str:
    at, tokens = why.cell.at, trace.tokens
    scores = dict(enumerate(why.sources[0].values))
    own = scores.pop(at["key"])
    said = (
        f"In head {at['head']}, {name_token(tokens, at['query'])} attends to {name_token(tokens, at['key'])} "
        f"with weight {format_percent(why.value)}: "
        f"the score is {format_number(own)}"
    )
    if not scores:
        return f"{said}, the only one."
    other = max(scores, key=scores.__getitem__)
    gap = own - scores[other]
    if not gap:
        return f"{said}, as high as that of {name_token(tokens, other)}."
    return (
        f"{said}, {format_number(abs(gap))} {'above' if gap > 0 else 'below'} "
        f"{'the next' if gap > 0 else 'the largest'}, {name_token(tokens, other)}."
    )
