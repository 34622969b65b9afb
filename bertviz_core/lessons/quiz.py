"""The quiz: two questions of each lesson, before the lessons about one sentence and after them about another.

How a key is worked out of the pass, and what can be answered, is the lessons' own: so both forms are of equal kind, and
their scores can be compared. There is one try and no hint; the pages stay covered, and no text gives the rule away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from bertviz_core.lessons import attention, embeddings, layer, tokens, whatif, words
from bertviz_core.lessons.lesson import Choose, Lesson, Pick, Step, Worked
from bertviz_core.lessons.scene import Scene
from bertviz_core.lessons.tokens_picture import draw_tokens

_ASKED: tuple[tuple[Lesson, tuple[str, ...]], ...] = (
    (tokens.LESSON, ("count", "hidden")),
    (embeddings.LESSON, ("longest", "order")),
    (attention.LESSON, ("direction", "mask")),
    (layer.LESSON, ("sum", "moves")),
    (words.LESSON, ("plusone", "half")),
    (whatif.LESSON, ("looks", "without")),
)
_TEXTS: Mapping[str, str] = {  # where a lesson's own one explains what is asked
    "hidden": "To hide a word, {name} is put in its place, and the model runs again.",
    "longest": "A token’s embedding, with which it enters the model, is the sum of three rows: of its word, of its "
    "position and of its segment.",
    "order": "One of the three rows of which a token’s embedding is the sum tells its position.",
    "mask": "A token can be masked out: its score becomes a very large negative number before the softmax.",
    "plusone": "{word} has {p}. Its logit, the score that the softmax reads, is raised by 1, all others stay.",
    "without": "“Without a head” can mean two things: all its weights are 0, or all are alike, so that it looks at all "
    "tokens equally. Here it is {own}.",
}
_MINUTES = 12


def _ask(step: Step) -> Step:
    """A question of a lesson as the quiz asks it. What is picked is picked in a picture; all else stays covered."""
    covers = ("headline", "drawer") if isinstance(step.ask, Pick) else ("page", "headline", "drawer", "tokens")
    return replace(step, covers=covers, text=_TEXTS.get(step.name, step.text))


def _turn(step: Step, by: int) -> Step:
    """The same with its options in another order: whoever always takes the second one is not right for that."""
    if not isinstance(step.ask, Choose):
        return step
    options = step.ask.options
    first = by % len(options)

    def work(scene: Scene) -> Worked:
        worked = step.work(scene)
        return replace(worked, key=(int(worked.key) - first) % len(options))

    return replace(step, ask=replace(step.ask, options=(*options[first:], *options[:first])), work=work)


_STEPS = tuple(_ask(step) for lesson, names in _ASKED for step in lesson.steps if step.name in names)


def _make(name: str, title: str, line: str, text: str, turned: int) -> Lesson:
    steps = tuple(_turn(step, i + turned) for i, step in enumerate(_STEPS))
    return Lesson(name, title, line, _MINUTES, (), steps, draw_tokens, text, quiz=True)


BEFORE = _make(
    "before",
    "Quiz before the lessons",
    "What you know already",
    "The price of the ticket [MASK] in the summer.",
    0,
)
AFTER = _make(
    "after",
    "Quiz after the lessons",
    "The same questions about another sentence",
    "She sold the house and the [MASK] to her brother.",
    1,
)


@dataclass(frozen=True)
class Part:
    """A lesson's questions in the quiz. questions: their places among all, from 0."""

    lesson: Lesson
    questions: tuple[int, ...]

    def count(self, right: tuple[bool, ...]) -> int:
        """How many of them were answered rightly. right: of every question of the quiz."""
        return sum(right[question] for question in self.questions)


def _list_parts() -> Iterator[Part]:
    first = 0
    for lesson, names in _ASKED:
        yield Part(lesson, tuple(range(first, first + len(names))))
        first += len(names)


PARTS = tuple(_list_parts())
