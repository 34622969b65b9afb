"""All lessons, in the order in which they build on one another."""

from __future__ import annotations

from bertviz_core.lessons import attention, embeddings, layer, quiz, tokens, whatif, words
from bertviz_core.lessons.lesson import Lesson

LESSONS: tuple[Lesson, ...] = (
    tokens.LESSON,
    embeddings.LESSON,
    attention.LESSON,
    layer.LESSON,
    words.LESSON,
    whatif.LESSON,
)
QUIZZES: tuple[Lesson, ...] = (quiz.BEFORE, quiz.AFTER)


def find_lesson(name: str) -> Lesson | None:
    """The lesson of this name, or the form of the quiz."""
    return next((lesson for lesson in (*LESSONS, *QUIZZES) if lesson.name == name), None)
