"""Processes of the app that are kept alive: one that ends or hangs is replaced, and none serves before it is warm."""

from __future__ import annotations

import asyncio
import logging
import sys
from asyncio.subprocess import Process
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from deploy.proxy import HEALTH, Place

ROOT = Path(__file__).parents[1]
CHILD = ("setpriv", "--pdeathsig", "TERM")  # a child ends with its parent, even where that was killed
PROGRAM = (sys.executable, "-m", "deploy.replica")  # is given a socket, which it opens when it is warm
CHECK_SECONDS = 15.0  # from one question after a replica's health to the next, and the longest wait for an answer
CHECKS = 3  # so many in a row without an answer, and it hangs: a loaded process is late, but not this late
GRACE_SECONDS = 10.0  # from the request to end until the end is made
PAUSES_SECONDS = (1.0, 2.0, 5.0, 10.0, 30.0)  # before another try, where a process ended before it was warm
LOG = logging.getLogger("deploy")


@dataclass
class Replica:
    """The place of one process in the service; the process itself comes and goes."""

    number: int
    place: Place
    environment: dict[str, str]
    renew: asyncio.Event = field(default_factory=asyncio.Event)  # set it to have the process replaced
    renewed: asyncio.Event = field(default_factory=asyncio.Event)
    _process: Process | None = None

    async def keep(self) -> None:
        """Keep a warm process in service until cancelled. Its successor is warm before it is told to end."""
        failures = 0
        try:
            for generation in count():
                if await self._launch(self.place.folder / f"starting-{self.number}-{generation}.sock"):
                    failures = 0
                    await self._need_another()
                else:
                    await asyncio.sleep(PAUSES_SECONDS[min(failures, len(PAUSES_SECONDS) - 1)])
                    failures += 1
        finally:
            await end(self._process)

    async def _launch(self, socket: Path) -> bool:
        """Start a process and, once it is warm, put it in the place of the one before. False: it ended before that."""
        self.renew.clear()
        process = await asyncio.create_subprocess_exec(
            *(*CHILD, *PROGRAM, socket),
            cwd=ROOT,
            env=self.environment,
            stdin=asyncio.subprocess.DEVNULL,
        )
        try:
            while not (socket.exists() and await is_healthy(socket)):
                if process.returncode is not None:
                    LOG.error("process %d ended with %d before it was warm", self.number, process.returncode)
                    return False
                await asyncio.sleep(0.1)
        except asyncio.CancelledError:
            await end(process)
            raise
        before, self._process = self._process, process
        socket.replace(self.place.socket(self.number))  # from here on, whoever connects comes to the new process
        self.place.aside(self.number).unlink(missing_ok=True)
        LOG.info("process %d is warm and serves (pid %d)", self.number, process.pid)
        await end(before)
        if not self.renew.is_set():  # asked for while this one was starting: then it is the next one that counts
            self.renewed.set()
        return True

    async def _need_another(self) -> None:
        """Return when the process has ended, hangs (then it is ended), or is to be replaced."""
        assert self._process is not None
        events = [self._process.wait(), self._hang(), self.renew.wait()]
        waiting = [asyncio.ensure_future(event) for event in events]
        try:
            ended, hangs, _ = waiting
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                LOG.error("process %d ended with %s and is started again", self.number, ended.result())
            elif hangs.done():
                LOG.error("process %d no longer answers and is started again", self.number)
                with suppress(ProcessLookupError):
                    self._process.kill()
        finally:
            for task in waiting:
                task.cancel()

    async def _hang(self) -> None:
        """Return when so many questions in a row had no answer. After the first of them nobody is sent there any more,
        where they would wait in vain, until one is answered.
        """
        socket, aside = self.place.socket(self.number), self.place.aside(self.number)
        unanswered = 0
        while unanswered < CHECKS:
            asked = aside if unanswered else socket
            answers, _ = await asyncio.gather(is_healthy(asked), asyncio.sleep(CHECK_SECONDS))
            unanswered = 0 if answers else unanswered + 1
            if asked != (here := aside if unanswered else socket):
                asked.replace(here)


async def is_healthy(socket: Path) -> bool:
    """Ask a process how it is, and wait a while for the answer."""
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            reader, writer = await asyncio.open_unix_connection(socket)
            try:
                writer.write(f"GET {HEALTH} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
                return b" 200 " in await reader.readline()
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return False


async def end(process: Process | None) -> None:
    """Ask a process to end, and see to it that it does."""
    if process is None or process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(GRACE_SECONDS):
            await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
