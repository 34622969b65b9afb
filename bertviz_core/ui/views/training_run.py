"""The training of this session, in the queue; and another with one setting changed, laid beside it.

A training belongs to the session that asked for it. While it waits or runs, the page's fragment says every second that
somebody still looks on; a training that nobody looks at leaves the queue.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from bertviz_core.analysis.training import average_per_token
from bertviz_core.checkpoint.model import Model
from bertviz_core.errors import TrainingError
from bertviz_core.learning import (
    Ahead,
    Hosted,
    Settings,
    Standing,
    StepRecord,
    Ticket,
    Training,
    check_numbers,
    make_small_model,
    name_head,
    take_ahead,
)
from bertviz_core.ui.frame import choices, state
from bertviz_core.ui.frame.findings import Wanted
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.resources import OWN, get_drawn, get_model, get_queue, list_models, watch_connection
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.frame.visitor import read_network, read_visitor
from bertviz_core.ui.views.training_fields import HEADS, SMALL, Asked, read_asked

_OWNER, _REFUSED = Key("training-owner", ""), Key("training-refused", "")
_GOING = (Standing.WAITING, Standing.RUNNING)
_ENDED = (Standing.DONE, Standing.STOPPED, Standing.FAILED)
MAIN, BESIDE = "main", "beside"
START = "Start"  # what the button says that goes on with a training, before its first step
RANKED = 3  # predictions in the place of a hidden word
_SHORT = 32  # tokens of a sentence, up to which all steps are taken before anybody asks for one
_STATES = 5  # as large as its weights, that a training of one step holds: with AdamW's means and the gradient


@dataclass(eq=False)
class Run:
    """What was asked for, and the ticket of its training.

    beside: another one with one setting changed, and its name; live: whether it is drawn again every second; settling:
    how often more, after it was halted, since the step that ran then is taken to its end; records: its steps, all that
    is drawn of it together the same ones; ahead: those that will come, before the first one is taken.
    """

    asked: Asked
    origin: Model
    ticket: Ticket
    beside: Ticket | None = None
    beside_name: str = ""
    live: bool = False
    settling: int = 0
    records: tuple[StepRecord, ...] = ()
    ahead: Ahead = field(default_factory=Ahead)

    def look(self) -> None:
        """Take the steps as they are now."""
        self.records = self.training.records
        if self.records:
            self.ahead = Ahead()

    @property
    def training(self) -> Hosted:
        return self.ticket.training

    @property
    def going(self) -> bool:
        """Whether one of its trainings waits or runs."""
        return any(ticket.standing in _GOING for ticket in self.tickets)

    @property
    def begun(self) -> bool:
        """Whether a step was taken, or is to be."""
        return self.going or bool(self.records)

    @property
    def ended(self) -> bool:
        """Whether its training goes no further; what was lost can begin again."""
        return self.ticket.standing in _ENDED and not self.ticket.lost

    @property
    def tickets(self) -> tuple[Ticket, ...]:
        return (self.ticket, self.beside) if self.beside else (self.ticket,)

    @property
    def shown(self) -> Ahead:
        """What is drawn: the steps so far; before the first one those that will come."""
        return self.ahead if self.ahead.records else Ahead(self.records, self.training.passes)

    def tokens(self, sentence: int) -> tuple[str, ...]:
        """A sentence's tokens, nothing hidden. sentence: from 1."""
        return tuple(self.training.encodings[sentence - 1].tokens)

    def lines(self) -> Mapping[str, np.ndarray]:
        """The loss per hidden token over the last steps, of each training by its name."""
        lines = {describe(self.asked.settings): average(self.shown.records)}
        if self.beside:
            lines[self.beside_name] = average(self.beside.records)
        return lines


_RUN: Key[Run | None] = Key("training-run", None)


def describe(settings: Settings) -> str:
    """A training's name in a legend: how it steps, and how far."""
    return f"{'AdamW' if settings.practised else 'plain'}, η {settings.eta:g}"


def average(records: tuple[StepRecord, ...]) -> np.ndarray:
    """The loss per hidden token over the last steps."""
    return average_per_token([record.loss for record in records], [len(record.hidden) for record in records])


def find_run(view: View) -> Run:
    """The session's training as the fields ask for it: the one that is there, or a new one that has not begun.

    Raises TrainingError for what cannot be trained.
    """
    asked, origin = read_asked(), _find_origin(view)
    run = state.read(_RUN)
    if run is not None and run.asked == asked and (run.origin is origin or asked.learner == SMALL):
        run.look()
        return run
    drop_run()
    training = make_training(asked, origin, asked.settings)
    run = Run(asked, origin, _submit(MAIN, training))
    state.write(_RUN, run)
    return run


def ask_ahead(run: Run) -> Wanted[Ahead] | None:
    """All steps as they will come, for all who have these settings; None once one is taken, and where it takes long."""
    asked = run.asked
    if run.records or run.live or not _is_short(run):
        return None
    model = run.training.before
    work = partial(take_ahead, model, asked.sentences, asked.settings, RANKED)
    return Wanted(("training", *_name(run)), None, work)


def find_first(run: Run) -> Training | None:
    """A training of the same settings that has taken its first step and takes no other; None where that takes long.

    All who have these settings share it. It is asked for that step's numbers at once, whatever the queue does.
    """
    if not _is_short(run):
        return None
    drawn, key = get_drawn(), ("step 1", *_name(run))
    found = drawn.get(key)
    if found is None:
        found = Training(run.training.before, run.asked.sentences, run.asked.settings)
        with suppress(TrainingError):  # a step that gives no number: the training will say so
            found.advance()
        drawn.put(key, found, _STATES * sum(tensor.nbytes for tensor in found.weights.values()))
    return found if found.records else None


def _is_short(run: Run) -> bool:
    """Whether its steps are so cheap that they are worked out before anybody asks for them."""
    return run.asked.learner == SMALL and max(map(len, run.training.encodings)) <= _SHORT


def _name(run: Run) -> tuple[object, ...]:
    """All that its numbers depend on."""
    return run.asked, run.origin.name, run.origin.revision


def drop_run() -> None:
    """Leave the queue, and forget what was trained here."""
    run = state.take(_RUN)
    for ticket in run.tickets if run else ():
        ticket.stop()


def make_training(asked: Asked, origin: Model, settings: Settings) -> Hosted:
    """A training that has not begun."""
    check_numbers(settings)
    host = get_queue().host
    if asked.learner == SMALL:
        small = make_small_model(origin, asked.sentences, settings.seed, program=settings.program)
        return Hosted(host, small, asked.sentences, settings)
    only = name_head(origin, settings.program) if asked.learner == HEADS else None
    return Hosted(host, origin, asked.sentences, settings, only)


def _find_origin(view: View) -> Model:
    """The model that is copied, or whose tokenizer cuts the sentences: the app's, but none that was trained here."""
    model = view.trace.model
    return get_model(list_models()[0][0]) if model.name.startswith(OWN) else model


def _submit(track: str, training: Hosted) -> Ticket:
    return get_queue().submit(_name_owner(track), training, watch_connection(), read_visitor(), read_network())


def _name_owner(track: str) -> str:
    if not state.read(_OWNER):
        state.write(_OWNER, secrets.token_hex(8))
    return f"{state.read(_OWNER)} {track}"


def lay_beside(run: Run, **changed: object) -> None:
    """Train once more with one setting changed, to be compared. changed: as `Settings` has it."""
    settings = replace(run.asked.settings, **changed)

    def begin() -> None:
        training = make_training(run.asked, run.origin, settings)
        run.beside = _submit(BESIDE, training)
        run.beside_name = describe(settings)
        run.beside.resume()

    _try(run, begin)


def take_away(run: Run) -> None:
    """Lay nothing beside it any more."""
    if run.beside:
        run.beside.stop()
    run.beside, run.beside_name = None, ""


def _try(run: Run, act: Callable[[], object]) -> None:
    """Do it; where it cannot be done, the page says why. What is live is no longer drawn by itself alone."""
    try:
        act()
    except TrainingError as error:
        refuse(error)
    if run.live:
        choices.ask_for_rerun()


def refuse(error: TrainingError) -> None:
    """Have the page say why what was asked for cannot be done."""
    state.write(_REFUSED, str(error))


def go_on(run: Run) -> None:
    _try(run, run.ticket.resume)


def take_step(run: Run) -> None:
    _try(run, run.ticket.step)


def pause(run: Run) -> None:
    _halt(run, run.ticket.pause)


def stop(run: Run) -> None:
    _halt(run, run.ticket.stop)


def _halt(run: Run, act: Callable[[], object]) -> None:
    run.settling = 2 if run.ticket.standing is Standing.RUNNING else 0
    _try(run, act)


def reset(run: Run) -> None:
    """As before the first step, with nothing beside it."""
    take_away(run)
    _try(run, run.ticket.reset)


def take_refusal() -> str:
    """Why what was asked for last could not be done; "" if it could."""
    return state.take(_REFUSED)
