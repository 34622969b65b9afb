"""What came of a class's answers: how often each was given, what was understood least, and the table of it."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from edge.spreadsheet import guard_cell
from rooms.course import Course
from rooms.plan import NUMBER, Plan, Question
from rooms.store import Votes

MOST_NUMBERS = 12  # different ones that are shown
_HEAD = ("question", "title", "task", "answer", "right", "first vote", "second vote")


def list_counts(question: Question, votes: Mapping[str, int]) -> list[Any]:
    """How often each answer was given, in their order; of numbers the most frequent ones, each with how often."""
    if question.kind != NUMBER:
        return [votes.get(str(i), 0) for i in range(len(question.answers))]
    often = sorted(votes.items(), key=lambda each: (-each[1], float(each[0])))[:MOST_NUMBERS]
    return [[kept, times, question.is_right(kept)] for kept, times in sorted(often, key=lambda each: float(each[0]))]


def count_right(question: Question, votes: Mapping[str, int]) -> int:
    return sum(times for kept, times in votes.items() if question.is_right(kept))


def list_least_understood(plan: Plan, course: Course, votes: Votes) -> list[dict[str, Any]]:
    """The questions that were answered, that with the smallest share of right answers in its last vote first."""
    rows = [_sum_up(i, question, course, votes) for i, question in enumerate(plan.questions)]
    return sorted(filter(None, rows), key=lambda row: (row["right"] / row["answers"], row["place"]))


def _sum_up(place: int, question: Question, course: Course, votes: Votes) -> dict[str, Any] | None:
    first = votes.get((place, 1), {})
    last = votes.get((place, course.votes[place])) or first
    answers = sum(last.values())
    if not answers:
        return None
    missed = Counter({kept: times for kept, times in (first or last).items() if not question.is_right(kept)})
    wrong, times = min(missed.items(), key=lambda each: (-each[1], each[0]), default=("", 0))
    return {
        "place": place,
        "title": question.title,
        "answers": answers,
        "right": count_right(question, last),
        "wrong": question.name(wrong) if times else "",
        "times": times,
        "of": sum((first or last).values()),
        "misconception": question.misconception if times else "",
    }


def write_table(plan: Plan, votes: Votes) -> str:
    """The answers of both votes as CSV: a line for each answer, none for a person."""
    out = io.StringIO()
    csv.writer(out).writerows([_HEAD, *_list_lines(plan, votes)])
    return out.getvalue()


def _list_lines(plan: Plan, votes: Votes) -> Iterator[tuple[object, ...]]:
    for place, question in enumerate(plan.questions):
        first, second = (votes.get((place, vote), {}) for vote in (1, 2))
        given = {*first, *second} if question.kind == NUMBER else {str(i) for i in range(len(question.answers))}
        for kept in sorted(given, key=float):
            right = "yes" if question.is_right(kept) else "no"
            named = kept if question.kind == NUMBER else guard_cell(question.name(kept))
            texts = guard_cell(question.title), guard_cell(question.task), named
            yield place + 1, *texts, right, first.get(kept, 0), second.get(kept, 0)
