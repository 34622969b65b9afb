"""A training whose steps are taken in a process of their own: here are its plan and the numbers that it has published.

What is read of it is in this process's memory and never waited for. What must be asked for is a question with an end.
"""

from __future__ import annotations

import pickle
import threading
import time
import weakref
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import torch

from bertviz_core.checkpoint.model import Model
from bertviz_core.errors import TrainingError
from bertviz_core.formula.address import Where
from bertviz_core.formula.explain import Explanation
from bertviz_core.learning.host import ASK_S, Host
from bertviz_core.learning.link import Link
from bertviz_core.learning.looking import MovedHead, Ranked
from bertviz_core.learning.messages import Advance, Ask, Begin, Progress
from bertviz_core.learning.parcel import pack_model
from bertviz_core.learning.plan import Plan
from bertviz_core.learning.records import PassRecord, StepRecord
from bertviz_core.learning.settings import Settings
from bertviz_core.sharing.lru import ByteLRU

STRETCH_S = 0.25  # of steps: so often others may get in
_ANSWER_BYTES = 4_000_000  # of what was answered, to be had again at once
_BY_PASSES = frozenset({"rank_words", "find_moved_head"})  # questions that whole forward passes answer
_UNHELD = "This training has no weights yet. Take a step first."


class Hosted(Plan):
    """A training in the process of `host`. Raises TrainingError like any plan."""

    def __init__(
        self,
        host: Host,
        model: Model,
        sentences: Sequence[str],
        settings: Settings | None = None,
        only: Collection[str] | None = None,
    ) -> None:
        super().__init__(model, sentences, settings, only)
        self._host = host
        self._lock = threading.Lock()  # of what is published: nobody works while holding it
        self._forget()

    def _forget(self) -> None:
        self._place: tuple[Link, int] | None = None
        self._gone: weakref.finalize[..., Any] | None = None
        self._records: tuple[StepRecord, ...] = ()
        self._passes: tuple[PassRecord, ...] = ()
        self._asked = 0
        self._given_up = ""
        self._answers: ByteLRU[tuple[Any, ...], Any] = ByteLRU(_ANSWER_BYTES)

    @property
    def records(self) -> tuple[StepRecord, ...]:
        return self._records

    @property
    def passes(self) -> tuple[PassRecord, ...]:
        return self._passes

    @property
    def asked(self) -> int:
        """Of how many words the probability is known already, while they are asked for."""
        return self._asked

    @property
    def held(self) -> bool:
        """Whether the process holds it, and memory for it."""
        place = self._place
        return place is not None and not place[0].why

    @property
    def lost(self) -> str:
        """Why its weights are gone; "" where they are not, or there never were any."""
        place = self._place
        return place[0].why if place is not None else self._given_up

    def advance(self, steps: int = 1) -> int:
        """Take up to so many steps, as many as go into a short time; gives how many. Waits for them.

        Raises TrainingError where a step fails, and where the process ends.
        """
        before = len(self._records)
        link, number = self._place or self._begin()
        self._host.run(link, number, lambda answer: Advance(answer, number, steps, STRETCH_S))
        return len(self._records) - before

    def halt(self) -> None:
        """Have no further step taken now; of a step that runs it depends on how far it is."""
        if self._place is not None:
            self._host.halt(*self._place)

    def reset(self) -> None:
        """Back to before the first step: the same draws come again."""
        with self._lock:
            self._release()
            self._forget()

    def give_up(self, why: str) -> None:
        """Let the process forget it; what was published stays to be read."""
        with self._lock:
            self._release()
            self._place, self._given_up = None, why

    def explain(self, address: Where, number: int | None = None) -> Explanation:
        """As `Training.explain` does it."""
        return self._ask("explain", address, self.record(number).number)

    def largest_gradient(self, number: int | None = None) -> str:
        return self._ask("largest_gradient", self.record(number).number)

    def curve_along(self, address: Where, number: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        return self._ask("curve_along", address, self.record(number).number)

    def gradient_lengths(self, number: int) -> dict[str, float]:
        return self._ask("gradient_lengths", self.record(number).number)

    def rank_words(self, sentence: int, token: int, count: int) -> tuple[Ranked, Ranked]:
        """What is predicted first for a token that is not shown, before any step and now. sentence: from 1."""
        return self._ask("rank_words", sentence, token, count)

    def find_moved_head(self) -> MovedHead:
        """The head whose attention weights have changed most on the first sentence."""
        return self._ask("find_moved_head")

    def fetch_model(self) -> Model:
        """The model as it is trained now, with weights of its own in this process. Raises TrainingError."""
        if not self._records:
            return self.before
        steps, found = self._fetch("weights")
        return self.dress({name: torch.from_numpy(array) for name, array in found.items()}, steps)

    def _begin(self) -> tuple[Link, int]:
        """Have the process hold it."""
        me = weakref.ref(self)

        def listen(progress: Progress) -> None:
            hosted = me()
            if hosted is not None:
                hosted._publish(progress)

        link, number = place = self._host.hold(listen)
        with self._lock:
            self._place, self._gone = place, weakref.finalize(self, self._host.release, number)
        only = None if self.only is None else frozenset(self.only)
        begun = link.ask(
            lambda answer: Begin(answer, number, pack_model(self.before), self.sentences, self.settings, only)
        )
        begun.result()
        return place

    def _release(self) -> None:
        if self._gone is not None:
            self._gone()
            self._gone = None

    def _publish(self, progress: Progress) -> None:
        with self._lock:
            if self._place is not None and self._place[1] == progress.training:
                self._records += progress.records
                self._passes += progress.passes
                self._asked = progress.asked

    def _ask(self, what: str, *given: Any) -> Any:
        """An answer that is the same as long as no step is taken: it is remembered."""
        key = (what, given, len(self._records))
        found = self._answers.get(key)
        if found is None:
            answers = self._answers
            with self._host.passes() if what in _BY_PASSES else nullcontext():
                found = self._fetch(what, *given)
            answers.put(key, found, len(pickle.dumps(found)))
        return found

    def _fetch(self, what: str, *given: Any) -> Any:
        """An answer of the process. Raises TrainingError where it has none, or none in time."""
        place = self._place
        if place is None:
            raise TrainingError(self._given_up or _UNHELD)
        link, number = place
        until = time.monotonic() + ASK_S
        return self._host.wait_for(link.ask(lambda answer: Ask(answer, number, what, given, until)))
