"""What a URL can hold: a widget's value as text, and a long text compressed."""

from __future__ import annotations

import base64
import binascii
import codecs
import zlib
from functools import lru_cache
from typing import Any
from urllib.parse import quote

_LONGEST_PLAIN = 400  # characters that a link holds as they are; a longer text is compressed
LONGEST = 20_000  # characters of what is read at most; a link of ours has fewer
_LONGEST_PACKED = 24_000  # of a compressed one; a sentence has 21,000 if each of its letters is a rare one by chance
_LETTER = 4  # bytes of a character at most
_PACKED = "z."  # before a compressed text


def write_value(value: Any) -> str:
    """A widget's value as text. value: a text, a whole number or a truth value."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_as(usual: Any, text: str) -> Any:
    """A parameter's text as a value of the usual one's type; the usual one where it is none."""
    if isinstance(usual, bool):
        return {"true": True, "false": False}.get(text.lower(), usual)
    if isinstance(usual, int):
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else usual
    return text


@lru_cache(maxsize=256)
def pack(text: str) -> str:
    """A long text compressed, as a URL can hold it, unless it is shorter as it is; once for all the links of a page."""
    if len(text) <= _LONGEST_PLAIN and not text.startswith(_PACKED):
        return text
    packed = _PACKED + base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")
    return packed if len(packed) < len(quote(text)) or text.startswith(_PACKED) else text


def unpack(text: str) -> str:
    """What was packed; what only looks like it stays as it is. What is too long is cut."""
    if not text.startswith(_PACKED):
        return text[:LONGEST]
    packed = text.removeprefix(_PACKED)[:_LONGEST_PACKED]
    try:
        data = base64.b64decode(packed + "=" * (-len(packed) % 4), altchars=b"-_", validate=True)
        held = zlib.decompressobj().decompress(data, LONGEST * _LETTER)
        return codecs.getincrementaldecoder("utf-8")().decode(held)[:LONGEST] or text[:LONGEST]  # the end may be cut
    except (binascii.Error, zlib.error, ValueError):
        return text[:LONGEST]
