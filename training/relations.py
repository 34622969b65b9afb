"""Facts as data: relations, the sentences that say them with one word hidden, and which of both are held out.

A file of `relations/` has relations, each begun by a line `# relation: NAME`. A line with [MASK] is a template: {1} and
{2} stand for what a fact is about, and `a/an` is the article that the next word takes. A line `about | answers` is a
fact: what it is about, parts divided by `;`, and the words that are right. A line that begins with `? ` is held out:
a run asks no fact in such a template and no such fact in any.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bertviz_core.errors import InputError
from training.examples import LONGEST
from training.glosses import choose_article
from training.vocabulary import Vocabulary

RELATIONS = Path(__file__).with_name("relations")
_BEGIN, _HELD, _MASK = "# relation:", "? ", "[MASK]"
_ARTICLE = re.compile(r"\b[aA]/an (?=(\S+))")


@dataclass(frozen=True)
class Template:
    """A sentence with [MASK] for the answer and {1}, {2} for what the fact is about."""

    text: str
    held_out: bool


@dataclass(frozen=True)
class Fact:
    """What it is about, and the words of which each is right."""

    about: tuple[str, ...]
    answers: tuple[str, ...]
    held_out: bool


@dataclass(frozen=True)
class Relation:
    """Facts of one kind and the sentences that say them."""

    name: str
    templates: tuple[Template, ...]
    facts: tuple[Fact, ...]


@dataclass(frozen=True, eq=False)
class Question:
    """A sentence with its answer in place: pieces, and the place of the one to hide; `answers` are all right there."""

    pieces: np.ndarray
    place: int
    answers: tuple[int, ...]


def read_relations(folder: Path) -> list[Relation]:
    """The relations of a folder's .txt files, in order. Raises InputError where a line is none of its three kinds."""
    relations = [relation for file in sorted(folder.glob("*.txt")) for relation in _read_file(file)]
    if not relations:
        raise InputError(f"{folder} holds no relation. It needs .txt files with lines “{_BEGIN} NAME”.")
    return relations


def _read_file(file: Path) -> Iterator[Relation]:
    try:
        _, *blocks = re.split(rf"^{_BEGIN}", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The relations {file} cannot be read ({error}).") from None
    for block in blocks:
        name, *lines = (line.strip() for line in block.splitlines())
        made = [_read_line(line, file) for line in lines if line and not line.startswith("#")]
        templates = tuple(one for one in made if isinstance(one, Template))
        yield Relation(name, templates, tuple(one for one in made if isinstance(one, Fact)))


def _read_line(line: str, file: Path) -> Template | Fact:
    held, text = line.startswith(_HELD), line.removeprefix(_HELD)
    about, bar, answers = text.partition("|")
    if text.count(_MASK) == 1 and "{1}" in text and not bar:
        return Template(text, held)
    if about.strip() and answers.strip() and _MASK not in text:
        return Fact(tuple(part.strip() for part in about.split(";")), tuple(answers.split()), held)
    raise InputError(
        f"{line!r} in {file} is neither a sentence with one {_MASK} and {{1}}, nor a fact “about | answers”."
    )


def say(template: Template, fact: Fact, answer: str) -> str:
    """The sentence, with [MASK] in the place of the answer."""
    said = template.text
    for number, part in enumerate(fact.about, 1):
        said = said.replace(f"{{{number}}}", part)
    said = _ARTICLE.sub(lambda at: f"{choose_article(answer if at[1].startswith(_MASK) else at[1])} ", said)
    return said[0].upper() + said[1:]


def make_questions(
    relations: Sequence[Relation], vocabulary: Vocabulary, *, held_facts: bool = False, held_templates: bool = False
) -> list[list[Question]]:
    """For each fact of the kind asked for, every question in templates of the kind asked for, for every answer.

    Raises InputError where an answer is not one piece, or stands in its sentence, or a sentence is too long.
    """
    made = []
    for relation in relations:
        templates = [one for one in relation.templates if one.held_out == held_templates]
        for fact in (one for one in relation.facts if one.held_out == held_facts):
            said = [(say(template, fact, answer), answer) for template in templates for answer in fact.answers]
            made.append([_make_question(*one, fact, vocabulary) for one in said])
    return [questions for questions in made if questions]


def _make_question(said: str, answer: str, fact: Fact, vocabulary: Vocabulary) -> Question:
    unknown = [word for word in fact.answers if word not in vocabulary.ids]
    if unknown:
        raise InputError(f"{said!r}: the answer {unknown[0]!r} is not one piece of the vocabulary. Ask for another.")
    pieces, answers = vocabulary.cut([said])[0], tuple(vocabulary.ids[word] for word in fact.answers)
    if vocabulary.ids[answer] in pieces:
        raise InputError(f"{said!r}: the answer {answer!r} stands in the sentence. Change the fact or the template.")
    if len(pieces) > LONGEST:
        raise InputError(f"{said!r} has {len(pieces)} pieces; {LONGEST} are read at most.")
    place = pieces.index(vocabulary.mask)
    pieces[place] = vocabulary.ids[answer]
    return Question(np.array(pieces, dtype=np.int32), place, answers)


def digest_questions(questions: Sequence[Sequence[Question]]) -> str:
    """A short name for exactly these questions in this order."""
    text = hashlib.sha256()
    for question in (question for several in questions for question in several):
        text.update(np.array([len(question.pieces), question.place, *question.pieces], dtype="<i4").tobytes())
    return text.hexdigest()[:16]
