"""The next-sentence head's verdict, and beside it what it says of other pairs: alone the verdict misleads."""

from __future__ import annotations

from functools import partial
from html import escape
from pathlib import Path

import streamlit as st

from bertviz_core.analysis.follows import TriedPair, list_pairs, try_pairs
from bertviz_core.analysis.predictions import RELATIONS
from bertviz_core.figures.bars import draw_bars
from bertviz_core.figures.base import Chart
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_percent
from bertviz_core.formula.steps import PREDICTION
from bertviz_core.formula.texts import shorten
from bertviz_core.sharing.findings import Found
from bertviz_core.tracing.trace import run
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame import choices
from bertviz_core.ui.frame.chart import show_chart
from bertviz_core.ui.frame.controls import PAIR
from bertviz_core.ui.frame.findings import Wanted, show_finding, tell_progress
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.charts import draw_share_bars
from bertviz_core.ui.panels.moved import draw_difference_chart, show_moved
from bertviz_core.ui.panels.panel import open_step_card

_NEXT = Address("cls.seq_relationship")
_SHARES = _NEXT.enter("probs")
_LONGEST = 90  # letters of a sentence
_ROW = 36  # pixels of a bar
_STYLE = read_css(Path(__file__).with_name("sentence_verdict.css"))


def _is_read_as_typed(view: View) -> bool:
    """Whether no token is hidden, or was replaced by a change."""
    return view.trace["input_ids"][: len(view.typed.ids)].tolist() == list(view.typed.ids)


def show_verdict(view: View) -> None:
    """Both sentences, how likely the second follows the first, and the two logits behind it."""
    other = "" if _is_read_as_typed(view) else "; the model reads other tokens"
    written = "A and B, as you wrote them" if view.pair else "A, as you wrote it"
    with open_step_card(view, _SHARES, "The verdict", f"{written}{other}", worked=_SHARES.fix(relation=0)):
        st.html(_STYLE + _render_pair(view))
        shares = draw_share_bars(view, view.trace[_SHARES], RELATIONS, PREDICTION, "probability", _ROW)
        logits = draw_bars(
            view.trace[_NEXT], RELATIONS, view.colors, view.colors.kinds[PREDICTION], name="logit", row=_ROW
        )
        for address, chart in ((_SHARES, shares), (_NEXT, logits)):
            _show_chart(view, address, chart)
        show_moved(view, _SHARES, _SHARES.fix(relation=0))
        if not view.pair and not max(view.trace.encoding.segments):
            _offer_pair()


def _render_pair(view: View) -> str:
    rows = [("A", view.text), *([("B", view.pair)] if view.pair else [])]
    inside = "".join(f"<p><b>{name}</b>{escape(shorten(text, _LONGEST))}</p>" for name, text in rows)
    return f'<div class="bv-pair-texts">{inside}</div>'


def _offer_pair() -> None:
    """Where there is one sentence only: what to do, and a pair to begin with."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption("It is about two sentences: write a second one under the pencil in the bar, or", width="content")
        st.button(
            "use two sentences", on_click=choices.use_sentence, args=(PAIR.text, PAIR.pair), icon=":material/add:"
        )


def _show_chart(view: View, address: Address, chart: Chart) -> None:
    offered = chart.offer(picks.pick_points(view.trace, address, range(len(RELATIONS))))
    drawn, note = draw_difference_chart(view, address, PREDICTION) or (offered, "")
    show_chart(drawn, str(address), f"The verdict: {address}")
    if note:
        st.caption(note)


def show_others(view: View) -> None:
    """The verdict on other pairs with the same first sentence, worked out unasked."""
    trace = view.trace
    pairs = list_pairs(view.text, view.pair)
    run_pair = partial(run, trace.model, cache=trace.cache)
    wanted = Wanted(("follows", pairs), trace, partial(try_pairs, pairs, run_pair))
    show_finding("follows", wanted, partial(_draw, view, pairs))


def _draw(view: View, pairs: tuple[TriedPair, ...], found: Found[tuple[TriedPair, ...]]) -> None:
    known = (*(found.value or ()), *pairs[len(found.value or ()) :])
    what = "changes or hidden tokens" if view.masked else "changes"
    progress = tell_progress(found, "the pairs run") or f"{len(pairs)} passes, without {what}"
    heading = Heading(
        "Is it B that decides?",
        "the same of other pairs; mark: as likely as not",
        r"\bar{r}_0(A, B)",
        progress,
    )
    with open_card(view, PREDICTION, heading, "cls.seq_relationship.probs of other pairs", name="follows"):
        rows = "".join(_render_row(pair, i < len(found.value or ())) for i, pair in enumerate(known))
        st.html(f'{_STYLE}<div class="bv-follows">{rows}</div>')


def _render_row(pair: TriedPair, ran: bool) -> str:
    share = "…" if not ran else "too long" if pair.share is None else format_percent(pair.share)
    width = f"{pair.share or 0.0:.1%}"
    first = f"“{escape(shorten(pair.first, 24))}” / " if pair.what == "the same, turned around" else ""
    text = f"{first}“{escape(shorten(pair.second, 24 if first else 56))}”"
    strong = "bv-own" * (pair.what == "as written")
    return (
        f'<div class="{strong}"><span>{escape(pair.what)}</span><b>{share}</b><small>{text}</small>'
        f'<i><u style="width:{width}"></u></i></div>'
    )
