"""What a phone and the projector are told of a room, as data that is sent to them."""

from __future__ import annotations

from typing import Any

from rooms.course import ASK, FEWEST, TOLD
from rooms.plan import Question
from rooms.store import Room, Votes
from rooms.tally import count_right, list_counts, list_least_understood


def tell_phones(room: Room) -> dict[str, Any]:
    """What every phone is told: the question, and once it is told the answer; never what others answered."""
    course, plan = room.course, room.plan
    told: dict[str, Any] = {
        "code": room.code,
        "version": room.version,
        "title": plan.title,
        "place": course.place,
        "count": len(plan.questions),
        "stage": course.stage,
        "vote": course.vote,
        "over": course.over,
        "ends": room.ends,
    }
    if course.at_question:
        question = plan.questions[course.place]
        told["question"] = _ask(question)
        if course.stage == TOLD:
            told["told"] = _answer(question)
    return told


def _ask(question: Question) -> dict[str, Any]:
    return {
        "title": question.title,
        "text": question.text,
        "task": question.task,
        "kind": question.kind,
        "answers": [{"label": each.label, "token": each.token} for each in question.answers],
        "tokens": question.tokens,
        "here": question.here,
    }


def _answer(question: Question) -> dict[str, Any]:
    return {
        "key": question.key,
        "within": question.within,
        "headline": question.headline,
        "right": question.right,
        "wrong": question.wrong,
        "says": [each.says for each in question.answers],
        "shown": [each.shown for each in question.answers],
        "below": question.below,
        "was": question.was,
        "link": question.link,
    }


def tell_lead(room: Room, phones: int, votes: Votes) -> dict[str, Any]:
    """What the projector is told: how many have answered, and how, as far as that is shown."""
    course, plan = room.course, room.plan
    told = {**tell_phones(room), "line": plan.line, "locked": course.locked, "bars": course.bars, "phones": phones}
    told["link"] = plan.link
    if course.over:
        told["after"] = list_least_understood(plan, course, votes)
    if not course.at_question:
        return told
    question, now = plan.questions[course.place], votes.get((course.place, course.vote), {})
    answered = sum(now.values())
    told["answered"] = answered
    told["tops"] = question.tops
    if course.stage == TOLD:
        told["why"] = question.why
    if course.stage == TOLD or (answered >= FEWEST and (course.stage != ASK or course.bars)):
        told["counts"] = list_counts(question, now)
    if course.stage == TOLD:
        told["right"] = count_right(question, now)
        if course.vote > 1:
            told["first"] = count_right(question, votes.get((course.place, 1), {}))
    return told
