"""What was answered in lessons, as the text that a browser keeps of it from one visit to the next.

The text is compressed and has letters and digits only: what a browser says at a time has bounds, of its length and of
the brackets in it, and who says more than these is hung up on.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Mapping
from typing import Any

from bertviz_core.lessons.catalogue import find_lesson
from bertviz_core.lessons.lesson import Verdict
from bertviz_core.ui.frame.lesson import About, Answered
from bertviz_core.ui.frame.state import is_text
from edge.line import LONGEST_VALUE

LONGEST = LONGEST_VALUE - 200  # characters of the text; a browser says of which event it is, too
_UNPACKED = 400_000  # bytes of what it says at most
_FORM = 1  # of the text; one of another form is not read
_SAID = 1_000  # characters of what is said of an answer, and of what it is about
_TRIES = 1_000


def write_kept(answers: Mapping[About, Answered]) -> str:
    """All answers as a text, the last ones of them where that is too long; nothing where there are none."""
    rows = [[*about, *_list_values(answered)] for about, answered in answers.items()]
    while rows:
        said = json.dumps([_FORM, rows], ensure_ascii=False, separators=(",", ":")).encode()
        text = base64.urlsafe_b64encode(zlib.compress(said)).decode().rstrip("=")
        if len(text) <= LONGEST and len(said) <= _UNPACKED:
            return text
        rows = rows[len(rows) // 4 + 1 :]
    return ""


def _list_values(answered: Answered) -> list[object]:
    verdict = answered.verdict
    said = None if verdict is None else [verdict.right, verdict.says]
    return [answered.wrong, said, answered.shown, answered.hints]


def read_kept(text: str) -> dict[About, Answered]:
    """What `write_kept` wrote. It comes from a browser: whatever has another form is left out."""
    match _unpack(text):
        case [form, [*rows]] if form == _FORM:
            return dict(each for each in map(_read_row, rows) if each is not None)
        case _:
            return {}


def _unpack(text: str) -> Any:
    """What the text says; None where it says nothing."""
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        return json.loads(zlib.decompressobj().decompress(packed, _UNPACKED))
    except (binascii.Error, zlib.error, ValueError, RecursionError):
        return None


def _read_row(row: Any) -> tuple[About, Answered] | None:
    match row:
        case [str() as name, int() as number, str() as about, int() as wrong, said, bool() as shown, int() as hints]:
            lesson, verdict = find_lesson(name), _read_verdict(said)
            known = lesson is not None and number < len(lesson.steps) and (verdict is not None or said is None)
            if known and _is_short(about) and all(0 <= each <= _TRIES for each in (number, wrong, hints)):
                return (name, int(number), about), Answered(int(wrong), verdict, shown, int(hints))
        case _:
            pass
    return None


def _read_verdict(said: Any) -> Verdict | None:
    match said:
        case [bool() as right, str() as says] if _is_short(says):
            return Verdict(right, says)
        case _:
            return None


def _is_short(text: str) -> bool:
    return len(text) <= _SAID and is_text(text)
