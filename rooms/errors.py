"""What goes wrong with a class."""

from __future__ import annotations


class RefusedError(Exception):
    """What cannot be done now; its text says what to do instead. status: of HTTP."""

    def __init__(self, text: str, status: int = 409) -> None:
        super().__init__(text)
        self.status = status


class StoreError(Exception):
    """The store of classes does not answer."""
