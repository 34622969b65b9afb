"""E-Training of document 002, running: its lines with this step's numbers, its controls, and what comes of it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import streamlit as st

from bertviz_core.analysis.training import OVER
from bertviz_core.documents.definition import DEFINITION
from bertviz_core.errors import TrainingError
from bertviz_core.formula.numbers import choose_percent, format_number, format_short
from bertviz_core.formula.steps import QUERY
from bertviz_core.formula.texts import write_count
from bertviz_core.learning import Ahead, Standing
from bertviz_core.sharing.findings import Found
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame import choices, state
from bertviz_core.ui.frame.findings import Wanted, show_finding, tell_progress
from bertviz_core.ui.frame.keys import TRAINED, TRAINING_LOST
from bertviz_core.ui.frame.labels import escape_markdown, quote
from bertviz_core.ui.frame.told import offer_teller
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import open_card
from bertviz_core.ui.views.training_fields import SMALL, show_choices, show_numbers
from bertviz_core.ui.views.training_known import offer_update, tell_known
from bertviz_core.ui.views.training_lead import choose_risen, read_words, show_lead
from bertviz_core.ui.views.training_lines import LINES, RETURN, UPDATE, render_lines, say_line_5
from bertviz_core.ui.views.training_run import (
    START,
    Run,
    ask_ahead,
    average,
    find_first,
    find_run,
    go_on,
    pause,
    reset,
    stop,
    take_refusal,
    take_step,
)
from bertviz_core.ui.views.training_step import show_step
from bertviz_core.ui.views.training_still import say_never_hidden, say_still
from bertviz_core.ui.views.training_told import name_loss, say_step
from bertviz_core.ui.views.training_words import show_before_and_now

_EVERY_S = 1.0  # between two looks at a training that waits or runs
_SIDES, _BELOW = (1, 2), (2, 1)
_STYLE = read_css(Path(__file__).with_name("training.css"))
_WORKED = "the steps that will come, worked out beforehand"
_DRAWN_AGAIN = "A draw that hides nothing is drawn again."
_GONE = (
    "The training that went on here is gone: its server has ended, or the line to it was down for long. "
    f"**{START}** takes the same steps anew."
)


def ask_headline(view: View) -> Wanted[Ahead] | None:
    """The steps that will come, which the headline waits for before the first one is taken."""
    try:
        return ask_ahead(find_run(view))
    except TrainingError:
        return None


def write_headline(view: View) -> str:
    """What was learned, of the training as it stands."""
    try:
        run = find_run(view)
    except TrainingError:
        return "Does it learn? Not with these settings; change them and see"
    count, records, steps = len(run.training.encodings), run.records, run.training.steps_total
    asked = f"{write_count(count, 'sentence')}, {write_count(steps, 'step')}"
    if run.going:
        return f"Does it learn? It is being trained: {asked}"
    if not records:
        wanted = ask_ahead(run)
        found = wanted.look() if wanted else Found()
        if found.whole and found.value:
            run.ahead = found.value
            return f"Does it learn? Forecast: in {write_count(steps, 'step')} −log P per hidden word {_say_ahead(run)}"
        return f"Does it learn? Nothing is trained yet: {asked}. Press **{START}**"
    if len(records) <= count:
        return f"Does it learn? {say_step(records[-1])}, with the same tokens hidden"
    return (
        f"Does it learn? In {len(records):,} steps −log P per hidden word {say_line(average(records))}{_say_risen(run)}"
    )


def say_line(line: np.ndarray, went: str = "went", was: str = "was") -> str:
    """Where the loss per hidden word begins and ends. line: over the last steps, one number a step.

    Of many steps the second one is that of the last `OVER`, as the line in the picture has it, which says so.
    """
    first, last = (f"**{format_short(line[i])}**" for i in (0, -1))
    if len(line) > OVER:
        return f"{went} from {first} to {last}" if first != last else f"{was} {first} at both ends"
    return f"{was} {first} in the first and {last} over all of them" if len(line) > 1 else f"{was} {first}"


def _say_ahead(run: Run) -> str:
    return f"{say_line(average(run.ahead.records), 'goes', 'is')}{_say_risen(run, 'from')}"


def _say_risen(run: Run, verb: str = "rose from") -> str:
    """The word that rose most, if any did; and when it was asked for last, where steps have been taken since."""
    steps, shares, words = read_words(run)
    since = "" if not len(steps) or steps[-1] == len(run.shown.records) else f", asked after step {steps[-1]:,}"
    return "".join(
        f"; {quote(words[i])} {verb} {write(first)} to **{write(last)}**{since}"
        for i in choose_risen(shares, words, 1)
        for first, last in [shares[[0, -1], i].tolist()]
        for write in [choose_percent(first, last)]
    )


def show_training(view: View) -> Run | None:
    """The training with all that is live about it. Gives it; None where the settings are none to train with."""
    st.html(_STYLE)
    try:
        run = find_run(view)
    except TrainingError as error:
        _show_refused(view, str(error))
        return None
    run.live = run.going or run.settling > 0
    state.write(TRAINED, run.begun)
    if run.begun:
        state.write(TRAINING_LOST, False)
    offer_teller(partial(tell_known, view, run))
    offer_update(run)
    (st.fragment(_show, run_every=_EVERY_S) if run.live else _show)(view, run)
    return run


def _show_refused(view: View, why: str) -> None:
    """The fields alone, none of them folded, and why nothing can be trained with what they say."""
    left, right = st.columns(_SIDES, gap="small")
    with left, open_card(view, QUERY, "E-Training", "document 002", name="training-lines"):
        show_numbers(False)
        st.html(render_lines([""] * len(LINES), None))
    with right:
        st.error(escape_markdown(why), icon=":material/error:")
        with open_card(view, QUERY, "What learns, from what", "E-Training", name="training-settings"):
            show_choices(view.trace.model, False)


def _show(view: View, run: Run) -> None:
    """All that changes with a step. At rest the page draws it once; a training is looked at every second."""
    if run.live:
        choices.rerun_if_asked()
        for ticket in run.tickets:
            ticket.touch()
        run.look()
        if not run.going:
            run.settling -= 1
            if run.settling <= 0:
                st.rerun()  # at rest, with a headline of what has come of it
    left, right = st.columns(_SIDES, gap="small")
    wanted = ask_ahead(run)
    with left:
        _show_algorithm(view, run)
    with right:
        if wanted:
            show_finding("training-ahead", wanted, partial(_show_ahead, view, run))
        else:
            show_lead(view, run)
    left, right = st.columns(_BELOW, gap="small")
    with left:
        if known := run.training if run.records else find_first(run):
            show_step(view, run, known)
    with right:
        if wanted:
            show_finding("training-to-come", wanted, partial(_show_words_ahead, view, run))
        elif run.records and (not run.live or run.asked.learner == SMALL):
            show_before_and_now(view, run)


def _show_ahead(view: View, run: Run, found: Found[Ahead]) -> None:
    """What will come, as far as it is known."""
    run.ahead = found.value or Ahead()
    show_lead(view, run, tell_progress(found, _WORKED))


def _show_words_ahead(view: View, run: Run, found: Found[Ahead]) -> None:
    """What will be predicted for hidden words, once it is known."""
    run.ahead = found.value or Ahead()
    show_before_and_now(view, run, tell_progress(found, _WORKED))


def _show_algorithm(view: View, run: Run) -> None:
    with open_card(view, QUERY, "E-Training", "document 002", name="training-lines"):
        show_numbers(run.live)
        st.html(render_lines(_write_numbers(run), _find_line(run)))
        with st.container(key="training-steering"):
            _show_controls(run)
            st.progress(len(run.records) / run.training.steps_total, _say_progress(run))
        refused = take_refusal() or run.ticket.error
        if refused:
            st.error(escape_markdown(refused), icon=":material/error:")
        if run.beside and run.beside.error:
            st.warning(escape_markdown(f"{run.beside_name}: {run.beside.error}"), icon=":material/warning:")
        if state.read(TRAINING_LOST) and not run.begun:
            st.warning(_GONE, icon=":material/warning:")
        st.caption(_say_standing(run))


def _write_numbers(run: Run) -> list[str]:
    """What stands beside each line: this step's numbers; before the first step, what is known."""
    settings = run.asked.settings
    runs = "as printed" if settings.program == DEFINITION.program else "BERT"
    if not run.records:
        return [f"T = {settings.passes}", f"n = {len(run.training.encodings)}", "", "", runs, *[""] * 3]
    record = run.records[-1]
    button = f'<button data-cell="{name_loss(record)}">{format_number(record.loss)}</button>'
    hidden = f"{len(record.hidden)} hidden" + (", 80/10/10" if settings.practised else "")
    if not record.as_printed:
        button = f"{button} meant<br>{format_number(record.printed)} printed"
    return [
        f"t = {record.turn}",
        f"i = {record.sentence}",
        f"|x| = {len(record.ids)}",
        hidden,
        runs,
        button,
        f"AdamW, η = {format_short(record.rate)}" if settings.practised else "",
        f"after step {record.number}",
    ]


def _find_line(run: Run) -> int | None:
    if not run.records:
        return None
    return RETURN if run.training.finished else UPDATE


def _show_controls(run: Run) -> None:
    going, ended = run.ticket.standing in (Standing.WAITING, Standing.RUNNING), run.ended
    with st.container(horizontal=True, key="training-controls"):
        if going:
            st.button(
                "Pause", key="training-pause", icon=":material/pause:", type="primary", on_click=pause, args=(run,)
            )
        else:
            _offer_to_go_on(run)
        st.button(
            "Step",
            key="training-step",
            disabled=going or ended,
            on_click=take_step,
            args=(run,),
            help="One step: lines 3 to 7 for the next sentence.",
        )
        st.button(
            "Stop",
            key="training-stop",
            disabled=ended or not (going or run.records),
            on_click=stop,
            args=(run,),
            help="No further step; what was learned stays.",
        )
        st.button(
            "Reset",
            key="training-reset",
            type="tertiary",
            disabled=not (run.records or ended),
            on_click=reset,
            args=(run,),
            help="As before the first step; the same draws come again.",
        )


def _offer_to_go_on(run: Run) -> None:
    begun = run.records and not run.ticket.lost
    st.button(
        "Go on" if begun else START,
        key="training-go",
        icon=":material/play_arrow:",
        type="primary",
        disabled=run.ended,
        on_click=go_on,
        args=(run,),
    )


def _say_progress(run: Run) -> str:
    done, total, left = len(run.records), run.training.steps_total, run.training.seconds_left
    remaining = f" · about {left:.0f} s left" if run.going and left is not None and left >= 1 else ""
    asked = f" · word {run.training.asked} of {len(run.training.words)} asked for" if _is_asking(run) else ""
    return f"{done} of {write_count(total, 'step')}{asked or remaining}"


def _is_asking(run: Run) -> bool:
    """Whether its words are being asked for, which takes long where the sentences are long."""
    return run.ticket.standing is Standing.RUNNING and 0 < run.training.asked < len(run.training.words)


def _say_standing(run: Run) -> str:
    """Where it stands."""
    place = run.ticket.place
    if run.ticket.away:
        told = "Paused, since nobody looked on"
    elif run.ticket.standing is Standing.WAITING and place:
        told = f"Waiting in the queue: {place} before you"
    else:
        told = {
            Standing.WAITING: "Next in the queue",
            Standing.RUNNING: "Running",
            Standing.DONE: "All steps are done",
            Standing.STOPPED: "Stopped",
            Standing.FAILED: "Broken off",
            Standing.PAUSED: "Paused" if run.records else "Untrained; a link holds the settings, not the steps",
        }[run.ticket.standing]
    return f"{told}."


def show_open(run: Run) -> None:
    """Which weights learn, and what is taken where the document leaves something open."""
    never = f"{say_never_hidden(run.training)} {_DRAWN_AGAIN}"
    for text in (say_still(run.training), never, say_line_5(run.training)):
        st.markdown(escape_markdown(text))
