"""Attacks on what is worked out in the background, and on classes. The first line of each says what is done."""

from __future__ import annotations

import asyncio
import re
import secrets
from functools import partial
from itertools import count, cycle
from urllib.parse import urlencode, urlsplit

from lines import dial
from phones import ask
from stranger import AGAIN_S, REFUSALS, Stranger
from takers import ELSEWHERE
from wire import Conversation

_PAGES = ("where_from", "patch", "compare", "heads")  # each works something out by many passes
_LONG = 505  # words: about as many as a sentence can have
_CHANGES, _SOME = 100, 60  # changes of a link, and words of its sentence
_IMPOSSIBLE = "encoder.layer.0.output.dense[token=9999]:0"
_STAY_S = 8.0  # that a page is looked at, before another sentence is written
_MATCH, _WORDS = "Match ", ("the", "river", "bank", "queen", "paris", "rome", "money", "king", "sea", "time")
_CLASS, _START = "Class", "Start a class"  # the menu and its button
_OPENED = re.compile(r"lead/(\w{4})#([\w-]{22})")
_LISTENERS, _GUESSERS = 700, 20
_LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # of codes


async def ask_methods(stranger: Stranger) -> None:
    """Look at Where from, Patch, Compare and Heads on ten sockets, each with sentences of 505 words that nobody has
    written, as long as they are worked out."""
    pages, cookies = cycle(_PAGES), [secrets.token_hex(16) for _ in range(10)]

    async def look(page: str, cookie: str) -> None:
        line, talk = await dial(stranger.url, {"bertviz_visitor": cookie}, ELSEWHERE), Conversation()
        try:
            while True:
                asked = {"text": stranger.write(_LONG), "with": stranger.write(_LONG)}
                await stranger.ask(line, talk, talk.open(page, urlencode(asked)))
                clock = asyncio.get_running_loop().time
                until = clock() + _STAY_S
                while clock() < until and (seen := talk.find_next_look()):
                    await asyncio.sleep(seen.after)
                    await stranger.ask(line, talk, talk.look_again(seen))
        finally:
            line.transport.abort()

    await stranger.together([partial(look, next(pages), cookie) for cookie in cookies])


async def ask_changes(stranger: Stranger) -> None:
    """Ask on six sockets, one answer after the other, for passes with 100 changes of which the last cannot be made:
    noise on all embeddings, uniform heads, factors, each time others, of sentences that nobody has written."""
    kinds = (
        lambda n: f"embeddings.word_embeddings:noise={n}",
        lambda n: f"encoder.layer.{n % 6}.attention.self.probs[head={n % 12}]:uniform",
        lambda n: f"encoder.layer.{n % 6}.output.LayerNorm:scale={1 + n % 7 / 100}",
    )

    async def ask_one(cookies: dict[str, str]) -> None:
        line, talk = await dial(stranger.url, cookies, ELSEWHERE), Conversation()
        try:
            while True:
                numbers = stranger.random.choices(range(1, 10_000), k=_CHANGES - 1)
                changes = [kind(n) for kind, n in zip(cycle(kinds), numbers, strict=False)]
                asked = {"text": stranger.write(_SOME), "changes": "~".join([*changes, _IMPOSSIBLE])}
                await stranger.ask(line, talk, talk.open(stranger.random.choice(_PAGES), urlencode(asked)))
        finally:
            line.transport.abort()

    cookies = await stranger.come()
    await stranger.together([partial(ask_one, cookies)] * 6)


async def match_alike(stranger: Stranger) -> None:
    """Set a sentence of 500 times one word beside one in which every second word is that, in 20 sessions, and match a
    token by hand again and again."""

    async def match(number: int) -> None:
        one, two = stranger.random.sample(_WORDS, 2)
        asked = {"text": " ".join([one] * 500), "with": " ".join([one, two] * 250)}
        cookies = {"bertviz_visitor": secrets.token_hex(16)}
        line, talk = await dial(stranger.url, cookies, ELSEWHERE), Conversation()
        try:
            await stranger.ask(line, talk, talk.open("compare", urlencode(asked)))
            for menu in (each for each in list(talk.popovers) if _MATCH in each):
                await stranger.ask(line, talk, talk.open_menu(menu))
            for turn in count(number):
                label = next(each for each in talk.menus if each.startswith(_MATCH))
                options = talk.menus[label][1]
                await stranger.ask(line, talk, talk.choose(label, options[7 * turn % len(options)]))
        finally:
            line.transport.abort()

    await stranger.together([partial(match, number) for number in range(20)])


async def tell_stories(stranger: Stranger) -> None:
    """Have the story of one number after another told, of a sentence of 505 words each, in 20 sessions."""

    async def tell(number: int) -> None:
        cookies = {"bertviz_visitor": secrets.token_hex(16)}
        line, talk = await dial(stranger.url, cookies, ELSEWHERE), Conversation()
        try:
            await stranger.ask(line, talk, talk.open("attention", urlencode({"text": stranger.write(_LONG)})))
            for turn in count(number):
                cell = f"encoder.layer.5.output.LayerNorm[token={1 + turn % _LONG},hidden={7 * turn % 384}]"
                await stranger.ask(line, talk, talk.click("cell", cell))
                await stranger.ask(line, talk, talk.click("story", "yes"))
        finally:
            line.transport.abort()

    await stranger.together([partial(tell, 100 * number) for number in range(20)])


async def listen_to_class(stranger: Stranger) -> None:
    """Start a class, listen to it on 700 connections that read nothing, go on and back in it without a pause, and try
    codes and come in as phones with cookies that are made up."""
    code, secret = await start_class(stranger)
    say = partial(ask, stranger.url, sender=ELSEWHERE)

    async def listen() -> None:
        place = urlsplit(stranger.url)
        _, writer = await asyncio.open_connection(place.hostname, place.port, local_addr=(ELSEWHERE, 0))
        try:
            writer.write(f"GET /join/{code}/events HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode())
            stranger.done["listeners"] += 1
            await asyncio.sleep(stranger.left)
        finally:
            writer.transport.abort()

    async def lead() -> None:
        steps = cycle(["next", "back"])
        while True:
            _, room = await say(f"/lead/{code}/state", secret=secret)
            said = {"do": next(steps), "version": room["version"] if isinstance(room, dict) else 0}
            status, _ = await say(f"/lead/{code}/act", said, secret)
            stranger.done[f"acts, status {status}"] += 1

    async def guess() -> None:
        while True:
            guessed = "".join(stranger.random.choices(_LETTERS, k=4))
            status, _ = await say(f"/join/{guessed}/state")
            stranger.done[f"codes, status {status}"] += 1
            status, _ = await say(f"/join/{code}/enter", {}, visitor=secrets.token_hex(16))
            stranger.done[f"phones, status {status}"] += 1

    await stranger.together([listen] * _LISTENERS + [lead] + [guess] * _GUESSERS)


async def start_class(stranger: Stranger) -> tuple[str, str]:
    """The code of a new class, and the secret by which it is led."""
    while True:
        line, talk = await dial(stranger.url, await stranger.come(), ELSEWHERE), Conversation()
        try:
            await stranger.ask(line, talk, talk.open("learn"))
            await stranger.ask(line, talk, talk.open_menu(_CLASS))
            await stranger.ask(line, talk, talk.press(_START))
        except REFUSALS:
            await asyncio.sleep(AGAIN_S)
            continue
        finally:
            line.transport.abort()
        if found := _OPENED.search(" ".join(talk.list_texts())):
            return found[1], found[2]
