"""Texts that other people wrote, such as a vocabulary's entries, so that each character of them can be seen;
and how many there are of something."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

_PICTURES, _DELETE = 0x2400, 0x7F  # Unicode's signs for the first control characters, and for the last of ASCII
# What is not seen but turns or splits what stands around it. The two joiners are left: words and emoji need them.
_UNSEEN = frozenset("\u00ad\u061c\u180e\u200b\u200e\u200f\ufeff\ufff9\ufffa\ufffb") | frozenset(
    map(chr, [*range(0x202A, 0x202F), *range(0x2060, 0x2065), *range(0x2066, 0x2070)])
)


def spell_controls(text: str) -> str:
    """The text with a visible sign for each character that is none: line breaks, controls, marks of direction."""
    if text.replace("\N{NO-BREAK SPACE}", " ").isprintable():  # none of them is
        return text
    return "".join(map(_spell, text))


def _spell(sign: str) -> str:
    code = ord(sign)
    if code < 0x20:
        return chr(_PICTURES + code)
    if code == _DELETE:
        return "\u2421"
    if sign in _UNSEEN or unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp"):
        return f"⟨U+{code:04X}⟩"
    return sign


def name_token(tokens: Sequence[str], i: int) -> str:
    """A token in quotation marks; with its position, where it stands elsewhere as well: `“do” at position 5`."""
    return f"“{tokens[i]}”{tell_place(tokens, i, i)}"


def tell_place(tokens: Sequence[str], first: int, last: int) -> str:
    """To stand behind tokens that follow each other: their positions, where the same stand elsewhere as well."""
    count = last + 1 - first
    own = tuple(tokens[first : last + 1])
    if sum(tuple(tokens[i : i + count]) == own for i in range(len(tokens))) == 1:
        return ""
    return f" at position {first}" if count == 1 else f" at positions {first} to {last}"


def join_words(words: Sequence[str]) -> str:
    """Words as a sentence lists them: `a`, `a and b`, `a, b and c`."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def write_count(amount: int, one: str, many: str = "") -> str:
    """How many there are of something: `1 step`, `1,200 steps`. many: its plural, where that is not one more s."""
    return f"{amount:,} {one if amount == 1 else many or f'{one}s'}"


def name_one(noun: str) -> str:
    """One of something: `a query`, `an attention output`, `an LM head`."""
    return f"{'an' if noun[:1].lower() in set('aeiou') or noun.startswith('LM ') else 'a'} {noun}"


def write_ordinal(n: int) -> str:
    """A place as a word: 1st, 22nd, 113th."""
    ending = "th" if n // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n:,}{ending}"


def shorten(text: str, longest: int) -> str:
    """The text, or its beginning and an ellipsis, of at most so many characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"
