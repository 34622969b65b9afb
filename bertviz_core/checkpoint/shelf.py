"""Models that a process keeps for all its sessions: each loaded once, bounded in bytes."""

from __future__ import annotations

import gc
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from pathlib import Path
from weakref import WeakSet

import torch

from bertviz_core.checkpoint.hub import BUNDLED, locate, measure_weights, read_limit
from bertviz_core.checkpoint.model import Model, load_model
from bertviz_core.errors import BusyError, CheckpointError
from bertviz_core.sharing.lru import ByteLRU
from bertviz_core.sharing.pool import Pool

MODEL_BYTES = 4_000_000_000
RETRY_AFTER_S = 60.0
FAILURES = 32  # remembered at most
MOST_LOADING = 8  # models that are brought at a time: each has a thread, and a download a process
_LOOK_S = 0.2  # whether who waits for a model still does
_SETTLE_AFTER_S = 5.0  # of all that was loaded meanwhile: it holds the whole process for a moment


class ModelShelf:
    """Models by name, each loaded once. A failure is remembered for a while.

    max_bytes bounds all that are alive, also those that had to go and that somebody still looks at: one that finds no
    room beside them is refused. Whoever waits for a model that is being downloaded keeps nobody waiting who wants
    another. dropped: told of each model that had to go, so that nobody else keeps it alive; guard: called before a
    model is loaded, and raises BusyError where there is no memory for anything new.
    """

    def __init__(
        self,
        max_bytes: int = MODEL_BYTES,
        dropped: Callable[[Model], None] | None = None,
        guard: Callable[[], object] = lambda: None,
    ) -> None:
        torch.set_num_threads(1)  # many sessions on few cores: best throughput with one thread each
        self._models: Pool[str, Model] = Pool(max_bytes, lambda model: model.nbytes, dropped)
        self._own: WeakSet[Model] = WeakSet()  # made here: nothing could load them again
        self._guard = guard
        self._failures: ByteLRU[str, tuple[float, str]] = ByteLRU(FAILURES)
        self._loading: dict[str, Future[Model]] = {}
        self._lock = threading.Lock()
        self._reading = threading.Lock()  # files into memory, one model at a time, so that the bound can be kept
        self._settling: threading.Timer | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of the parameters of all models that are alive, also of those that only a trace still holds."""
        return self._models.nbytes

    def get(self, name: str, waiting: Callable[[], object] = lambda: None) -> Model:
        """The model, loaded now if need be, by a thread of its own. Raises CheckpointError; BusyError where too
        many are being brought already.

        waiting: called a few times a second meanwhile; what it raises ends the waiting, and the model comes all the
        same, for others and for later.
        """
        found = self._models.get(name)
        if found is not None:
            return found
        with self._lock:
            loading = self._loading.get(name)
            if loading is None:
                if len(self._loading) >= MOST_LOADING:
                    raise BusyError(f"{MOST_LOADING} other models are being loaded. Try again in a minute.")
                loading = self._loading[name] = Future()
                threading.Thread(target=self._bring, args=(name, loading), name="load-model", daemon=True).start()
        while not wait([loading], _LOOK_S).done:
            waiting()
        try:
            return loading.result()
        finally:
            del loading  # an error knows what was at work, and that would know the error: memory in a circle

    def _bring(self, name: str, loading: Future[Model]) -> None:
        try:
            model = self._models.get(name) or self._load(name)
        except BaseException as error:  # whoever waits is told; whoever asks after that has it tried anew
            self._end_loading(name)
            loading.set_exception(error)
        else:
            self._end_loading(name)
            loading.set_result(model)
        finally:
            del loading  # as above

    def _end_loading(self, name: str) -> None:
        with self._lock:
            del self._loading[name]

    def adopt(self, key: str, model: Model) -> None:
        """Keep a model that was made here under a key of its own, as one that was loaded: under the same bound."""
        self._own.add(model)
        self._models.put(key, model)

    def clear(self) -> None:
        """Let go of the models that can be loaded again, but for the bundled one, which all need."""
        self._models.drop(lambda model: model.name != BUNDLED and model not in self._own)

    def find(self, key: str) -> Model | None:
        """A model that was loaded or adopted; None where it was not, or had to go."""
        return self._models.get(key)

    def forget_failure(self, name: str) -> None:
        """Let the next `get` try again at once."""
        self._failures.put(name, (-math.inf, ""), 1)

    def _load(self, name: str) -> Model:
        failed_at, reason = self._failures.get(name) or (-math.inf, "")
        if time.monotonic() - failed_at < RETRY_AFTER_S:
            raise CheckpointError(reason)
        try:
            self._guard()
            place = locate(name)
            with self._reading:
                self._make_room(name, place.folder)
                model = load_model(name)
                self._models.put(name, model)
        except CheckpointError as error:
            self._failures.put(name, (time.monotonic(), str(error)), 1)
            raise
        self._settle_soon()
        return model

    def _settle_soon(self) -> None:
        with self._lock:
            if self._settling is None or not self._settling.is_alive():
                self._settling = threading.Timer(_SETTLE_AFTER_S, _settle)
                self._settling.daemon = True
                self._settling.start()

    def _make_room(self, name: str, folder: Path) -> None:
        size, limit = measure_weights(folder), read_limit()
        if size > limit:
            raise CheckpointError(
                f"{name!r} is {size / 1e9:.1f} GB; the limit here is {limit / 1e9:.1f} GB. Choose a smaller model."
            )
        if not self._models.make_room(size):
            raise CheckpointError(
                f"There is no room for {name!r} ({size / 1e9:.1f} GB) beside the models that others look at now, "
                f"{self.nbytes / 1e9:.1f} GB. Choose one that is here already, or try again when they have left."
            )


def _settle() -> None:
    """Spare what is here to stay from garbage collection, until the next model comes.

    Streamlit collects after every run of a script, while its last elements wait to be sent: 150 ms for 270,000 objects.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
