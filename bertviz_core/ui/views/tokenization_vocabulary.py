"""A search through the vocabulary."""

from __future__ import annotations

import numpy as np
import streamlit as st

from bertviz_core.analysis import vocabulary
from bertviz_core.analysis.predictions import PROBS
from bertviz_core.analysis.vocabulary import CONTAINS, EMPTY, IDS, PIECE, PREFIX, SPECIAL, UNUSED, WHOLE
from bertviz_core.errors import InputError
from bertviz_core.figures.bars import draw_counts
from bertviz_core.formula.dims import VOCAB
from bertviz_core.formula.steps import EMBEDDING
from bertviz_core.formula.texts import write_count
from bertviz_core.ui.frame import url
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived
from bertviz_core.ui.panels.tables import Column, render_table

_WAYS = {PREFIX: "begins with", CONTAINS: "contains", IDS: "has the id"}
_PLURALS = {
    WHOLE: "whole words and signs",
    PIECE: "pieces",
    SPECIAL: "special tokens",
    UNUSED: "placeholders",
    EMPTY: "rows without an entry",
}
_SHOWN = 60
_SEARCH_BY = Key("search-by", PREFIX)
_SEARCH = Key("search", "", 100)


@derived
def show_census(view: View) -> Derived:
    """What the vocabulary is made of."""
    tokenizer = view.trace.model.tokenizer
    kinds = vocabulary.count_kinds(tokenizer.vocabulary, tokenizer.special_tokens)
    found = {_PLURALS[kind]: count for kind, count in kinds.items() if count}
    total = len(tokenizer.vocabulary)
    return Derived(
        "vocabulary-census",
        f"The {total:,} entries of the vocabulary, by kind",
        draw_counts(list(found.values()), list(found), view.colors, view.colors.kinds[EMBEDDING], name="rows"),
        Origin(
            "the tokenizer's files",
            EMBEDDING,
            rf"{VOCAB.latex} = \sum_{{\mathrm{{kind}}}} n_{{\mathrm{{kind}}}}",
            f"BERT can read {'and predict ' if PROBS in view.trace else ''}only these. "
            "An entry's id is its row in the word embedding matrix.",
            worked=f"{VOCAB.latex} = {' + '.join(map(str, found.values()))} = {total}",
        ),
        values=Values(np.array([list(found.values())]), ["rows"], list(found)),
    )


def show_search(view: View) -> None:
    """Entries by their beginning, by what they contain, or by id; with their ids."""
    url.bind(_SEARCH_BY, _WAYS)
    url.bind(_SEARCH)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        how = st.segmented_control(
            "An entry that",
            list(_WAYS),
            required=True,
            key=_SEARCH_BY.name,
            format_func=_WAYS.__getitem__,
        )
        text = st.text_input(
            "Search the vocabulary",
            key=_SEARCH.name,
            max_chars=_SEARCH.longest,
            width=340,
            placeholder="2003, or 2000-2010" if how == IDS else "token, or ##ing for pieces",
        )
    if not text.strip():
        st.caption("Type to search; upper and lower case are the same. Pieces that continue a word begin with `##`.")
        return
    try:
        _show_found(
            view,
            vocabulary.search_vocabulary(view.trace.model.tokenizer.vocabulary, text, how or PREFIX),
            text,
            how or PREFIX,
        )
    except InputError as error:
        st.info(escape_markdown(str(error)))


def _show_found(view: View, ids: list[int], text: str, how: str) -> None:
    entries, special = view.trace.model.tokenizer.vocabulary, view.trace.model.tokenizer.special_tokens
    if not ids:
        last = f" Ids go from 0 to {len(entries) - 1}." if how == IDS else ""
        st.info(escape_markdown(f"No entry {_WAYS[how]} “{text.strip()}”.{last}"))
        return
    first = f" The first {_SHOWN}:" if len(ids) > _SHOWN else ""
    st.markdown(escape_markdown(f"{write_count(len(ids), 'entry', 'entries')}.{first}"))
    shown, read = ids[:_SHOWN], view.trace.encoding.ids
    columns = [
        Column("id", [str(i) for i in shown]),
        Column("kind", [vocabulary.classify(entries[i], special) for i in shown]),
    ]
    if set(shown) & set(read):
        columns.append(Column("in this input", [_write_places(i, read) for i in shown]))
    with st.container(key="vocabulary-table"):
        st.html(render_table("entry", [view.trace.model.tokenizer.name(i) for i in shown], columns))


def _write_places(token_id: int, read: tuple[int, ...]) -> str:
    """At which positions an entry stands."""
    places = [str(place) for place, i in enumerate(read) if i == token_id]
    return f"position {', '.join(places[:6])}{' …' if len(places) > 6 else ''}" if places else ""
