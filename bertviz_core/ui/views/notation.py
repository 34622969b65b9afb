"""The glossary on screen: one row a quantity, one column a source, a table for each stage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape

import numpy as np
import streamlit as st

from bertviz_core.analysis.claims import Claim, Part, Said, say
from bertviz_core.analysis.notation import AXIS, Entry, list_axes, list_of_model, search_entries
from bertviz_core.documents import DOCUMENTS
from bertviz_core.documents.names import SOURCES
from bertviz_core.figures.bars import draw_counts
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import AXES, CONCAT, HEAD, HEAD_DIM, TOKEN_AXES
from bertviz_core.formula.stages import Stage
from bertviz_core.formula.steps import INPUT, NORM, PARAMETER
from bertviz_core.formula.texts import join_words, write_count
from bertviz_core.ui.frame import site, state, style, url
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import open_card
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived
from bertviz_core.ui.panels.fold import fold
from bertviz_core.ui.panels.names import IN_CODE, IN_FORMULAS, write_css, write_table
from bertviz_core.ui.panels.panel import choose_cell, format_shape
from bertviz_core.ui.views.notation_one import ENTRY, find_open, is_first, show_one

_KINDS = {"all": "All", "steps": "Steps", "parameters": "Parameters", "inputs": "Inputs", "axes": "Axes"}
_SOURCES = f"{len(DOCUMENTS)} documents and {len(SOURCES) - len(DOCUMENTS)} code bases"
_MAP = 228  # pixels: the height of the map of who names what
_SLANT = [0, -40]  # degrees: of the sources' names, where they have room beside each other, and where they have not
_FORMULAS = "formulas"
_WHERE = {_FORMULAS: "In formulas", "code": "In code"}
_NAMED = {_FORMULAS: IN_FORMULAS, "code": IN_CODE}  # the sources
_IN = Key("names", _FORMULAS)
_FIND = Key("find", "", 80)
_KIND = Key("kind", "all")


@dataclass(frozen=True)
class _Group:
    """Entries that stand in one table: those of a stage, with the page that shows it, or others."""

    name: str
    title: str
    page: site.PageInfo | None = None


def show_differences() -> None:
    """What each document leaves out, adds or writes otherwise."""
    st.markdown("\n".join(f"- **{document.name}**: {document.what} {document.differs}" for document in DOCUMENTS))


@derived
def show_lengths(view: View) -> Derived:
    """How long every axis is in this pass, as a chart."""
    found = {name: size for name in AXES if (size := _find_length(view, name))}
    growing = join_words([name for name in found if name in TOKEN_AXES])
    return Derived(
        "axis-lengths",
        "Length of every axis in this forward pass",
        draw_counts(list(found.values()), list(found), view.colors, view.colors.kinds[NORM], name="length"),
        Origin(
            "the config and the input",
            NORM,
            rf"{CONCAT.latex} = {HEAD.latex} \cdot {HEAD_DIM.latex}",
            f"All shapes use these names. The {growing} axes grow with the input; all "
            "others are fixed by the model. The concatenated heads have heads × components per head.",
            worked=rf"{CONCAT.latex} = {found[HEAD.name]} \cdot {found[HEAD_DIM.name]} = {found[CONCAT.name]}",
        ),
        values=Values(np.array([list(found.values())]), ["length"], list(found)),
    )


@derived
def show_coverage(view: View) -> Derived:
    """Which part of each stage's quantities every source has a name for."""
    groups = {group: rows for group, rows in _list_groups(view).items() if group.page and rows}
    counts = [[_count_names(rows, (source,)) for source in SOURCES] for rows in groups.values()]
    sizes = [len(rows) for rows in groups.values()]
    shares = np.array([[count / size for count in row] for row, size in zip(counts, sizes, strict=True)])
    sources, stages = list(SOURCES.values()), [group.title for group in groups]
    totals = [f"{stage} · {size}" for stage, size in zip(stages, sizes, strict=True)]
    chart = draw_heatmap(
        shares,
        Side("", totals),
        Side("", sources, angle="auto"),
        view.colors,
        NORM,
        share=True,
        end=1.0,
        height=_MAP,
        texts=[[str(count) for count in row] for row in counts],
    )
    told = {**chart.traces[0], "showscale": False}  # each cell says its share
    layout = {
        **chart.layout,
        "margin": {**chart.layout["margin"], "t": 4, "b": 4},
        "xaxis": {**chart.layout["xaxis"], "autotickangles": _SLANT},
    }
    return Derived(
        "names-shares",
        "Who names what",
        replace(chart, traces=(told,), layout=layout),
        Origin(
            "the glossary",
            NORM,
            r"s = n_{\mathrm{named}} / n",
            "of each stage’s quantities, how many a source has a name for",
        ),
        values=Values(shares, stages, sources),
    )


def choose_search() -> tuple[str, str, str]:
    """The words to look for, the kind of quantity to show, and whose names."""
    url.bind(_FIND)
    url.bind(_IN, _WHERE)
    url.bind(_KIND, _KINDS)
    text = st.text_input(
        "Find",
        key=_FIND.name,
        max_chars=_FIND.longest,
        width=350,
        label_visibility="collapsed",
        placeholder="A name from any source: W_T, hook_pattern, γ, kernel …",
    )
    kind = st.segmented_control(
        "Show",
        list(_KINDS),
        key=_KIND.name,
        format_func=_KINDS.__getitem__,
        label_visibility="collapsed",
        required=True,
    )
    where = st.segmented_control(
        "Names",
        list(_WHERE),
        key=_IN.name,
        format_func=_WHERE.__getitem__,
        label_visibility="collapsed",
        required=True,
    )
    return text, kind or "all", where or _FORMULAS


def write_headline(view: View) -> Said:
    """How many quantities there are, and how often a source has a name for one; one name can stand for several."""
    entries = [entry for rows in _list_groups(view).values() for entry in rows]
    return say(
        "What is it called elsewhere? ",
        Claim(
            "names",
            f"**{{quantities}}** quantities, named **{{names}}** times in {_SOURCES}",
            {"quantities": Part(len(entries)), "names": Part(_count_names(entries))},
        ),
    )


def _count_names(entries: Sequence[Entry], sources: Iterable[str] = SOURCES) -> int:
    return sum(bool(getattr(entry.names, source)) for entry in entries for source in sources)


def show_entries(view: View) -> None:
    """What is asked for, in one table; otherwise all, first the group of what is open at first, the others folded."""
    st.html(write_css())
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        text, kind, where = choose_search()
        groups = {
            group: [entry for entry in search_entries(rows, text) if kind in ("all", _find_kind(entry))]
            for group, rows in _list_groups(view).items()
        }
        lead = next(group for group, rows in _list_groups(view).items() if is_first(rows))
        found = [entry for rows in groups.values() for entry in rows] if text.strip() or kind != "all" else None
        if found is not None:
            st.caption(f"{_count(found).capitalize()}." if found else "Nothing has this name. Try a shorter one.")
        elif lead.page:
            site.show_link(lead.page, "See the values")
    if found is not None:
        if found:
            _show_tables(view, "Found", found, _WHERE)
        return
    _show_tables(view, lead.title, groups.pop(lead), [where])
    for group, rows in groups.items():
        if rows:
            with fold(group.name, f"**{group.title}** · {_count(rows)}") as opened:
                if opened:
                    _show_tables(view, group.title, rows, [where])
                    if group.page:
                        site.show_link(group.page, "See the values")


def _list_groups(view: View) -> dict[_Group, list[Entry]]:
    """Every entry, in the order of the computation, by its stage."""
    groups = dict[_Group, list[Entry]]()
    entries, absent = list_of_model(view.trace.model, view.chosen.layer)
    for stage in Stage:
        info = site.find_page(stage)
        groups[_Group(info.name, info.title, info)] = [entry for entry in entries if entry.stage is stage]
    groups[_Group("absent", "Heads that this checkpoint does not have")] = absent
    groups[_Group("axes", "Axes of the tensors")] = list_axes()
    return groups


def _count(rows: Sequence[Entry]) -> str:
    return write_count(len(rows), "entry", "entries")


def _show_tables(view: View, title: str, rows: Sequence[Entry], shown: Iterable[str]) -> None:
    """What quantities are called. shown: in formulas, in code, or both."""
    for which in shown:
        see = f"{title} {_WHERE[which].lower()}"
        write = _write_entry if which == _FORMULAS else _write_meaning
        table = write_table("here", [(write(view, row), row.names) for row in rows], _NAMED[which])
        with open_card(view, "", see, "of the documents and code bases", name=f"{which}-{rows[0].symbol.address}"):
            st.markdown(table, unsafe_allow_html=True)


def _write_entry(view: View, entry: Entry) -> str:
    """A quantity's symbol, what it means, and its address with its shape or length, each in a column of its own."""
    address = entry.symbol.address
    size = format_shape(view.trace, address) if address in view.trace else _write_size(view, address)
    return _align(view, entry, f"`{address}` {size}")


def _write_meaning(view: View, entry: Entry) -> str:
    return _align(view, entry)


def show_lead(view: View) -> None:
    """One quantity in every source's words; beside it how much each source has a name for."""
    entry = find_open([entry for rows in _list_groups(view).values() for entry in rows])
    one, all_of_them = st.columns([7, 5], gap="small")
    with one:
        show_one(view, entry, _write_symbol(view, entry))
    with all_of_them:
        show_coverage(view)


def _align(view: View, entry: Entry, *more: str) -> str:
    key = entry.names.key
    pressed = str(key == state.read(ENTRY)).lower()
    meaning = (
        f'<button class="bv-meaning" data-choose="{ENTRY.name}={key}" aria-pressed="{pressed}">{entry.meaning}</button>'
    )
    parts = (f"<span>{part}</span>" for part in (_write_symbol(view, entry), meaning, *more))
    return f'<span class="bv-entry">{"".join(parts)}</span>'


def _write_symbol(view: View, entry: Entry) -> str:
    """The symbol; of what has numbers, a button that works its strongest one at the chosen token out."""
    symbol, where = rf"$\displaystyle {style.make_painter(view.colors)(entry.symbol)}$", entry.symbol.address
    if where not in view.trace:
        return symbol
    cell = escape(str(choose_cell(view, Address(where), {})))
    return f'<button class="bv-letter" data-cell="{cell}" aria-label="{where}, with numbers">{symbol}</button>'


def _write_size(view: View, axis: str) -> str:
    length = _find_length(view, axis)
    return f"= {length:,}" if length else ""


def _find_length(view: View, axis: str) -> int:
    """How long an axis is in this pass; 0 where nothing has it."""
    program = view.trace.program
    symbols = (*(step.output for step in program.steps), *program.leaves.values())
    known = AXES.get(axis)
    return view.trace.layout.size(known) if known and any(known in symbol.axes for symbol in symbols) else 0


def _find_kind(entry: Entry) -> str:
    return {INPUT: "inputs", PARAMETER: "parameters", AXIS: "axes"}.get(entry.symbol.kind, "steps")
