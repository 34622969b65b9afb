"""Asynchronous work in tests: a browser's test may have left an event loop in the thread of all tests."""

import asyncio
from concurrent.futures import ThreadPoolExecutor


def run_alone(work):
    """What the coroutine gives, run in a thread and a loop of its own."""
    with ThreadPoolExecutor(1) as own:
        return own.submit(asyncio.run, work).result()
