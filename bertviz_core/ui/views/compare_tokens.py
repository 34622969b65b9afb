"""The tokens of both passes in two rows, a line between those that are matched, with the angle at which they end."""

from __future__ import annotations

import zlib
from functools import partial
from html import escape
from pathlib import Path

import streamlit as st

from bertviz_core.analysis.ranking import center_range
from bertviz_core.formula.numbers import format_degrees
from bertviz_core.formula.steps import NORM
from bertviz_core.formula.texts import name_token
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame import choices, state
from bertviz_core.ui.frame.keys import PAIRS, Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.menu import show_menu
from bertviz_core.ui.frame.second import match_again, match_pair
from bertviz_core.ui.frame.style import mark_mask, render_token
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import table_html
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.derived import Values, show_values
from bertviz_core.ui.panels.pictures import write_picture
from bertviz_core.ui.panels.said import tell_shown
from bertviz_core.ui.views.compare import name_end, tell_matched
from bertviz_core.ui.views.compare_both import Both

STYLE = read_css(Path(__file__).with_name("compare.css"))
_MATCHED: Key[int | None] = Key("matched-with", None)
_MOST = 48  # tokens of a row
_COLUMN, _HIGH = 100.0, 56.0  # the lines' own units for a token, and from row to row


def show_tokens(view: View, both: Both) -> None:
    """The two rows; a click on a token chooses it, one on an angle works it out."""
    says = f"{tell_matched(view)}; lines: {_tell_lines(both)}"
    with open_card(view, NORM, Heading("Matched tokens", says), "both passes", name="matched") as tools:
        with tools:
            _show_matching(view, both)
            show_values("matched", Values(both.angles.T, both.names, [str(stage) for stage in both.stages]))
        st.html(STYLE)
        shown = _choose_shown(both)
        st.html(_render_rows(view, both, shown))
        told = [tell_shown(rows, len(trace.tokens)) for rows, trace in zip(shown, (both.one, both.other), strict=True)]
        if any(told):
            st.caption(" ".join(dict.fromkeys(filter(None, told))))


def _tell_lines(both: Both) -> str:
    """Which tokens are joined, and the angle that stands there."""
    alike = both.one.model.tokenizer.vocabulary == both.other.model.tokenizer.vocabulary
    letters = "equal pieces in the same order" if alike else "pieces of the same letters"
    how = "as matched by hand" if state.read(PAIRS) else letters
    return f"{how}, with the angle {name_end(both.stages[-1])}" if both.stages else how


def _show_matching(view: View, both: Both) -> None:
    """A menu that matches the token that is looked at with another one, or with none."""
    here = view.chosen.token if both.chosen is None else both.chosen
    key = f"match-{zlib.crc32(f'{here} {both.pairs}'.encode()):x}"  # else it is another menu, so closed
    draw = partial(_show_choices, both, here, key)
    show_menu("Match by hand", key, draw, icon=":material/conversion_path:", help="Match by hand")


def _show_choices(both: Both, here: int, key: str) -> None:
    name = escape_markdown(name_token(both.one.tokens, here))
    options = [None, *both.other.encoding.real]
    now = dict(both.pairs).get(here)

    def match() -> None:
        match_pair(both.one, both.other, both.pairs, here, state.read(_MATCHED.of(key)))
        choices.ask_for_rerun()

    st.selectbox(
        f"Match {name} with",
        options,
        options.index(now),
        key=_MATCHED.of(key).name,
        format_func=lambda i: "none" if i is None else f"{i} {both.other.tokens[i]}",
        on_change=match,
    )
    st.caption("Another token of the first sentence: choose it.")
    if state.read(PAIRS):
        st.button("Match equal pieces again", on_click=match_again, key=f"{key}-again")


def _choose_shown(both: Both) -> tuple[range, range]:
    """Of many tokens those around the pair that is looked at."""
    here, there = both.pairs[both.main] if both.main is not None else (0, 0)
    one, other = (len(trace.tokens) for trace in (both.one, both.other))
    return center_range(here, _MOST, one), center_range(there, _MOST, other)


def _render_rows(view: View, both: Both, shown: tuple[range, range]) -> str:
    count = max(map(len, shown))
    drawn = [i for i, (here, there) in enumerate(both.pairs) if here in shown[0] and there in shown[1]]
    lines = _draw_lines(view, both, drawn, shown, count)
    angles = "".join(_render_angle(both, i, shown, count) for i in drawn) if len(both.last) else ""
    rows = [_render_row(both, side, shown[side]) for side in (0, 1)]
    between = f'<div class="bv-apart">{angles}</div>'
    inside = f'<div style="--count:{count}"><img alt="" src="{lines}">{rows[0]}{between}{rows[1]}</div>'
    return table_html.write_region("Matched tokens of both passes", inside, "bv-matched", picture=True)


def _render_row(both: Both, side: int, shown: range) -> str:
    trace, name = ((both.one, "first"), (both.other, "second"))[side]
    first = {pair[side]: pair[0] for pair in both.pairs}
    main = None if both.main is None else both.pairs[both.main][side]
    chips = "".join(_render_chip(trace, i, side, first, i == main) for i in shown)
    return f'<div class="bv-row"><span>{name}</span>{chips}</div>'


def _render_chip(trace: Trace, i: int, side: int, first: dict[int, int], main: bool) -> str:
    """A token; one that is matched, or of the first pass, chooses that of the first."""
    kinds = ["bv-chip", *(["bv-main"] if main else []), *(["bv-alone"] if i not in first else [])]
    chosen = first.get(i, i if side == 0 else None)
    does = "" if chosen is None else f'data-token="{chosen}"'
    return f"<span>{render_token(trace, i, *kinds, *mark_mask(trace, i), does=does)}</span>"


def _place(pair: tuple[int, int], shown: tuple[range, range]) -> tuple[float, float]:
    """The columns of a pair's two tokens, counted to their middle."""
    return pair[0] - shown[0].start + 0.5, pair[1] - shown[1].start + 0.5


def _render_angle(both: Both, pair: int, shown: tuple[range, range], count: int) -> str:
    left = sum(_place(both.pairs[pair], shown)) / 2 / count
    main = ' class="bv-main"' if pair == both.main else ""
    cell, text = both.find_cosine(both.stages[-1], pair), format_degrees(float(both.last[pair]))
    name = f'aria-label="{escape(both.names[pair])}: {text}"'
    return f'<button{main} style="left:{left:.2%}" data-cell="{escape(str(cell))}" {name}>{text}</button>'


def _draw_lines(view: View, both: Both, drawn: list[int], shown: tuple[range, range], count: int) -> str:
    paths: list[str] = []
    ink = view.colors.kinds[NORM]
    for pair in sorted(drawn, key=lambda i: i == both.main):
        x, y = (each * _COLUMN for each in _place(both.pairs[pair], shown))
        half = _HIGH / 2
        look = 'stroke-width="2.75"' if pair == both.main else 'opacity=".45" stroke-width="1.5"'
        paths.append(f'<path d="M{x:g} 0C{x:g} {half:g} {y:g} {half:g} {y:g} {_HIGH:g}" stroke="{ink}" {look}/>')
    return write_picture(_COLUMN * count, _HIGH, "".join(paths), stretched=True)
