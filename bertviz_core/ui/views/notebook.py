"""The notebook's printed numbers beside ours: which checkpoint they need, one tensor in full, all in a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import streamlit as st

from bertviz_core.analysis import notebook
from bertviz_core.analysis.claims import Claim, Part, Said, say
from bertviz_core.analysis.notebook import Comparison
from bertviz_core.analysis.printed import Verdict
from bertviz_core.documents.printed import COLUMNS, MODEL, ROWS, SENTENCE, TENSORS, PrintedTensor
from bertviz_core.figures.bars import draw_curve
from bertviz_core.figures.base import SANS
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.figures.texts import Rich
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number
from bertviz_core.formula.steps import FFN, Step
from bertviz_core.programs.config import BertConfig
from bertviz_core.ui.frame import choices, style
from bertviz_core.ui.frame.keys import PAD
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.preparation import NO_PADDING
from bertviz_core.ui.frame.resources import list_models
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import table_html
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived
from bertviz_core.ui.panels.printed_grid import KEY, render_grid
from bertviz_core.ui.panels.tables import Column, render_table
from bertviz_core.ui.views.notebook_cells import show_page, write_program
from bertviz_core.ui.views.notebook_facts import count_same

NOTEBOOK = "notebook (001)"
_GELU = r"\mathrm{GELU}(x) = x \cdot \tfrac{1}{2} \left(1 + \mathrm{erf}\!\left(\tfrac{x}{\sqrt{2}}\right)\right)"
_COLUMNS = {
    "same digits": Verdict.SAME, "last digit": Verdict.NEAR, "rounding": Verdict.SINGLE, "differs": Verdict.DIFFERS,
}  # fmt: skip
_NUMBERS = sum(len(row) for printed in TENSORS for row in printed.digits)
_MAP = 262  # pixels: as high as what stands beside it
_CURVE = 262  # pixels
_APART = 0.05  # from one point of the curve to the next


def write_headline(view: View) -> Said:
    """How much there is to compare, and what of it can be told here."""
    found, numbers = compare_all(view), Part(_NUMBERS)
    if found:
        parts = {"numbers": numbers, "cells": Part(len(TENSORS)), "compared": Part(len(found))}
        form = "**{numbers}** numbers in {cells} cells, **{compared}** of these beside ours"
        return say("Is it computed as printed? ", Claim("printed numbers", form, parts))
    parts = {"numbers": numbers, "follow": Part(int(notebook.find_followers(*_read_pair()).sum()))}
    form = f"**{{follow}}** of {{numbers}} numbers follow from others printed; the rest need {_name_needs(view)}"
    return say("Is it computed as printed? ", Claim("printed numbers that follow", form, parts))


def _name_needs(view: View) -> str:
    """What this page lacks to compare all numbers, in a few words."""
    base, sentence = notebook.is_base(view.trace.model.config), notebook.is_sentence(view.trace)
    lacks = [*["BERT-base"] * (not base), *["the notebook’s sentence"] * (not sentence)]
    return " and ".join(lacks)


def compare_all(view: View) -> dict[str, Comparison]:
    """Every printed tensor compared, by its cell; none where the model or the sentence is not the notebook's."""
    trace = view.trace
    if not (notebook.is_base(trace.model.config) and notebook.is_sentence(trace)):
        return {}
    return {printed.cell: notebook.compare_printed(trace, printed) for printed in TENSORS if printed.address in trace}


def show_status(view: View, printed: PrintedTensor, found: dict[str, Comparison]) -> None:
    """How the numbers came out where they can be compared; else what can be told without, and what to load.

    printed: whose page here is a link away.
    """
    if found:
        _show_result(found)
        show_page(printed)
        return
    base, sentence = notebook.is_base(view.trace.model.config), notebook.is_sentence(view.trace)
    model = "" if base else f"the model {MODEL}"
    text = "" if sentence else f"the sentence “{SENTENCE}”"
    needs = escape_markdown(" and ".join(filter(None, (model, text))))
    with open_card(view, FFN, "What can be checked here", f"{_NUMBERS} printed numbers", name="checks"):
        checks, load = st.columns([3, 2], gap="small", vertical_alignment="center")
        with checks:
            st.html(_render_checks(view))
        with load:
            st.caption(f"To compare all {_NUMBERS} with ours, this page needs {needs}.")
            _show_buttons(base, sentence)
            show_page(printed)


def _render_checks(view: View) -> str:
    """Every check of this page: what it needs, and what comes of it here."""
    agree, (same, facts) = notebook.find_followers(*_read_pair()), count_same(view)
    checks = {
        "In [51] is GELU of In [49]": ("no model", f"{agree.sum()} of {agree.size}"),
        "sizes, settings, ids, texts": ("any model", f"{same} of {facts}"),
        f"all numbers of {len(TENSORS)} cells": (_name_needs(view), "not yet"),
    }
    rows = (table_html.write_row(name, table_html.write_cells(cells)) for name, cells in checks.items())
    table = table_html.write_table(table_html.write_heads(("check", "needs", "holds here")), rows)
    return table_html.write_region("Checks of this page", table, "bv-table bv-facts bv-checks")


def _show_result(found: dict[str, Comparison]) -> None:
    count = {kind: sum(one.count(kind) for one in found.values()) for kind in Verdict}
    total = sum(count.values())
    parts = [f"{number} {kind.value}" for kind, number in count.items() if number]
    text = f"Of {total} printed numbers, compared digit by digit: {', '.join(parts)}."
    if count[Verdict.DIFFERS] == 0:
        st.success(text, icon=":material/check:")
    else:
        st.warning(
            f"{text} The sizes match {MODEL}; if many numbers differ, these are other weights.",
            icon=":material/difference:",
        )


def _show_buttons(base: bool, sentence: bool) -> None:
    names, free = list_models()
    with st.container(horizontal=True):
        if not sentence:
            st.button("Use the notebook's sentence", key="notebook-sentence", on_click=_take_sentence)
        if not base and (free or MODEL in names):
            st.button(f"Load {MODEL}", key="notebook-model", on_click=_take_model)
    if not base and not free and MODEL not in names:
        st.caption(f"This server offers other models only: {', '.join(f'`{name}`' for name in names)}.")


def _take_sentence() -> None:
    choices.use_sentence(SENTENCE)
    choices.choose({PAD: NO_PADDING})


def _take_model() -> None:
    _take_sentence()
    choices.choose_model(MODEL)


def show_tensor(view: View, printed: PrintedTensor, found: dict[str, Comparison]) -> None:
    """One printed tensor, number by number, with ours beside it where it can be compared, and how."""
    _show_printed(view, printed, found.get(printed.cell))


@derived
def _show_printed(view: View, printed: PrintedTensor, comparison: Comparison | None) -> Derived:
    step, numbers = write_program().by_address[printed.address], notebook.read_printed(printed)
    axis = step.dims[-1]
    rows, columns = [f"token {i}" for i in ROWS], [f"d − {-j}" if j < 0 else str(j) for j in COLUMNS]
    held = numbers if comparison is None else np.hstack([numbers, comparison.values])
    names = columns if comparison is None else [*(f"{name}, printed" for name in columns), *columns]
    return Derived(
        "notebook-tensor",
        f"In [{printed.cell}]: {printed.what}",
        draw_heatmap(
            numbers,
            Side("token", list(map(str, ROWS))),
            Side(axis, columns, angle=0, standoff=16),
            view.colors,
            step.kind,
            name_inside=True,
            height=_MAP,
            texts=[[_break_exponent(text.replace("-", "−")) for text in line] for line in printed.digits],
            face=SANS,
        ),
        Origin(
            f"{printed.address} (token 12 × {axis} {_choose_width(step)})",
            step.kind,
            step.typeset(style.make_painter(view.colors)),
            f"{step.meaning}{_write_remark(printed)}",
            _write_worked(view, printed, comparison),
            f"{NOTEBOOK}, In [{printed.cell}]; {step.source}",
        ),
        values=Values(held, rows, names),
        note=_describe(comparison),
        beside=None if comparison is None else lambda: _show_grid(axis, rows, columns, printed, comparison),
    )


def _break_exponent(text: str) -> str:
    """A printed number with its exponent in a line of its own: in a line it has no room in a cell of a phone."""
    digits, mark, exponent = text.partition("e")
    return Rich(f"{digits}<br>{mark}{exponent}") if mark else text


def _show_grid(
    axis: str, rows: Sequence[str], columns: Sequence[str], printed: PrintedTensor, comparison: Comparison
) -> None:
    with st.container(key="wide-grid"):
        st.html(render_grid(axis, rows, columns, printed.digits, comparison.values, comparison.verdicts))


def _describe(comparison: Comparison | None) -> str:
    shown = "The notebook prints the first three and last three rows, and the first and last three numbers of each."
    if comparison is None:
        return f"{shown} Shown: the printed numbers."
    return f"{shown} Shown: the printed numbers. Largest difference: {format_number(comparison.largest)}. {KEY}"


def _write_remark(printed: PrintedTensor) -> str:
    if printed.epsilon is None:
        return f" {escape_markdown(printed.remark)}" if printed.remark else ""
    return (
        r" The notebook's LayerNorm before it, In \[46\], uses PyTorch's ε = 10⁻⁵, where BERT uses 10⁻¹²; our value "
        "here is computed with the notebook's ε."
    )


def _write_worked(view: View, printed: PrintedTensor, comparison: Comparison | None) -> str:
    """The first printed cell with our numbers, where it is computed as BERT has it."""
    if comparison is None or printed.epsilon is not None:
        return ""
    where = Address(printed.address)
    return view.trace.explain(where.fix(**dict.fromkeys(view.trace.dims(where), 0))).latex


def _choose_width(step: Step) -> int:
    return BertConfig().sizes[step.dims[-1]]


def show_summary(view: View, found: dict[str, Comparison]) -> None:
    """All printed tensors with their verdicts, or with where ours would stand."""
    names = [f"In [{printed.cell}]  {printed.address}: {printed.what}" for printed in TENSORS]
    results = [found.get(printed.cell) for printed in TENSORS]
    numbers = [notebook.read_printed(printed) for printed in TENSORS]
    columns = [Column("numbers", [each.size for each in numbers])]
    if found:
        columns += [Column(name, [one and one.count(kind) for one in results]) for name, kind in _COLUMNS.items()]
        columns.append(Column("largest difference", [one and one.largest for one in results]))
    else:
        columns += [
            Column("smallest printed", [float(each.min()) for each in numbers]),
            Column("largest printed", [float(each.max()) for each in numbers]),
        ]
    heading = Heading(
        "All printed tensors",
        "",
        r"\mathrm{round}(x) = x_{\mathrm{printed}}",
        "same digits: ours, rounded, is the printed one" if found else NOTEBOOK,
    )
    with (
        open_card(view, FFN, heading, f"{len(TENSORS)} cells, {_NUMBERS} numbers"),
        st.container(key="wide-printed"),
    ):
        st.html(render_table("cell and address", names, columns))


def explain_verdicts() -> None:
    """What the columns of that table count."""
    st.caption(
        "Same digits: our number, rounded, is the printed one. Last digit: off by one, as happens when the same terms "
        "are added in another order. Rounding: equal in single precision, where GELU far below 0 keeps fewer digits "
        "than are printed. A dash: not compared yet."
    )


def _read_pair() -> tuple[PrintedTensor, PrintedTensor]:
    """Two printed tensors, of which the second is a function of the first."""
    inputs, outputs = (next(p for p in TENSORS if p.cell == number) for number in ("49", "51"))
    return inputs, outputs


@derived
def show_itself(view: View) -> Derived:
    """Two printed tensors against each other: this needs no model."""
    inputs, outputs = _read_pair()
    x, y = notebook.read_printed(inputs), notebook.read_printed(outputs)
    agree, line = notebook.find_followers(inputs, outputs), _span(x)
    points = np.stack([x.ravel(), y.ravel()], axis=1)
    held = np.vstack([points, np.stack([line, notebook.compute_gelu(line)], axis=1)])
    names = [f"printed {i}" for i in range(len(points))] + [f"curve {i}" for i in range(len(line))]
    return Derived(
        "notebook-gelu",
        f"{agree.sum()} of {agree.size} numbers of In [51] are GELU of those of In [49]",
        draw_curve(
            line,
            notebook.compute_gelu(line),
            x.ravel(),
            y.ravel(),
            view.colors,
            view.colors.kinds[FFN],
            height=_CURVE,
            size=9,
        ),
        Origin(
            "the notebook's cells 49 and 51",
            FFN,
            _GELU,
            "GELU of the printed pre-activations gives the printed activations, number by number. This "
            "check needs no model.",
            rf"\mathrm{{GELU}}({x[0, 0]:.4f}) = {notebook.compute_gelu(x[0, :1])[0]:.7f}",
            f"{NOTEBOOK}, In [49] and In [51]",
        ),
        values=Values(held, names, ["pre-activation", "activation"]),
        note=f"Each point is one printed pair on the GELU curve. {_tell_lowest(inputs, outputs)}",
    )


def _span(x: np.ndarray) -> np.ndarray:
    """Where the curve is drawn: in even steps over all printed inputs, as far as the next half on each side."""
    low, high = math.floor(2 * x.min()) / 2, math.ceil(2 * x.max()) / 2
    return np.linspace(low, high, round((high - low) / _APART) + 1)


def _tell_lowest(inputs: PrintedTensor, outputs: PrintedTensor) -> str:
    """What single precision does at the lowest printed input, where most is lost."""
    x = notebook.read_printed(inputs)
    row, column = np.unravel_index(int(x.argmin()), x.shape)
    typed, printed = (each.digits[row][column].replace("-", "−") for each in (inputs, outputs))
    exact = format_number(float(notebook.compute_gelu(x[row, column][None])[0]))
    return (
        f"At x = {typed} the notebook prints {printed}; in exact arithmetic it is {exact}: in single precision "
        "1 + erf(x/√2) nearly cancels there and keeps only two or three digits."
    )
