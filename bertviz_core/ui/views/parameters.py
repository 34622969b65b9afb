"""The checkpoint on screen: how large each of its parts is, any tensor by any of its names, the list of all."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

import streamlit as st

from bertviz_core.analysis import parameters as analysis
from bertviz_core.analysis.claims import Claim, Part, Said, say
from bertviz_core.analysis.parameters import Tensor
from bertviz_core.checkpoint.hub import BUNDLED, read_card, read_summary
from bertviz_core.checkpoint.model import Model
from bertviz_core.documents.names import OF_DOCUMENTS, find_names
from bertviz_core.figures.areas import draw_areas
from bertviz_core.figures.base import Chart
from bertviz_core.formula.numbers import format_percent, format_short, write_size
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame import choices, state, style, url
from bertviz_core.ui.frame.chart import show_chart
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.state import Sent
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.names import write_css, write_table
from bertviz_core.ui.panels.said import tell_percent
from bertviz_core.ui.panels.tables import Column, render_table
from bertviz_core.ui.views.parameters_values import KIND, Window, choose_window

_TENSOR, _NAME = Key("tensor", ""), Key("name", "", 80)
_INVENTORY: Key[Sent] = Key("inventory", None)
_TABLE_PX = 420
_COUNTS = r"n_{\mathrm{attention}} = 4 L (d^2 + d), \quad n_{\mathrm{ffn}} = L (2 d m + m + d)"
_MAIN = ("embeddings", "feed-forward", "attention")  # the groups with a column of their own
_REST = "heads and LayerNorm"
_INKS = {
    "query": "query",
    "key": "key",
    "value": "value",
    "output": "attention",
    "LayerNorm": "norm",
    "into the neurons": "ffn",
    "out of the neurons": "ffn",
}  # kinds of vector whose colour a tile has
_BESIDE = re.compile(r"\[([^\[\]]+)\]\((?!https?:)[^)]*\)")
_STYLE = read_css(Path(__file__).with_name("parameters.css"))


def write_headline(view: View) -> Said:
    """How many numbers there are, and which part of them are word embeddings."""
    tensors = analysis.read_tensors(view.trace)
    words = next(sums for sums in analysis.count_kinds(tensors).values())["word embeddings"]
    total = view.trace.model.parameter_count
    return say(
        "What was learned? ",
        Claim(
            "parameters",
            "**{total}** numbers: **{words}** of them are word embeddings",
            {"words": tell_percent(words / total), "total": Part(total, write_size)},
        ),
    )


def show_sizes(view: View) -> None:
    """How large each part of the model is, as areas, and the sums of its groups beside them."""
    model, tensors = view.trace.model, analysis.read_tensors(view.trace)
    sums = analysis.count_groups(tensors)
    heading = Heading(
        "Where the numbers are",
        "areas are counts; layers are added up",
        _COUNTS,
        f"L = {model.config.num_hidden_layers}, d = {model.config.hidden_size}, m = {model.config.intermediate_size:,}",
    )
    with open_card(view, KIND, heading, "of all tensors of the checkpoint"):
        drawn, side = st.columns([8, 11], gap="small")
        with drawn.container():  # of its own: on a narrow phone it scrolls
            show_chart(_draw(view, tensors), "parameter-areas", "Every part of the model as an area")
        with side, st.container(key="wide-groups"):
            products, counts = analysis.write_products(tensors), [*sums.values(), model.parameter_count]
            columns = [Column("from sizes", [*(products[name] for name in sums), ""]), Column("numbers", counts)]
            st.html(_STYLE + render_table("group", [*sums, "all"], columns))


def _draw(view: View, tensors: Sequence[Tensor]) -> Chart:
    kinds = analysis.count_kinds(tensors)
    rest = {name: count for group, counts in kinds.items() if group not in _MAIN for name, count in counts.items()}
    columns = {group: kinds[group] for group in _MAIN} | {_REST: rest}
    inks = {
        name: view.colors.kinds[_INKS.get(name, "embedding" if group == _MAIN[0] else "prediction")]
        for group, counts in columns.items()
        for name in counts
    }
    return draw_areas(columns, inks, view.colors)


def choose_tensor(view: View) -> tuple[Tensor, Window]:
    """A line of fields: any name of a tensor, the found ones to choose from, which part of the chosen one to draw."""
    tensors = analysis.read_tensors(view.trace)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="tensor-fields"):
        found = _search(view, tensors)
        addresses = [tensor.address for tensor in found]
        url.bind(_TENSOR, addresses, addresses[0])
        chosen = found[addresses.index(_offer(addresses))]
        return chosen, choose_window(view, chosen)


def _offer(addresses: Sequence[str]) -> str:
    return st.selectbox("Tensor", addresses, key=_TENSOR.name, label_visibility="collapsed")


def _search(view: View, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
    """The tensors with the name that is typed, the likeliest first; all of them where nothing has it."""
    url.bind(_NAME)
    asked = st.text_input(
        "Name",
        key=_NAME.name,
        max_chars=_NAME.longest,
        width=280,
        label_visibility="collapsed",
        placeholder="Any of its names: W_Q, query.weight …",
    )
    if not asked.strip():
        return tensors
    found = analysis.find_tensors(tensors, asked, view.chosen.layer)
    told = f"{len(found)} of {len(tensors)} tensors" if found else "Nothing has this name: all tensors"
    st.markdown(f":small[{told}]", width="content")
    return found or tensors


def show_names(view: View, tensor: Tensor) -> None:
    """What the tensor is for, what it is called elsewhere, and the formulas that read it."""
    own = find_names(tensor.address)
    tied = f" The same numbers as `{tensor.same_as}`: the two are tied." if tensor.same_as else ""
    share = format_percent(tensor.counted / view.trace.model.parameter_count)
    first = (
        f"$\\displaystyle {tensor.symbol.tex}$ &ensp; {own.meaning}{tied} `{tensor.address}` "
        f"({tensor.named_shape}: {tensor.size:,} numbers, {share} of all){_write_stored(tensor)}."
    )
    paint = style.make_painter(view.colors)
    read = "".join(
        f" Read by `{step.address}`: $\\displaystyle {step.typeset(paint)}$."
        for step in analysis.find_readers(view.trace.program, tensor.address)
    )
    st.html(write_css())
    st.markdown(write_table("Its names", [(first + read, own)]), unsafe_allow_html=True)


def _write_stored(tensor: Tensor) -> str:
    """How the file has it, where formulas have it transposed."""
    if not tensor.turned:
        return ""
    rows, columns = tensor.stored_shape
    return f" In the file {rows:,} × {columns:,}: (out, in), the other way round"


def show_config(view: View) -> None:
    """The config that says how to use the numbers, the sums of each part, and what of the file is not used."""
    model, tensors = view.trace.model, analysis.read_tensors(view.trace)
    sums = analysis.count_parts(tensors)
    with open_card(view, KIND, "Parts and config.json", ", ".join(model.heads) or "no heads"):
        left, right = st.columns([8, 11], gap="small")
        with left:
            shares = Column(
                "% of all",
                [100 * count / model.parameter_count for count in sums.values()],
                view.colors.kinds[KIND],
                100.0,
                write=format_short,
            )
            st.html(render_table("part", list(sums), [Column("numbers", list(sums.values())), shares]))
        with right:
            st.html(_STYLE + _render_config(model))
        st.caption(_describe(model, sum(not tensor.same_as for tensor in tensors)))
        if model.unused:
            st.caption(f"In the checkpoint, but not used by BERT: {escape_markdown(', '.join(model.unused))}")


def _describe(model: Model, own: int) -> str:
    """Which checkpoint it is. own: how many tensors it has."""
    return (
        f"{escape_markdown(model.name)}, revision {escape_markdown(model.revision)}: {model.parameter_count:,} numbers "
        f"in {own} tensors, {model.nbytes:,} bytes as {str(model.dtype).removeprefix('torch.')}. A tied tensor is "
        "counted once, where it first appears."
    )


def _render_config(model: Model) -> str:
    """config.json as three columns of which the last one wraps."""
    rows = "".join(
        f"<dt><code>{row['name']}</code></dt><dd><b>{escape(row['value'])}</b></dd><dd>{row['what it decides']}</dd>"
        for row in analysis.list_config(model.config)
    )
    return f'<dl class="bv-config">{rows}</dl>'


def show_table(view: View) -> None:
    """The list of all tensors; a click on a row chooses one."""
    model, tensors = view.trace.model, analysis.read_tensors(view.trace)
    addresses = [tensor.address for tensor in tensors]
    chosen = addresses.index(state.read(_TENSOR))
    state.write(_INVENTORY, {"selection": {"rows": [chosen], "columns": [], "cells": []}})
    st.dataframe(
        _list_columns(model, tensors),
        key=_INVENTORY.name,
        hide_index=True,
        height=_TABLE_PX,
        alt="All tensors",
        selection_mode="single-row-required",
        on_select=lambda: _take(addresses),
        column_config={
            "% of all": st.column_config.NumberColumn(format="%.3f %%"),
            "numbers": st.column_config.NumberColumn(format="localized"),
        },
    )
    st.caption(
        "Choose a row at its left to show that tensor above. The last columns: its name in each document. A "
        "weight is written as (in, out): one row per input, one column per output."
    )


def has_card(view: View) -> bool:
    """Whether it is known who trained the model, and on what: of the bundled one it is."""
    return view.trace.model.name == BUNDLED


def tell_training(view: View) -> str:
    """Who trained the model and on what, in short, where that is known."""
    return read_summary() if has_card(view) else ""


def show_card() -> None:
    """The model's card, without its title and what links to files beside it."""
    _, _, text = read_card().partition("\n")
    st.markdown(_BESIDE.sub(r"\1", text))


def _take(addresses: Sequence[str]) -> None:
    rows: Sequence[int] = state.read_event(_INVENTORY, "selection")["rows"]
    if rows:
        choices.choose({_NAME: "", _TENSOR: addresses[rows[0]]})


def _list_columns(model: Model, tensors: Sequence[Tensor]) -> Mapping[str, Sequence[object]]:
    rows = [find_names(tensor.address) for tensor in tensors]
    columns = {
        "symbol": [analysis.write_plain_symbol(tensor.symbol.tex) for tensor in tensors],
        "name": [tensor.address for tensor in tensors],
        "shape": [tensor.named_shape for tensor in tensors],
        "in the file": [" × ".join(f"{size:,}" for size in tensor.stored_shape) for tensor in tensors],
        "numbers": [tensor.size for tensor in tensors],
        "% of all": [100 * tensor.counted / model.parameter_count for tensor in tensors],
        "tied to": [tensor.same_as for tensor in tensors],
    }
    return columns | {
        title: [analysis.write_plain_symbol(getattr(names, source)) for names in rows]
        for source, title in OF_DOCUMENTS.items()
    }
