"""What the letters of a formula mean: its program's own symbols by their steps, all others by the table of letters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from html import escape, unescape

from bertviz_core.documents.letters import EVERYWHERE, IN_FORMULAS
from bertviz_core.documents.names import NAMES, find_key
from bertviz_core.formula.markup import flatten, write_html
from bertviz_core.formula.steps import Program

Letter = tuple[str, str, str]  # what stands by itself, below it, above it

_NAME = 2  # signs from which on it is a name, which is not set in italics
_TAG = re.compile(r"<[^>]*>")
_BELOW, _ABOVE = "<sub>.*?</sub>", "<sup>.*?</sup>"
_LETTER = re.compile(rf'<i>([^<]+)</i>(?:<span class="bv-scripts">)?({_BELOW}(?:{_ABOVE})?|{_ABOVE}(?:{_BELOW})?|)')
_SCRIPT = re.compile(r"<(sub|sup)>(.*?)</\1>")
_WORD = re.compile(r"(?:<i>\w</i>){3,}")  # such as pos
_FRAME = re.compile(r"\\(?:begin|end)\{(?!aligned)\w+\}")
_ALONE = re.compile(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])")
_NUMBER = re.compile(r"\(\d+\)|\d+")


def explain_letters(tex: str, program: Program) -> dict[Letter, str]:
    """What each letter of a formula means, in the order in which they stand, as they are listed: with what stands below
    and above it where that is part of its name.

    A letter that nobody says anything of has an empty meaning. Raises ValueError for a sign that only KaTeX knows.
    """
    text, symbols = read_text(tex), dict(_list_symbols(tex, program))
    own = {letters[0]: meaning for symbol, meaning in symbols.items() if (letters := list_letters(symbol))}
    starts = sorted((start for start in IN_FORMULAS if text.startswith(start)), key=len, reverse=True)
    near = [IN_FORMULAS[start] for start in starts]
    found: dict[Letter, str] = {}
    _explain(_mark(tex), near, own, found)
    upright = {read_text(symbol): meaning for symbol, meaning in symbols.items() if not list_letters(symbol)}
    return found | {(name, "", ""): meaning for name, meaning in upright.items() if _has_word(text, name)}


@lru_cache(maxsize=1 << 9)
def list_letters(tex: str) -> tuple[Letter, ...]:
    """The letters of a formula, each once, in order; without those below and above them."""
    return tuple(dict.fromkeys(letter for letter, _ in _walk_letters(_mark(tex))))


def _walk_letters(marked: str) -> Iterator[tuple[Letter, tuple[str, ...]]]:
    """The letters of a formula as HTML, and what stands below and above each."""
    for base, scripts in _LETTER.findall(_WORD.sub("", marked)):
        parts = dict(_SCRIPT.findall(scripts))
        yield (base, _strip(parts.get("sub", "")), _strip(parts.get("sup", ""))), tuple(parts.values())


def _mark(tex: str) -> str:
    """A formula as HTML, without the frames of a matrix. Raises ValueError for another sign that only KaTeX knows."""
    return write_html(flatten(_FRAME.sub("", tex)))


def write_letter(letter: Letter) -> str:
    """A letter as HTML."""
    base, *scripts = (escape(part, quote=False) for part in letter)
    scripts = [_ALONE.sub(r"<i>\g<0></i>", part) for part in scripts]
    marks = "".join(f"<{tag}>{part}</{tag}>" for tag, part in zip(("sub", "sup"), scripts, strict=True) if part)
    inside = f'<span class="bv-scripts">{marks}</span>' if all(scripts) else marks
    return f"{f'<i>{base}</i>' if len(base) < _NAME else base}{inside}"


def _strip(marked: str) -> str:
    return unescape(_TAG.sub("", marked)).replace(" ", "")


def read_text(tex: str) -> str:
    """What a formula reads like, without numbers, such as those of layers."""
    return _NUMBER.sub("", unescape(_TAG.sub("", _mark(tex))))


def _explain(
    marked: str, near: Sequence[Mapping[str, str]], own: Mapping[Letter, str], found: dict[Letter, str]
) -> None:
    """Put the meanings of all letters into `found`; of those that are part of a name only what this formula says."""
    for letter, scripts in _walk_letters(marked):
        name, meaning = _look_up(letter, near, own)
        found.setdefault(name, meaning)
        for script in scripts:
            named = _strip(script) in name[1:]
            inner: dict[Letter, str] = {}
            _explain(script, near, {} if named else own, inner)
            told = {one: meaning for one, meaning in inner.items() if not named or _is_told(one, near)}
            found.update({one: meaning for one, meaning in told.items() if one not in found})


def _is_told(letter: Letter, near: Iterable[Mapping[str, str]]) -> bool:
    return any(letter[0] in table for table in near)


def _look_up(letter: Letter, near: Iterable[Mapping[str, str]], own: Mapping[Letter, str]) -> tuple[Letter, str]:
    """How a letter is listed, and its meaning: in this formula, else as the program's symbol, else in any formula."""
    base, sub, sup = letter
    names: dict[str, Letter] = {
        f"{base}_{sub}": (base, sub, ""), f"{base}{sup}": (base, "", sup), base: (base, "", "")
    }  # fmt: skip
    for table in near:
        for name, listed in names.items():
            if name in table:
                return listed, table[name]
    for symbol in (letter, (base, "", sup), (base, sub, ""), (base, "", "")):
        if symbol in own:
            return symbol, own[symbol]
    return next(((names[name], EVERYWHERE[name]) for name in names if name in EVERYWHERE), (letter, ""))


def _list_symbols(tex: str, program: Program) -> Iterator[tuple[str, str]]:
    """The symbols of a program whose LaTeX stands in a formula, and what they are, without what holds of their numbers:
    a change may put others there.
    """
    symbols = [
        (symbol, NAMES[key].meaning)
        for address, symbol in program.leaves.items()
        if (key := find_key(address)) in NAMES
    ]
    for symbol, meaning in [*symbols, *((step.output, step.meaning) for step in program.steps)]:
        for written in filter(None, (symbol.tex, symbol.column)):
            if written in tex:
                yield written, f"{meaning.partition(';')[0].rstrip('.')}."


def _has_word(text: str, name: str) -> bool:
    """Whether a name that is not set in italics, such as the mask's, stands in a formula by itself."""
    return bool(re.search(rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])", text))
