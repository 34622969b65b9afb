"""The files that visitors save: each made when it is asked for, one at a time, and kept until it has been fetched.

Streamlit makes all that is asked for at once, and keeps each until two pages more have been run, whoever by: nothing
bounds the memory of many files, and one may be gone before its browser comes for it.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from math import ceil

from bertviz_core.errors import BertvizError, BusyError, InputError
from bertviz_core.sharing.fairness import find_place, is_crowded
from bertviz_core.sharing.memory import FILE, read_budget
from bertviz_core.ui.frame.budget import get_budget
from bertviz_core.ui.frame.resources import get_line, get_watch
from bertviz_core.ui.frame.streamlit_inside import (
    Answer,
    Wanted,
    answer_with_file,
    drop_file,
    find_wanted,
    is_connected,
    put_file,
    refuse_file,
    wrap_downloads,
)
from bertviz_core.ui.frame.visitor import read_network, read_visitor, work_for

LOG = logging.getLogger(__name__)
KEPT_S = 120.0  # a browser comes for its file at once; a slow one has it whole by then, or holds it itself
MOST = 54  # files that wait to be made; three quarters are a class
_GONE = "This file was offered by a page that has changed since. Choose it again, or load the page again."
_MADE = "A file is being made for you already. Choose this one again when you have it."
_CROWDED = "Many files are to be made for your address already. Choose it again in a minute."
_BUSY = f"{MOST} files of others are to be made before. Choose it again in a minute."
_FAILED = "The server could not make this file. Load the page again and choose it once more."


def fit_files() -> None:
    """Have the server make files only as they can be spared."""
    wrap_downloads(make_files)


def make_files(_: Answer) -> Answer:
    """What answers whoever asks for a file, instead of Streamlit's own."""

    async def answer(_handler: object, request: object, session: str) -> object:
        try:
            return answer_with_file(request, await get_files().make(request, session))
        except BertvizError as error:
            return refuse_file(request, str(error))
        except Exception:
            LOG.exception("A file could not be made")
            return refuse_file(request, _FAILED)

    return answer


def check_size(nbytes: int) -> None:
    """Raises InputError for a file that is larger than this server makes any."""
    if nbytes > FILE:
        raise InputError(
            f"This file would have more than {FILE / 1e6:.0f} MB. Take it as .npy, which is smaller, or choose a "
            "shorter sentence; with Python every number is there, however many."
        )


@dataclass(frozen=True)
class _Kept:
    nbytes: int
    until: float


@dataclass(frozen=True, eq=False)
class _Asked:
    """A file that is to be made, for a visitor from an address; done: its own address, once it is there."""

    visitor: str
    near: str
    make: Callable[[], str]
    done: Future[str] = field(default_factory=Future[str])


class Files:
    """Those of all visitors. room: bytes that are kept; of more the oldest go, but not the newest; put: has the server
    hold a file, and gives its address; drop: has it let go of the file at an address.
    """

    def __init__(
        self, room: int, put: Callable[[bytes, Wanted], str] = put_file, drop: Callable[[str], object] = drop_file
    ) -> None:
        self._room, self._put, self._drop = room, put, drop
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = threading.RLock()
        self._asked: list[_Asked] = []  # in the order in which they are made; the first is, or is about to be
        self._maker = ThreadPoolExecutor(1, "files")

    @property
    def nbytes(self) -> int:
        with self._lock:
            return sum(kept.nbytes for kept in self._kept.values())

    async def make(self, request: object, session: str) -> str:
        """The address of a file that a session asks for. Raises BertvizError where it cannot have that now."""
        wanted, visitor = find_wanted(request, session), read_visitor(session)
        if wanted is None:
            raise InputError(_GONE)
        make = partial(self._work, wanted, session, visitor, asyncio.get_running_loop())
        asked = _Asked(visitor, read_network(session), make)
        with self._lock:
            self._admit(asked)
            self._asked.insert(find_place(self._asked, asked), asked)
        asked.done.add_done_callback(lambda _: self._leave(asked))
        self._maker.submit(self._make_next)  # whichever is the next by then, unless its browser has gone
        return await asyncio.wrap_future(asked.done)

    def clear(self) -> None:
        """Let go of all: whoever has not fetched theirs asks again."""
        with self._lock:
            for url in tuple(self._kept):
                self._forget(url)

    def _admit(self, asked: _Asked) -> None:
        if any(other.visitor == asked.visitor for other in self._asked):
            raise BusyError(_MADE)
        if len(self._asked) >= MOST:
            raise BusyError(_BUSY)
        if is_crowded(self._asked, asked.near, MOST):
            raise BusyError(_CROWDED)
        if left := get_budget().count_wait(asked.visitor):
            raise BusyError(
                f"You are asking for more than your share of this server. Choose it again in {ceil(left)} s."
            )

    def _leave(self, asked: _Asked) -> None:
        with self._lock:
            self._asked.remove(asked)

    def _make_next(self) -> None:
        with self._lock:
            asked = next(iter(self._asked), None)
        if asked is None or not asked.done.set_running_or_notify_cancel():
            return
        try:
            url = asked.make()
        except Exception as error:
            asked.done.set_exception(error)
        else:
            asked.done.set_result(url)

    def _work(self, wanted: Wanted, session: str, visitor: str, loop: asyncio.AbstractEventLoop) -> str:
        """Make a file, in the lane of costly work; its address."""
        if not is_connected(session):
            raise InputError(_GONE)
        with work_for(session), get_line().turn(costly=True):
            began = time.thread_time()
            try:
                get_watch().refuse_if_full()
                content = wanted.make()
                url = self._keep(content, wanted)
            finally:
                get_budget().charge(visitor, time.thread_time() - began)
        loop.call_soon_threadsafe(loop.call_later, KEPT_S, self._expire, url)
        return url

    def _keep(self, content: bytes, wanted: Wanted) -> str:
        """Hold a file for a while, and no more of them all than there is room for; its address."""
        url = self._put(content, wanted)
        with self._lock:
            self._kept[url] = _Kept(len(content), time.monotonic() + KEPT_S)
            self._kept.move_to_end(url)
            while len(self._kept) > 1 and self.nbytes > self._room:
                self._forget(next(iter(self._kept)))
        return url

    def _expire(self, url: str) -> None:
        with self._lock:
            if url in self._kept and time.monotonic() >= self._kept[url].until:  # nobody has asked for it again
                self._forget(url)

    def _forget(self, url: str) -> None:
        if self._kept.pop(url, None) is not None:
            self._drop(url)


@cache
def get_files() -> Files:
    """The process's."""
    files = Files(read_budget().bounds.files)
    get_watch().empty_with(files.clear)
    return files
