"""What a class is asked: questions with all that is said of each answer, worked out before the room is opened.

A plan is plain data. It is kept with its room, so that whoever serves a phone needs neither a model nor a lesson.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rooms.errors import RefusedError

CHOOSE, PICK, NUMBER = "choose", "pick", "number"
LARGEST = 400_000  # bytes of a plan; the longest lesson has 60,000
_NUMBER = re.compile(r"-?\d{1,9}(\.\d{1,9})?")


@dataclass(frozen=True)
class Answer:
    """One that can be given. says: of it, once the answer is told; shown: the model's own number, such as "0.27 %";
    token: the position in the sentence that it is about, None where it is about none.
    """

    label: str
    says: str = ""
    shown: str = ""
    token: int | None = None


@dataclass(frozen=True)
class Question:
    """One question. kind: one of few options, one of many things, or a number that is typed; key: the index of the
    right answer, or the number; within: how far a number may be from it; headline: the answer in few words; right: what
    is said of it, and of a number that is right; wrong: of one that is not; below: what the answers' own numbers are;
    was: that number before anything was changed; misconception: what a wrong answer mostly comes from; link: to the
    page of the app that shows it; why: to where the app works the answer out; tokens: of the sentence that it is about;
    here: the position of that which is asked about, None where it is about none; tops: the likeliest words there, each
    with its probability.
    """

    title: str
    text: str
    task: str
    kind: str
    key: float
    answers: tuple[Answer, ...] = ()
    within: float = 0.0
    headline: str = ""
    right: str = ""
    wrong: str = ""
    below: str = ""
    misconception: str = ""
    link: str = ""
    tokens: tuple[str, ...] = ()
    was: str = ""
    why: str = ""
    here: int | None = None
    tops: tuple[tuple[str, str], ...] = ()

    def read(self, typed: object) -> str | None:
        """An answer as it is kept: an index, or a number in digits; None for what cannot be one."""
        if self.kind == NUMBER:
            text = str(typed).strip().replace("\N{MINUS SIGN}", "-").replace(",", ".")
            return f"{float(text):g}" if isinstance(typed, str) and _NUMBER.fullmatch(text) else None
        fits = isinstance(typed, int) and not isinstance(typed, bool) and 0 <= typed < len(self.answers)
        return str(typed) if fits else None

    def is_right(self, kept: str) -> bool:
        """Whether a kept answer is the key."""
        if self.kind == NUMBER:
            return abs(float(kept) - self.key) <= self.within * (1 + 1e-9)
        return int(kept) == int(self.key)

    def name(self, kept: str) -> str:
        """A kept answer in words."""
        if self.kind == NUMBER:
            return kept
        token = self.answers[int(kept)].token
        return self.answers[int(kept)].label if token is None else self._quote(token)

    def _quote(self, position: int) -> str:
        """A token in quotation marks, with its position where it stands elsewhere as well."""
        token = self.tokens[position]
        return f"“{token}” at position {position}" if self.tokens.count(token) > 1 else f"“{token}”"


@dataclass(frozen=True)
class Plan:
    """What a room asks. line: below the title; link: to the page with the handouts."""

    title: str
    line: str
    questions: tuple[Question, ...]
    link: str = ""

    def write(self) -> str:
        """As it is kept. Raises RefusedError where it is too long."""
        text = json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))
        if len(text.encode()) > LARGEST:
            raise RefusedError("These questions are too long for a class: take a shorter sentence.", 413)
        return text


def read_plan(text: str) -> Plan:
    """A plan that was kept."""
    kept = json.loads(text)
    return Plan(**{**kept, "questions": tuple(map(_read_question, kept["questions"]))})


def _read_question(kept: Mapping[str, Any]) -> Question:
    answers = tuple(Answer(**each) for each in kept["answers"])
    tops = tuple(map(tuple, kept.get("tops", ())))
    return Question(**{**kept, "answers": answers, "tokens": tuple(kept["tokens"]), "tops": tops})
