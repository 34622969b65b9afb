"""The page Patch's first card: the two passes, which token is matched with which, and what is measured of both."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, zip_longest
from math import ceil
from pathlib import Path

import numpy as np
import streamlit as st

from bertviz_core.analysis.patching import OF_HEADS
from bertviz_core.analysis.predictions import PROBS
from bertviz_core.errors import AddressError, InputError
from bertviz_core.figures.margins import measure_text
from bertviz_core.figures.patched import draw_way
from bertviz_core.figures.texts import bold
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_percent
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.formula.texts import join_words
from bertviz_core.tracing.changes import NOISY, write_changes
from bertviz_core.tracing.rewrites import NOISE, Rule
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame import choices, state, url
from bertviz_core.ui.frame.chart import show_chart
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.second import WITH_CHANGES
from bertviz_core.ui.frame.style import mark_mask, render_token
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.frame.walked import read_explained
from bertviz_core.ui.panels import table_html
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.derived import Values, show_values
from bertviz_core.ui.panels.pictures import write_picture
from bertviz_core.ui.views.patch import find_farthest
from bertviz_core.ui.views.patch_both import (
    DIRECTION,
    DIRECTIONS,
    INSTEAD,
    MEASURE,
    OF_WORDS,
    RESTORE,
    WORD,
    Both,
    Side,
    list_others,
    list_words,
    read_both,
    read_values,
    tell_measured,
    tell_token,
)
from bertviz_core.ui.views.patch_number import find_patch

_STYLE = read_css(Path(__file__).with_name("patch.css"))
_HIGH = 26  # pixels of the lines
_LETTERS, _BESIDE = 12, 4  # pixels of a token's letters, and around them
SEED = 7  # of the noise that is offered
_NOISED = f"{NOISY}LayerNorm"


def show_sentences(view: View) -> bool:
    """Both sentences and their measure; where nothing can be patched, why. Returns whether something can be."""
    st.html(_STYLE)
    try:
        both = read_both(view)
    except InputError as error:
        st.info(escape_markdown(str(error)), icon=":material/info:")
        return False
    if both is None:
        st.info("There is no second pass. Choose one at “with …” in the bar.", icon=":material/info:")
        return False
    if both.same:
        st.info("Twice the same pass: nothing differs. Choose another sentence at “with …”, or put noise on a word.",
                icon=":material/info:")  # fmt: skip
        _offer_noise(view)
        return False
    heading = Heading("Two passes, one measure", _tell_words(both))
    with open_card(view, ATTENTION, heading, str(both.measure.cell), name="sentences", chooses=True) as tools:
        source, target = read_values(both)
        names = [both.source.name, both.target.name]
        with tools:
            show_values("patched-way", Values(np.array([[source], [target]]), names, [tell_measured(both)]))
        _choose(view, both)
        rows, way = st.columns([66, 34], gap="small")
        with rows:
            st.html(_render_rows(view, both))
            if told := _tell_unmatched(both):
                st.caption(told)
        with way:
            marks = dict(zip(names, (source, target), strict=True))
            if (reached := _read_reached(both)) is not None:
                marks["with the patch in the drawer"] = reached
            chart = draw_way(marks, view.colors, view.colors.kinds[ATTENTION])
            show_chart(chart, "patched-way", f"The measure in both passes: {tell_measured(both)}")
            if told := tell_token(view, both):
                st.caption(escape_markdown(told))
    return True


def _read_reached(both: Both) -> float | None:
    """The measure after the patch that the drawer tells of, which is the head's that moves it farthest while nobody has
    asked for another; None where that is not known."""
    kept, where = both.wanted.recall(), read_explained()
    if kept is None or kept.value is None:
        return None
    try:
        place = find_patch(both.target.trace, where) if isinstance(where, Address) else None
    except AddressError:
        return None
    grid, row, column = place or (OF_HEADS, *find_farthest(kept.value.moved(OF_HEADS)))
    value = float(kept.value.grids[grid].values[row, column])
    return value if np.isfinite(value) else None


def _choose(view: View, both: Both) -> None:
    """Direction, measure and words."""
    names = (both.source.name, both.target.name) if both.restore else (both.target.name, both.source.name)
    labels = {RESTORE: " → ".join(names), DIRECTIONS[1]: " → ".join(names[::-1])}
    one, two = (both.source, both.target) if both.restore else (both.target, both.source)
    with st.container(horizontal=True, key="patch-choices", vertical_alignment="center"):
        st.segmented_control(
            "Direction",
            DIRECTIONS,
            format_func=labels.__getitem__,
            key=DIRECTION.name,
            required=True,
            label_visibility="collapsed",
            width="content",
            on_change=url.note_choice,
        )
        _show_menu("Measure", MEASURE, both.offered, both.kind, 170)
        if both.kind in OF_WORDS:
            words = [one.trace.model.tokenizer.token(i) for i in list_words(one, two)]
            for label, key, now in zip(("Word", "Less the word"), (WORD, INSTEAD), both.names, strict=False):
                _show_menu(label, key, words, now, 140, free=True)
        _offer_noise(view)


def _show_menu(label: str, key: Key[str], options: Sequence[str], now: str, width: int, *, free: bool = False) -> None:
    """A menu whose choice stands in the URL. free: whether anything can be typed into it."""
    offered = list(dict.fromkeys([*options, now]))
    menu = key.of("menu", now)  # after another choice it is another menu, which shows that

    def take() -> None:
        choices.choose({key: state.read(menu) or ""})

    st.selectbox(
        label,
        offered,
        offered.index(now),
        key=menu.name,
        label_visibility="collapsed",
        accept_new_options=free,
        width=width,
        on_change=take,
    )


def _offer_noise(view: View) -> None:
    """Noise on the chosen token in place of a second sentence."""
    trace, token = view.outcome.after, view.chosen.token
    where = Address(_NOISED).fix(token=token)
    line = write_changes({where: Rule(f"{NOISE}={SEED}")})
    st.button(
        f"Noise on “{escape_markdown(trace.tokens[token])}” instead",
        key="patch-noise",
        type="tertiary",
        icon=":material/grain:",
        on_click=choices.compare_with,
        args=(f"{WITH_CHANGES}{line}",),
        help=f"The second pass is then this sentence’s with noise, seed {SEED}, on that token’s embedding.",
    )


def _tell_words(both: Both) -> str:
    """The words' probabilities in both passes."""
    if both.kind not in OF_WORDS:
        return tell_measured(both)
    sides = both.source, both.target
    rows = [np.asarray(side.trace.recomputed(PROBS.fix(token=side.token))) for side in sides]
    told = []
    for name, cell in zip(both.names, both.measure.cells, strict=True):
        one, other = (format_percent(float(row[cell.at["vocab"]])) for row in rows)
        told.append(f"“{name}” {one} and {other}")
    return ", ".join(told)


def _tell_unmatched(both: Both) -> str:
    told = [f"{join_words(names)} of “{name}”" for name, names in list_others(both).items() if names]
    return escape_markdown(f"Unmatched tokens are not patched: {'; '.join(told)}.") if told else ""


def _render_rows(view: View, both: Both) -> str:
    """The source's tokens above the target's, each matched pair joined by a line."""
    wide = _measure_columns(both)
    apart = both.differing
    marked = ({j for _, j in apart}, {i for i, _ in apart})
    rows = [
        _render_row(name, side, set(ids))
        for name, side, ids in zip(("from", "into"), (both.source, both.target), marked, strict=True)
    ]
    columns = f"--wide:{sum(wide)}px;--columns:{' '.join(f'{each}fr' for each in wide)}"
    inside = f'<div style="{columns}">{rows[0]}<img alt="" src="{_draw_lines(view, both, wide)}">{rows[1]}</div>'
    return table_html.write_region(_tell_pairs(both), inside, "bv-patched", picture=True)


def _measure_columns(both: Both) -> list[int]:
    """Pixels of each column: as wide as the wider of its two tokens."""
    rows = (side.trace.tokens for side in (both.source, both.target))
    return [
        ceil(max(measure_text(bold(token), _LETTERS) for token in column)) + _BESIDE
        for column in zip_longest(*rows, fillvalue="")
    ]


def _draw_lines(view: View, both: Both, wide: Sequence[int]) -> str:
    """A line from each token to the one that it is put into."""
    paths: list[str] = []
    middles = [end - each / 2 for end, each in zip(accumulate(wide), wide, strict=True)]
    for i, j in sorted(both.pairs, key=both.differing.__contains__):
        apart = (i, j) in both.differing
        ink = view.colors.kinds[ATTENTION] if apart else view.colors.line
        paths.append(
            f'<path d="M{middles[j]:g} 0L{middles[i]:g} {_HIGH}" stroke="{ink}" stroke-width="{3 if apart else 1.25}"/>'
        )
    return write_picture(sum(wide), _HIGH, "".join(paths), stretched=True)


def _tell_pairs(both: Both) -> str:
    return f"Both passes: {len(both.pairs)} tokens matched, {len(both.differing)} of them different"


def _render_row(name: str, side: Side, marked: set[int]) -> str:
    cells = "".join(
        render_token(side.trace, i, "bv-chip", *["bv-marked"] * (i in marked), *mark_mask(side.trace, i))
        for i in range(len(side.trace.tokens))
    )
    return f'<div class="bv-row"><span class="bv-name">{name}</span>{cells}</div>'
