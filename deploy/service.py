"""The whole service on one machine: nginx, the replicas behind it, and the signals that it answers."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import signal
import tempfile
from pathlib import Path

from deploy.machine import count_share
from deploy.proxy import LISTENS, Place, lay_out_assets, render_config
from deploy.replicas import CHILD, Replica, end

LOG = logging.getLogger("deploy")


async def serve(address: str, port: int, processes: int) -> int:
    """Serve until told to end: SIGTERM or SIGINT ends all, SIGHUP replaces one process after the other.

    Returns the exit status: 0 where it was told to, 1 where nginx ended by itself.
    """
    with tempfile.TemporaryDirectory(prefix="bert-explorer-") as folder:
        place = Place(address, port, Path(folder))
        config = place.folder / "nginx.conf"
        config.write_text(render_config(place, processes), encoding="utf-8")
        nginx = await asyncio.create_subprocess_exec(*CHILD, "nginx", "-e", "stderr", "-c", config)
        await asyncio.to_thread(lay_out_assets, place.folder / "assets")
        environment = {**make_environment(processes), LISTENS: address}
        replicas = [Replica(number, place, environment) for number in range(processes)]
        keepers = [asyncio.create_task(replica.keep()) for replica in replicas]
        told = listen_to_signals(replicas)
        gone = asyncio.create_task(nginx.wait())
        try:
            done, _ = await asyncio.wait([told, gone, *keepers], return_when=asyncio.FIRST_COMPLETED)
        finally:
            LOG.info("ending")
            await end(nginx)
            for keeper in keepers:
                keeper.cancel()
            ends = await asyncio.gather(*keepers, return_exceptions=True)
        for problem in ends:
            if isinstance(problem, Exception):
                raise problem
        return 0 if told in done else 1


def make_environment(processes: int) -> dict[str, str]:
    """What every replica is told. What the operator has set stays as it is."""
    chosen = {
        # Whoever visits a public server neither has it download what they name nor learns what lies in its folders.
        "BERTVIZ_MODELS": "bundled",
        # What one replica has signed, another one believes.
        "STREAMLIT_SERVER_COOKIE_SECRET": secrets.token_hex(32),
        # Its part of what the container has: all that a process keeps is bounded by that.
        "BERTVIZ_MEMORY_MB": f"{count_share(processes) / 1e6:.0f}",
    }
    if processes > 1:
        chosen["OMP_NUM_THREADS"] = "1"  # the cores are taken: one process each
    return {**chosen, **os.environ}


def listen_to_signals(replicas: list[Replica]) -> asyncio.Future[None]:
    """A future that is done when the service is told to end."""
    loop = asyncio.get_running_loop()
    told: asyncio.Future[None] = loop.create_future()
    rolls: set[asyncio.Task[None]] = set()  # the loop itself holds a task only weakly

    def roll_once() -> None:
        if not rolls:
            task = asyncio.create_task(roll(replicas))
            rolls.add(task)
            task.add_done_callback(rolls.discard)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, lambda: told.done() or told.set_result(None))
    loop.add_signal_handler(signal.SIGHUP, roll_once)
    return told


async def roll(replicas: list[Replica]) -> None:
    """Replace all processes, one by one: a version that does not start stops at the first."""
    for replica in replicas:
        replica.renewed.clear()
        replica.renew.set()
        await replica.renewed.wait()
    LOG.info("all processes are new")
