"""The frame around every page: the bar, the map of the pass, what was changed; and errors as sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from bertviz_core.analysis.claims import Said
from bertviz_core.checkpoint.encoding import Encoding
from bertviz_core.checkpoint.model import Model
from bertviz_core.errors import BertvizError, BusyError, CheckpointError, InputError
from bertviz_core.formula.texts import shorten
from bertviz_core.tracing.changes import Changes
from bertviz_core.tracing.inputs import encode
from bertviz_core.tracing.store import is_long
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.components.loading import load_component
from bertviz_core.ui.frame import example, site, state, style, url, what_if
from bertviz_core.ui.frame.against import find_beside
from bertviz_core.ui.frame.bar import MARKS, NOTHING_BESIDE, Bar, show_map
from bertviz_core.ui.frame.controls import EXAMPLES, Asked, bind_asked
from bertviz_core.ui.frame.elsewhere import show_elsewhere
from bertviz_core.ui.frame.fair import is_admitted, share
from bertviz_core.ui.frame.findings import Wanted, show_finding
from bertviz_core.ui.frame.folds import are_many_open
from bertviz_core.ui.frame.follow import forget_followed
from bertviz_core.ui.frame.hidden import write_hidden
from bertviz_core.ui.frame.keys import VIEW, WALK, WITHOUT
from bertviz_core.ui.frame.labels import escape_markdown, tell_padding
from bertviz_core.ui.frame.lesson import is_covered, is_step_costly, open_lesson, show_cover
from bertviz_core.ui.frame.lesson_strip import show_lesson, tell_unknown
from bertviz_core.ui.frame.link import tell_other_weights
from bertviz_core.ui.frame.overflow import check_kept, kept_usable, tell_overflow
from bertviz_core.ui.frame.place import choose_place
from bertviz_core.ui.frame.preparation import Preparation, prepare
from bertviz_core.ui.frame.remedies import find_first_model, show_lost, show_mask_button, show_refused
from bertviz_core.ui.frame.resources import (
    admit,
    get_line,
    get_model,
    get_store,
    has_model,
)
from bertviz_core.ui.frame.second import First, give_numbers, is_second_long
from bertviz_core.ui.frame.stepper import show_steppers
from bertviz_core.ui.frame.streamlit_inside import run_anew_on_reconnect
from bertviz_core.ui.frame.strip import show_strip
from bertviz_core.ui.frame.told import forget_teller
from bertviz_core.ui.frame.view import Outcome, View
from bertviz_core.ui.frame.what_if import read_shown, run_changes
from bertviz_core.ui.frame.with_field import show_with
from bertviz_core.ui.frame.words import render_text, set_question_apart

_early = load_component("early")
_LONGEST_TOLD = 80  # characters of what stands in for what was typed
_ICON = str(Path(__file__).with_name("icon.png"))


def run_app(show_drawer: Callable[[View], None]) -> None:
    """The whole app: one run of it, in its turn, answers one request of one session. show_drawer: explains the chosen
    number."""
    url.follow_history()
    try:
        if is_admitted():
            admit()  # before the line: who has no room is not to keep others waiting
            with share(get_line()):
                _run(show_drawer)
    except BusyError as error:
        show_refused(error, None)


def _run(show_drawer: Callable[[View], None]) -> None:
    info, page = site.declare_pages()
    url.begin_run(info.name)
    example.begin(info.name)
    forget_followed()
    forget_teller()
    beside = info.explains or bool(state.read(WALK))
    st.html(style.write_css(style.read_colors(), MARKS + write_hidden(state.read(WITHOUT)), beside=beside))
    frame = st.container(key="frame", gap=None)
    with frame:
        _early(key="early")  # the browser loads what draws components while the first real one is still worked out
        asked = bind_asked()
        bar = Bar.open(info.name)
    bar.show_model(asked.model)
    passed = _run_or_stand_in(info, asked)
    if passed is None:
        bar.show_text(asked.text)
        st.html(NOTHING_BESIDE)
    else:
        show_lost()
        view = _open_view(info.name, passed)
        open_lesson(view, info.name)
        with get_line().costly() if _is_costly(info, view) else nullcontext():
            with kept_usable(view.trace):
                _run_page(info, page, view)  # before the rest of the frame: what is sent first is drawn first
            _fill_bar(bar, info, view, asked)
            with frame:
                show_map(info)
                what_if.show_line(passed.found, view.chosen.token)
            with kept_usable(view.trace):
                show_drawer(view)
                show_strip(view)
                show_lesson(info.name)
    with frame:
        run_anew_on_reconnect()
    url.publish()


def _run_page(info: site.PageInfo, page: StreamlitPage, view: View) -> None:
    """The page; what a lesson asks about stays covered until it is answered."""
    if is_covered("page"):
        url.keep_unread()
        st.title(info.title, anchor=False)
        show_cover(given=" / ".join(filter(None, (view.text, view.pair))))
    else:
        page.run()


@dataclass(frozen=True)
class _Passed:
    """What was run: the sentence as it was typed, the passes without and with changes, and what is to be remarked on.

    blank: what seems to be left for the model to fill, but hides nothing; stands_in: for something else that was asked
    for, and could not be run.
    """

    asked: Asked
    typed: Encoding
    found: Outcome
    remarks: Sequence[str]
    blank: str = ""
    stands_in: bool = False


def _run_asked(asked: Asked) -> _Passed:
    beside = find_beside(_load_model(asked.model), _load_model)
    model = beside.model
    typed = encode(model, asked.text, asked.pair)
    preparation = prepare(model, typed, f"{asked.text} {asked.pair or ''}", asked.pad, asked.mask, asked.pair)
    run = partial(_run_trace, model, asked, preparation)
    before, other = run(), _run_trace(beside.other, asked, preparation) if beside.other else None
    changes = give_numbers(asked.changes, First(before, asked.text, asked.pair, preparation.masked, other))
    found = run_changes(before, changes, run)
    if other:
        found = replace(found, before=other, show=read_shown())
    check_kept(found.before)
    return _Passed(asked, typed, found, [*preparation.remarks, *beside.said], preparation.blank)


def _run_or_stand_in(info: site.PageInfo, asked: Asked) -> _Passed | None:
    """What was asked for; where it cannot be run, what is wrong with it, and a page of something else below that."""
    try:
        return _run_asked(asked)
    except BertvizError as error:
        url.keep_unread()
        show_refused(error, asked)
        passed = None if isinstance(error, BusyError) else _run_stand_in(asked)
    if passed is None:
        st.title(info.title, anchor=False)
    else:
        text, model = (
            escape_markdown(shorten(each, _LONGEST_TOLD)) for each in (passed.asked.text, passed.asked.model)
        )
        st.caption(f"What you typed is kept. Below meanwhile: “{text}”, read by the model {model}.")
    return passed


def _run_stand_in(asked: Asked) -> _Passed | None:
    """The same sentence by another model, or what was run before, or the first example; None if nothing can be run."""
    before, other = state.read(VIEW), replace(asked, model=find_first_model(), changes={}, mask="")
    example = replace(other, text=EXAMPLES[0].text, pair=None)
    last = [replace(other, text=before.text, pair=before.pair, model=before.trace.model.name)] if before else []
    for candidate in (other, *last, example):
        with suppress(CheckpointError, InputError):
            return replace(_run_asked(candidate), remarks=(), blank="", stands_in=True)
    return None


def _open_view(page: str, passed: _Passed) -> View:
    """What the page draws from; above it, what is remarked on."""
    asked, found = passed.asked, passed.found
    chosen, moved = choose_place(found.before, page)
    view = View(asked.text, asked.pair, passed.typed, found, chosen, style.read_colors(), asked.notation)
    remarks = (*passed.remarks, *moved, *tell_overflow(view.trace), *tell_unknown())
    remarks += tell_other_weights(view.trace.model)
    for remark in () if passed.stands_in else remarks:
        st.info(remark, icon=":material/info:")
    if passed.blank:
        show_mask_button(found.before.model, asked, passed.blank)
    state.write(VIEW, view)
    info = site.get_page(page)
    if info.of_sentence and not info.of_two and not passed.stands_in:
        show_elsewhere(view)
    return view


def _fill_bar(bar: Bar, info: site.PageInfo, view: View, asked: Asked) -> None:
    """What the bar says and offers of a pass, which may be another one than that which was asked for."""
    if (view.text, view.pair) == (asked.text, asked.pair) and not is_covered("tokens"):
        bar.show_tokens(view)
    else:
        bar.show_text(asked.text)
    with bar.place:
        if info.of_two:
            show_with(view)
        else:
            show_steppers(info, view.trace.model.config, view.chosen)
    with bar.actions:
        what_if.show_what_if(view.chosen)


def _is_costly(info: site.PageInfo, view: View) -> bool:
    """Whether what is drawn takes much longer than usual, so that it waits for its lane and others need not."""
    second = info.of_two and is_second_long(view)
    return is_long(len(view.trace.tokens)) or second or are_many_open() or is_step_costly()


def open_page(
    name: str,
    what_happens: str,
    write_headline: Callable[[View], Said | str] | None = None,
    ask: Callable[[View], Wanted[Any] | None] = lambda _: None,
    more: Callable[[View], str] = lambda _: "",
) -> View:
    """Open a page: its headline, and under it its name and what happens there. Returns what to draw from.

    write_headline: answers the page's question with this sentence's numbers, as Markdown; without, the page's title.
    ask: the finding that the headline waits for, if it does; more: what is said besides of this very view.
    """
    view = state.read(VIEW)
    if view is None:  # a deep link into a server that has just started: the page was run without the app around it
        st.set_page_config(page_icon=_ICON)  # otherwise the page's own icon, which the browser fetches elsewhere
        site.declare_pages()
        st.rerun()
    info = site.get_page(name)
    apart = f"Without {view.outcome.yours}." if info.unchanged and view.outcome.changed else ""
    view = view.unchanged if info.unchanged else view
    with st.container(key="headline", gap=None):
        covered = is_covered("headline")
        asked = None if covered else ask(view)

        def show_headline(_: object = None) -> None:
            told = set_question_apart(str(write_headline(view))) if write_headline and not covered else info.title
            st.title(told, anchor=False)

        if asked is None:
            show_headline()
        else:
            show_finding("headline", asked, show_headline)
        padding = tell_padding(view.trace, view.outcome.before) if info.of_sentence and info.tokens else ""
        told = " ".join(filter(None, (what_happens, "" if covered else more(view), padding, apart)))
        st.html(f"<p><strong>{escape(info.title)}.</strong> {render_text(told)}</p>")
    return view


def _load_model(name: str) -> Model:
    if has_model(name):  # a spinner, shown or not, costs a thread of its own
        return get_model(name)
    with get_line().pause(), st.spinner("Loading the model …", show_time=True):
        return get_model(name)


def _run_trace(model: Model, asked: Asked, preparation: Preparation, changes: Changes | None = None) -> Trace:
    return get_store().get(model, asked.text, asked.pair, preparation.pad_to, preparation.masked, changes=changes)
