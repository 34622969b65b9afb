"""The next-sentence head's verdict, and beside it what it says of other pairs: alone the verdict misleads."""

from __future__ import annotations

from functools import partial
from html import escape
from pathlib import Path

import streamlit as st

from bertviz_core.analysis.follows import AS_WRITTEN, TriedPair, list_pairs, try_pairs
from bertviz_core.analysis.predictions import RELATIONS
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number, format_percent
from bertviz_core.formula.steps import PREDICTION
from bertviz_core.formula.texts import shorten
from bertviz_core.sharing.findings import Found
from bertviz_core.tracing.trace import run
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame import choices
from bertviz_core.ui.frame.controls import PAIR
from bertviz_core.ui.frame.findings import Wanted, show_finding, tell_progress
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import table_html
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.moved import show_moved
from bertviz_core.ui.panels.panel import open_step_card
from bertviz_core.ui.panels.passes import show_passes_html

_NEXT = Address("cls.seq_relationship")
_SHARES = _NEXT.enter("probs")
_LONGEST = 90  # letters of a sentence
_TURNED = "turned around"  # of a pair whose first sentence is not A
_NAMED, _NUMBERED = 0.42, 0.12  # of the whole: a smaller share carries no name, and no number either
_STYLE = read_css(Path(__file__).with_name("sentence_verdict.css"))


def _is_read_as_typed(view: View) -> bool:
    """Whether no token is hidden, or was replaced by a change."""
    return view.trace["input_ids"][: len(view.typed.ids)].tolist() == list(view.typed.ids)


def show_verdict(view: View) -> None:
    """Both sentences, how likely the second follows the first, and the two logits behind it."""
    other = "" if _is_read_as_typed(view) else "; the model reads other tokens"
    written = "A and B, as they are read" if view.pair else "A, as it is read"
    with open_step_card(view, _SHARES, "The verdict", f"{written}{other}", worked=_SHARES.fix(relation=0)):
        st.html(_STYLE + _render_pair(view))
        show_passes_html(view, [_render_verdict(one) for one in view.passes])
        show_moved(view, _SHARES, _SHARES.fix(relation=0))
        if _is_alone(view):
            _offer_pair()


def _is_alone(view: View) -> bool:
    """Whether there is one sentence only, and nothing to be told of a second one."""
    return not view.pair and not max(view.trace.encoding.segments)


def _render_pair(view: View) -> str:
    rows = [("A", escape(shorten(view.text, _LONGEST)))]
    if view.pair:
        rows.append(("B", escape(shorten(view.pair, _LONGEST))))
    elif _is_alone(view):
        rows.append(("B", '<span class="bv-faint">there is none; the head answers all the same</span>'))
    inside = "".join(f"<p><b>{name}</b>{text}</p>" for name, text in rows)
    return f'<div class="bv-pair-texts">{inside}</div>'


def _render_verdict(view: View) -> str:
    """Both answers as one bar of two shares, and below it their logits, from which the softmax makes these."""
    shares, logits = view.trace[_SHARES].tolist(), view.trace[_NEXT].tolist()
    end = max(map(abs, logits)) or 1.0
    split = "".join(_render_part(name, share) for name, share in zip(RELATIONS, shares, strict=True))
    rows = (
        table_html.write_row(
            name,
            table_html.write_cells(
                (
                    _write_number(_SHARES.fix(relation=i), format_percent(share)),
                    _write_number(_NEXT.fix(relation=i), format_number(logit)),
                    _write_bar(logit / end),
                )
            ),
        )
        for i, (name, share, logit) in enumerate(zip(RELATIONS, shares, logits, strict=True))
    )
    table = table_html.write_table(table_html.write_heads(("answer", "probability", "logit", "")), rows)
    region = table_html.write_region("Table by answer", table, "bv-two", picture=True, scrolls=False)
    return f'<div class="bv-split" aria-hidden="true">{split}</div>{region}'


def _render_part(name: str, share: float) -> str:
    """A share of the bar, with as much of its name and its number as it has room for."""
    number = f"<b>{format_percent(share)}</b>" if share > _NUMBERED else ""
    named = f"<span>{name}</span>" if share > _NAMED else ""
    return f'<i style="flex-grow:{share:.4f}">{named}{number}</i>'


def _write_number(cell: Address, text: str) -> str:
    return f'<button data-cell="{cell}">{text}</button>'


def _write_bar(part: float) -> str:
    """A bar from the middle to either side. part: of the longest, -1 to 1."""
    left, width = 50 + min(part, 0.0) * 50, abs(part) * 50
    return f'<i class="{"bv-less" * (part < 0)}" style="left:{left:.1f}%;width:{width:.1f}%"></i>'


def _offer_pair() -> None:
    """Where there is one sentence only: what to do, and a pair to begin with."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(
            "It is about two sentences: write a second one under the pencil in the bar, or begin with a pair:",
            width="content",
        )
        st.button(
            "use two sentences", on_click=choices.use_sentence, args=(PAIR.text, PAIR.pair), icon=":material/add:"
        )


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
    own = f"{AS_WRITTEN}, unchanged" if view.masked or view.trace.changes else AS_WRITTEN
    progress = tell_progress(found, "the pairs run") or f"{len(pairs)} passes, without {what}"
    heading = Heading(
        "Is it B that decides?",
        "the same of other pairs; mark: as likely as not",
        r"\bar{r}_0(A, B)",
        progress,
    )
    with open_card(view, PREDICTION, heading, "cls.seq_relationship.probs of other pairs", name="follows"):
        rows = "".join(_render_row(pair, i < len(found.value or ()), own) for i, pair in enumerate(known))
        st.html(f'{_STYLE}<div class="bv-follows">{rows}</div>')


def _render_row(pair: TriedPair, ran: bool, own: str) -> str:
    """A pair and its share. own: what that is called which the page shows, though as it runs without any change."""
    share = "…" if not ran else "too long" if pair.share is None else format_percent(pair.share)
    width = f"{pair.share or 0.0:.1%}"
    first = f"“{escape(shorten(pair.first, 24))}” / " if pair.what.endswith(_TURNED) else ""
    text = f"{first}“{escape(shorten(pair.second, 24 if first else 56))}”" if pair.second else "no second sentence"
    strong, name = ("bv-own", own) if pair.what == AS_WRITTEN else ("", pair.what)
    return (
        f'<div class="{strong}"><span>{escape(name)}</span><b>{share}</b><small>{text}</small>'
        f'<i style="--part:{width}"><u></u></i></div>'
    )
