"""Strangers who mean no good: `python benchmarks/attackers.py NAME URL [--seconds 30] [--pid PID]` is one of them.

Each attack is a function whose first line says what the stranger does. It goes on until its time is over, whatever the
server says to it, and then prints as JSON what it did, how often, and how often it was refused. benchmarks/attacks.py
starts them, each in a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count, cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

from askers import ask_changes, ask_methods, listen_to_class, match_alike, tell_stories
from flooders import begin_to_ask, churn
from hostile import copy_checkpoint, damage, draw_query, draw_text
from lines import dial
from nuisances import (
    crowd_alike,
    crowd_without,
    drip,
    hold_open,
    kill_replica,
    list_servers,
    reload,
    send_big,
    stay_silent,
    upload,
)
from served import ROOT, list_family
from stranger import REFUSALS, Stranger, drain
from takers import ask_forged, fill_room, hold_long, save_handouts, send_parts
from wire import Conversation

_LAST = 19  # the lowest priority: what a stranger does takes time of the stranger's own machine, not of the server's
LONG = 505  # words: about as many as a sentence can have


async def train(stranger: Stranger, owners: int, stay: float) -> None:
    """Have the bundled model trained for hours, from several sessions, and leave in the middle."""

    async def own() -> None:
        asked = {"texts": stranger.write(LONG - 5), "passes": 2000, "learner": "copy", "practised": "true"}
        line, talk = await dial(stranger.url, await stranger.come()), Conversation()
        try:
            await stranger.ask(line, talk, talk.open("training", urlencode(asked)))
            if "Start" in talk.buttons:
                await stranger.ask(line, talk, talk.press("Start"))
                stranger.done["trainings"] += 1
            while stranger.left > stay:  # a page that is looked at
                await asyncio.sleep(1.0)
                await stranger.ask(line, talk, talk.rerun())
        finally:
            line.transport.abort()
        await asyncio.sleep(stranger.left)

    await stranger.together([own] * owners)


async def train_one(stranger: Stranger) -> None:
    """Train a copy of the model on 500 words, 2,000 passes as practised, and leave in the middle of it."""
    await train(stranger, 1, stranger.left / 2)


async def train_many(stranger: Stranger) -> None:
    """The same from six sessions at once, none of which leaves."""
    await train(stranger, 6, 0.0)


async def flood(stranger: Stranger, sockets: int) -> None:
    """Ask for 500 small reruns a second on each of some sockets, and read no answer to its end."""
    cookies = await stranger.come()

    async def pour() -> None:
        line, talk = await dial(stranger.url, cookies), Conversation()
        await stranger.ask(line, talk, talk.open("attention"))
        asked = cycle([talk.choose("Head", option) for option in talk.menus["Head"][1]])
        reading = asyncio.create_task(drain(line))
        try:
            while not reading.done():
                for _ in range(10):
                    try:
                        await line.send(next(asked))
                    except AttributeError:  # the library's, of a connection that has just been lost
                        raise ConnectionError from None
                    stranger.done["sent"] += 1
                await asyncio.sleep(0.02)
        finally:
            reading.cancel()
            with suppress(AttributeError):  # as above
                await line.close()
        raise ConnectionError

    await stranger.together([pour] * sockets)


async def flood_two(stranger: Stranger) -> None:
    """500 small reruns a second on each of two sockets."""
    await flood(stranger, 2)


async def flood_eight(stranger: Stranger) -> None:
    """500 small reruns a second on each of eight sockets."""
    await flood(stranger, 8)


async def read_long(stranger: Stranger, page: str, opened: bool = False, pressed: str = "") -> None:
    """Write sentences of 505 words, each another one, on four sockets, as soon as the last one was answered."""
    cookies = await stranger.come()

    async def write() -> None:
        line, talk = await dial(stranger.url, cookies), Conversation()
        await stranger.ask(line, talk, talk.open(page))
        if opened:
            for fold in talk.folds:
                await stranger.ask(line, talk, talk.turn_fold(fold, True))
        while True:
            await stranger.ask(line, talk, talk.type("Sentence", stranger.write(LONG)))
            if pressed in talk.buttons:
                await stranger.ask(line, talk, talk.press(pressed))

    await stranger.together([write] * 4)


async def write_sentences(stranger: Stranger) -> None:
    """Sentences of 505 words in a loop, each another one, on *Attention*."""
    await read_long(stranger, "attention")


async def open_layers(stranger: Stranger) -> None:
    """The same on *Layers* with every fold open."""
    await read_long(stranger, "layers", opened=True)


async def open_documents(stranger: Stranger) -> None:
    """The same on *Documents* with every fold open."""
    await read_long(stranger, "documents", opened=True)


async def zero_heads(stranger: Stranger) -> None:
    """The same on *Heads*, and every head zeroed in turn for each sentence."""
    await read_long(stranger, "heads", pressed="Zero each head in turn")


async def wander_oddly(stranger: Stranger) -> None:
    """Open pages by odd URLs and write odd sentences, one after the other, on four sockets."""
    pages = sorted("" if page.stem == "overview" else page.stem for page in (ROOT / "pages").glob("*.py"))

    async def visit() -> None:
        line, talk = await dial(stranger.url, {}), Conversation()
        try:
            await stranger.ask(line, talk, talk.open(stranger.random.choice(pages), draw_query(stranger.random)))
            if "Sentence" in talk.fields:
                await stranger.ask(line, talk, talk.type("Sentence", draw_text(stranger.random)[:6000]))
        finally:
            await line.close()

    await stranger.together([visit] * 4)


async def kill_workers(stranger: Stranger) -> None:
    """Train, and end by SIGKILL whatever a server process has started for that; a machine without memory does this."""

    async def kill() -> None:
        await asyncio.sleep(5.0)
        for server in list_servers(stranger.pid):
            for worker in list_family([server])[1:]:
                os.kill(worker, signal.SIGKILL)
                stranger.done["killed"] += 1

    await asyncio.gather(train(stranger, 1, 0.0), stranger.insist(kill))


async def load_bad(stranger: Stranger) -> None:
    """Name one bad checkpoint after the other: weights of 1e30, words that are markup, files with something spoiled."""
    numbers = count()

    async def load() -> None:
        folder = copy_checkpoint(stranger.random.choice(stranger.bad), stranger.bad[0].with_name(f"{next(numbers)}"))
        if stranger.random.random() < 0.5:
            damage(folder, stranger.random)
        line, talk = await dial(stranger.url, {}), Conversation()
        try:
            page = stranger.random.choice(["", "attention", "predictions", "layers"])
            await stranger.ask(line, talk, talk.open(page, urlencode({"model": folder, "text": "The cat sat."})))
        finally:
            await line.close()

    await stranger.together([load] * 2)


def write_bad(place: Path) -> list[Path]:
    """A checkpoint whose weights are too large to compute with, and one whose words are markup."""
    sys.path.insert(0, str(ROOT))
    import torch  # noqa: PLC0415 - seconds, which the other attacks need not wait for
    from safetensors.torch import load_file, save_file  # noqa: PLC0415

    from tests.factory import random_checkpoint  # noqa: PLC0415

    huge, marked = (random_checkpoint(place / name) for name in ("huge", "marked"))
    weights = load_file(huge / "model.safetensors")
    save_file(
        {name: torch.full_like(each, 1e30) for name, each in weights.items()},
        huge / "model.safetensors",
        {"format": "pt"},
    )
    words = (marked / "vocab.txt").read_text(encoding="utf-8")
    for word, markup in (("cat", "<a href='https://example.org'>cat</a>"), ("sat", "<img src=x onerror=alert(1)>")):
        words = words.replace(f"\n{word}\n", f"\n{markup}\n")
    (marked / "vocab.txt").write_text(words, encoding="utf-8")
    (marked / "tokenizer.json").unlink(missing_ok=True)
    return [huge, marked]


@dataclass(frozen=True)
class Attack:
    """servers: which it is meant for; open: one that offers every folder; deadly: connections break by its nature."""

    act: Callable[[Stranger], Awaitable[None]]
    servers: tuple[str, ...] = ("run", "deploy")
    open: bool = False
    deadly: bool = False


ATTACKS = {
    "training": Attack(train_one), "trainings": Attack(train_many), "uploads": Attack(upload),
    "reruns-2": Attack(flood_two), "reruns-8": Attack(flood_eight), "sentences": Attack(write_sentences),
    "layers": Attack(open_layers), "documents": Attack(open_documents), "heads": Attack(zero_heads),
    "messages": Attack(send_big), "half-open": Attack(hold_open), "slow-heads": Attack(drip),
    "silent": Attack(stay_silent), "parts": Attack(send_parts), "room": Attack(fill_room),
    "held": Attack(hold_long), "forged": Attack(ask_forged), "handouts": Attack(save_handouts),
    "sockets": Attack(crowd_alike), "no-cookies": Attack(crowd_without), "odd-urls": Attack(wander_oddly),
    "reloads": Attack(reload), "methods": Attack(ask_methods), "changes": Attack(ask_changes),
    "churn": Attack(churn), "heads-begun": Attack(begin_to_ask), "matching": Attack(match_alike),
    "stories": Attack(tell_stories), "class": Attack(listen_to_class), "kill-worker": Attack(kill_workers),
    "kill-replica": Attack(kill_replica, servers=("deploy",), deadly=True),
    "checkpoints": Attack(load_bad, servers=("run",), open=True),
}  # fmt: skip


async def attack(stranger: Stranger, how: Attack) -> None:
    """Until the time is over, also where nobody answers."""
    async with asyncio.timeout(stranger.left):
        await how.act(stranger)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("name", choices=list(ATTACKS))
    parser.add_argument("url")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--pid", type=int, default=0, help="the server's first process")
    asked = parser.parse_args()
    os.setpriority(os.PRIO_PROCESS, 0, _LAST)
    with TemporaryDirectory() as name:
        bad = write_bad(Path(name)) if ATTACKS[asked.name].open else []
        stranger = Stranger(asked.url, time.monotonic() + asked.seconds, asked.pid, bad)
        with suppress(*REFUSALS):
            asyncio.run(attack(stranger, ATTACKS[asked.name]))
        print(json.dumps(stranger.done))


if __name__ == "__main__":
    main()
