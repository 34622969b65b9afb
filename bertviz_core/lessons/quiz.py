"""The quiz: two questions of each lesson, before the lessons about one sentence and after them about another.

What they ask, and how a key is worked out of the pass, are the lessons' own: so both forms are of equal kind, and their
scores can be compared. There is one try, no hint, and no word of what was right until the last question is answered.
"""

from __future__ import annotations

from dataclasses import dataclass

from bertviz_core.lessons import attention, embeddings, layer, tokens, whatif, words
from bertviz_core.lessons.lesson import Lesson
from bertviz_core.lessons.tokens_picture import draw_tokens

_ASKED: tuple[tuple[Lesson, tuple[str, ...]], ...] = (
    (tokens.LESSON, ("count", "same")),
    (embeddings.LESSON, ("component", "near")),
    (attention.LESSON, ("direction", "ratio")),
    (layer.LESSON, ("sum", "when")),
    (words.LESSON, ("times", "half")),
    (whatif.LESSON, ("looks", "without")),
)
_STEPS = tuple(step for lesson, names in _ASKED for step in lesson.steps if step.name in names)
_MINUTES = 12


def _make(name: str, title: str, line: str, text: str) -> Lesson:
    return Lesson(name, title, line, _MINUTES, (), _STEPS, draw_tokens, text, quiz=True)


BEFORE = _make(
    "before",
    "Quiz before the lessons",
    "What you know already",
    "The price of the ticket [MASK] in the summer.",
)
AFTER = _make(
    "after",
    "Quiz after the lessons",
    "The same questions about another sentence",
    "She sold the house and the [MASK] to her brother.",
)


@dataclass(frozen=True)
class Part:
    """A lesson's questions in the quiz. questions: their places among all, from 0."""

    lesson: Lesson
    questions: tuple[int, ...]

    def count(self, right: tuple[bool, ...]) -> int:
        """How many of them were answered rightly. right: of every question of the quiz."""
        return sum(right[question] for question in self.questions)


PARTS = tuple(
    Part(lesson, tuple(i for i, step in enumerate(_STEPS) if any(step is each for each in lesson.steps)))
    for lesson, _ in _ASKED
)
