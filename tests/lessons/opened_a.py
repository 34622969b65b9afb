"""The passes on which the lessons are tried: sentences of every kind, in models of two kinds."""

from bertviz_core.lessons.marking import fill, list_options
from bertviz_core.lessons.scene import Scene
from bertviz_core.tracing.trace import run

ROME = "When in Rome, do as the [MASK] do."
TEXTS = (
    ROME,
    "Hi.",
    "She put a [MASK] on it",
    "The cat sat on the cat, and the cat played on the mat.",
    "Paris is the capital of [MASK].",
    "An unhappily misspelled electroencephalogram!",
    "Der Rhein fließt dort; глубокий мост, 川.",
    "Rome",
    "do as romans do in rome, " * 5 + "the cat sat",
    "I can open a [MASK] can of thoughtlessness.",
)


def open_scene(model, text):
    """The place in a sentence's pass at which a page opens."""
    return Scene(run(model, text), 0, 0, 0).read(text)


def read_texts(step, scene, worked):
    """All that a step says before an answer is given, filled."""
    texts = [step.text, step.task, step.place, *step.hints, *list_options(step, scene, worked)]
    return [fill(text, worked.numbers) for text in texts]
