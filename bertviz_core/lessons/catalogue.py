"""All lessons, in the order in which they build on one another."""

from __future__ import annotations

from bertviz_core.lessons import attention, embeddings, layer, tokens, whatif, words
from bertviz_core.lessons.lesson import Lesson

LESSONS: tuple[Lesson, ...] = (
    tokens.LESSON,
    embeddings.LESSON,
    attention.LESSON,
    layer.LESSON,
    words.LESSON,
    whatif.LESSON,
)


def find_lesson(name: str) -> Lesson | None:
    """The lesson of this name."""
    return next((lesson for lesson in LESSONS if lesson.name == name), None)
