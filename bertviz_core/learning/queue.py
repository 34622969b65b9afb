"""One training at a time for the whole process that answers visitors: who is next, and who has gone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from enum import Enum
from weakref import WeakSet

from bertviz_core.errors import TrainingError
from bertviz_core.learning.fairness import choose_greedy
from bertviz_core.learning.host import Host
from bertviz_core.learning.hosted import Hosted
from bertviz_core.learning.presence import Presence
from bertviz_core.learning.records import PassRecord, StepRecord
from bertviz_core.learning.room import Room, check_together, fit_together
from bertviz_core.sharing.fairness import find_place, is_crowded

TURN_S = 60.0  # for so long a training runs while others wait; then it goes behind them
RESTING_S = 30.0  # what has not run for so long makes room for somebody else's, also where its owner looks on
MAX_WAITING = 54  # three quarters are a class; most of their trainings end within their first turn
EACH, NAMELESS = 4, 20  # trainings of one visitor in the line; of all without a name
_MADE_ROOM = "This training made room for somebody else's; its numbers stay. Start it again: the same steps come."
_GIVEN_UP = "Nobody looked on for a minute, so this training was given up. Start it again: the same steps come."


class Standing(Enum):
    """What becomes of a ticket."""

    WAITING = "waiting"
    RUNNING = "running"
    PAUSED = "paused"  # also before the first step, and when its owner was away
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


_ENDED = (Standing.STOPPED, Standing.FAILED, Standing.DONE)


class Ticket:
    """A training in the queue, in its owner's hands. Whoever holds it may call everything at any time.

    touch: to be called every second while somebody looks; a ticket in the line that is not touched is paused, at once
    where its owner is not connected, and later where a busy server may be the reason.
    """

    def __init__(self, queue: Queue, key: str, training: Hosted, owner: Presence, visitor: str, near: str = "") -> None:
        self.key, self.training, self.visitor, self.near = key, training, visitor, near
        self.owner = owner
        self._queue = queue
        self._left = queue.clock()
        self._wanted = 0  # steps
        self._standing = Standing.PAUSED
        self._error = ""
        self._away = False

    @property
    def standing(self) -> Standing:
        return Standing.FAILED if self.lost else self._standing

    @property
    def room(self) -> Room:
        return self.training.room

    @property
    def error(self) -> str:
        """Why it failed; "" if it did not."""
        return self._error or self.training.lost

    @property
    def lost(self) -> bool:
        """Whether its weights are gone, through no fault of its own: it can be started again."""
        return bool(self.training.lost)

    @property
    def away(self) -> bool:
        """Whether it was paused because its owner was not seen."""
        return self._away

    @property
    def place(self) -> int | None:
        """How many are before it: 0 runs; None where it is not in the line."""
        return self._queue.place(self)

    @property
    def records(self) -> tuple[StepRecord, ...]:
        return self.training.records

    @property
    def passes(self) -> tuple[PassRecord, ...]:
        return self.training.passes

    def touch(self) -> None:
        """Its owner is there."""
        self.owner.touch()

    def may_make_room(self, now: float) -> bool:
        """Whether it does not run, and its owner is not there, or has had time to look at what came of it."""
        return self.training.held and (not self.owner.is_connected or now - self._left > RESTING_S)

    def resume(self) -> None:
        """Run all steps that are left, once it is its turn; what was lost begins again.

        Raises TrainingError where too many wait, and where there is no room beside what others train.
        """
        self._enter(self.training.steps_total)

    def step(self) -> None:
        """Run one step, once it is its turn. Raises TrainingError as `resume` does."""
        self._enter(1)

    def _enter(self, steps: int) -> None:
        if self.lost:
            self.reset()
        self._queue.enter(self, steps)

    def pause(self) -> None:
        """Leave the line after the step that runs, and give others the place."""
        self._queue.leave(self, Standing.PAUSED)

    def stop(self) -> None:
        """Leave the line for good; what has been learned stays."""
        self._queue.leave(self, Standing.STOPPED)

    def reset(self) -> None:
        """Leave the line, and be as before the first step."""
        self._queue.leave(self, Standing.PAUSED)
        self.training.reset()
        self._queue.forget_end(self)


def start_thread(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="training", daemon=True).start()


class Queue:
    """The line of trainings. The first one runs, in the process of `host`; a thread that lives while there is one waits
    for its steps.

    clock: the time in seconds, never set back; spawn: starts the work in a thread. Of a training that runs or waits the
    queue holds the ticket; of any other it holds nothing. Its lock is never held while anybody works.
    """

    def __init__(
        self,
        host: Host,
        clock: Callable[[], float] = time.monotonic,
        spawn: Callable[[Callable[[], None]], None] = start_thread,
    ) -> None:
        self.host = host
        self.clock = clock
        self._spawn = spawn
        self._line: list[Ticket] = []
        self._lock = threading.Lock()
        self._working = False
        self._began = clock()  # the turn of the first one
        self._tickets: WeakSet[Ticket] = WeakSet()
        host.watch(self.tend)

    def submit(
        self,
        key: str,
        training: Hosted,
        connected: Callable[[], bool] = lambda: False,
        visitor: str = "",
        near: str = "",
    ) -> Ticket:
        """A ticket for a training, paused. It takes no memory before its first step.

        key: its owner; what else the owner has in the line leaves it. connected: tells whether the owner can look.
        visitor: who may have EACH in the line; without a name, all together NAMELESS. near: the address of that one.
        """
        ticket = Ticket(self, key, training, Presence(self.clock, connected), visitor, near)
        with self._lock:
            self._tickets.add(ticket)
            for other in [ticket for ticket in self._line if ticket.key == key]:
                self._remove(other, Standing.STOPPED)
        return ticket

    def tend(self) -> None:
        """Pause what has lost its owner, and give up what has lost it for long: its memory is needed."""
        now = self.clock()
        with self._lock:
            self._sweep()
            held = [ticket for ticket in self._tickets if ticket.training.held]
        for ticket in held:
            if ticket.owner.is_gone(now):
                self.leave(ticket, Standing.PAUSED)
                ticket.training.give_up(_GIVEN_UP)

    def place(self, ticket: Ticket) -> int | None:
        """How many are before a ticket in the line."""
        with self._lock:
            self._sweep()
            return self._line.index(ticket) if ticket in self._line else None

    def __len__(self) -> int:
        with self._lock:
            self._sweep()
            return len(self._line)

    def enter(self, ticket: Ticket, steps: int) -> None:
        """Let a ticket run so many steps more; it enters the line, if it is not in it."""
        for resting in self._list_in_the_way(ticket):
            resting.training.give_up(_MADE_ROOM)
        with self._lock:
            self._sweep()
            if ticket.standing in _ENDED:
                return
            if ticket not in self._line:
                self._check_room(ticket)
                ticket._standing, ticket._away = Standing.WAITING, False
                self._line.insert(find_place(self._line, ticket), ticket)
            ticket._wanted = steps
            ticket.touch()
            if self._working:
                return
            self._working = True
        self._spawn(self.work)

    def leave(self, ticket: Ticket, standing: Standing) -> None:
        """Take a ticket out of the line; a step that runs is taken to its end, or as far as it can be interrupted."""
        with self._lock:
            if ticket.standing not in _ENDED:
                ticket._away = False
                self._remove(ticket, standing)

    def forget_end(self, ticket: Ticket) -> None:
        """A ticket that has ended may begin again."""
        with self._lock:
            if ticket not in self._line:
                ticket._standing, ticket._error, ticket._away = Standing.PAUSED, "", False

    def work(self) -> None:
        """Run the line until it is empty."""
        while (ticket := self._next()) is not None:
            self._began = self.clock()
            while self._may_go_on(ticket):
                self._advance(ticket)

    def _has_had_turn(self) -> bool:
        """Whether the one that runs has run for so long that others come first."""
        return self.clock() - self._began > TURN_S

    def _check_room(self, ticket: Ticket) -> None:
        if len(self._line) >= MAX_WAITING:
            raise TrainingError(
                f"{MAX_WAITING} trainings run or wait already; one at a time can run. Try again in a minute."
            )
        if is_crowded(self._line, ticket.near, MAX_WAITING):
            raise TrainingError("Many trainings from your address run or wait already. Try again in a minute.")
        most = EACH if ticket.visitor else NAMELESS
        if sum(other.visitor == ticket.visitor for other in self._line) >= most:
            whose = "yours" if ticket.visitor else "visitors without a cookie"
            raise TrainingError(f"{most} trainings of {whose} run or wait already. Pause one, or wait for its end.")
        check_together(*_list_rooms(ticket, self._list_holding(ticket)))

    def _list_holding(self, ticket: Ticket) -> list[Ticket]:
        """The others that hold memory, or are about to."""
        return [
            other for other in self._tickets if other is not ticket and (other.training.held or other in self._line)
        ]

    def _list_in_the_way(self, ticket: Ticket) -> list[Ticket]:
        """What must be given up so that a ticket can enter, and no more: what is at rest, longest first; then what an
        address has that holds most of the memory, the last in the line first, but nothing in its turn.

        None where that would not be enough.
        """
        with self._lock:
            others, now = self._list_holding(ticket), self.clock()
            resting = [other for other in others if other not in self._line]
            movable = [*self._line[0 if self._has_had_turn() else 1 :], *resting]
        if ticket.standing in _ENDED or fit_together(*_list_rooms(ticket, others)):
            return []
        first = sorted(resting, key=lambda one: (one.owner.is_connected, one._left))
        willing = [other for other in first if other.may_make_room(now)]
        given: list[Ticket] = []
        while (other := next(iter(willing), None) or choose_greedy(ticket, others, movable)) is not None:
            given.append(other)
            willing, others, movable = (
                [one for one in kept if one is not other] for kept in (willing, others, movable)
            )
            if fit_together(*_list_rooms(ticket, others)):
                return given
        return []

    def _next(self) -> Ticket | None:
        with self._lock:
            self._sweep()
            self._working = bool(self._line)
            return self._line[0] if self._line else None

    def _may_go_on(self, ticket: Ticket) -> bool:
        with self._lock:
            self._sweep()
            if not self._line or self._line[0] is not ticket:
                return False
            if len(self._line) > 1 and self._has_had_turn():
                ticket._standing = Standing.WAITING
                del self._line[0]
                self._line.insert(find_place(self._line, ticket), ticket)
                return False
            ticket._standing = Standing.RUNNING
            return True

    def _advance(self, ticket: Ticket) -> None:
        error, taken = "", 0
        try:
            taken = ticket.training.advance(ticket._wanted)
        except TrainingError as failed:
            error = str(failed)
        except Exception as failed:  # whatever it was, the others in the line must not wait for ever
            error = f"The step came to no end ({type(failed).__name__}). Start again."
        with self._lock:
            ticket._wanted -= taken
            if ticket.lost:
                self._remove(ticket, Standing.PAUSED)
            elif error:
                ticket._error = error
                self._remove(ticket, Standing.FAILED)
            elif ticket.training.finished:
                self._remove(ticket, Standing.DONE)
            elif ticket in self._line and ticket._wanted <= 0:
                self._remove(ticket, Standing.PAUSED)

    def _sweep(self) -> None:
        """Pause what has lost its owner, and let go of what is lost."""
        now = self.clock()
        for ticket in [ticket for ticket in self._line if ticket.lost]:
            self._remove(ticket, Standing.PAUSED)
        for ticket in [ticket for ticket in self._line if ticket.owner.is_away(now)]:
            ticket._away = True
            self._remove(ticket, Standing.PAUSED)

    def _remove(self, ticket: Ticket, standing: Standing) -> None:
        if ticket.standing is Standing.RUNNING:
            ticket.training.halt()
        ticket._standing = standing
        if ticket in self._line:
            self._line.remove(ticket)
            ticket._left = self.clock()


def _list_rooms(ticket: Ticket, others: Collection[Ticket]) -> tuple[Room, list[Room]]:
    return ticket.training.room, [other.training.room for other in others]
