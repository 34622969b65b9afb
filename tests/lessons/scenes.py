"""Sentences of every kind in two models, each looked at where a page opens; and how what is said is compared."""

import re

import bertviz_core as bv
from bertviz_core.analysis.openings import open_head, open_token
from bertviz_core.lessons.catalogue import find_lesson
from bertviz_core.lessons.marking import is_ready, work_out
from bertviz_core.lessons.scene import Scene
from tests.factory import random_checkpoint

MODELS = ("bundled", "random")
SENTENCES = {
    "usual": "When in Rome, do as the [MASK] do.",
    "short": "The [MASK].",
    "shortest": "[MASK]",
    "long": "In the old days a man sat on a mat, and the cat on it did as the [MASK] do in Rome.",
    "repeated": "do as the cat do as the cat do as the [MASK]",
    "all different": "The cat sat on a [MASK] in Rome.",
    "not English": "Ça va? Der Hund heißt [MASK].",
    "forty tokens": f"the cat sat on the mat {'in rome do as the cat ' * 5}and so [MASK]!",
    "none hidden": "The cat sat on the mat.",
    "two hidden": "The [MASK] sat on the [MASK].",
}
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[−-]\d+)?(?:\s%)?")
_MADE = {}


def make_scene(model, text):
    """Where a page opens this sentence."""
    trace = bv.run(model, text)
    token = open_token(trace).token
    opened = open_head(trace, token)
    return Scene(trace, opened.layer, opened.head, token)


def find_scene(models, name, kind):
    """The scene of a sentence in a model, made once."""
    if (name, kind) not in _MADE:
        _MADE[name, kind] = make_scene(models[name], SENTENCES[kind])
    return _MADE[name, kind]


def make_models(bundled, folder):
    return {"bundled": bundled, "random": bv.load_model(str(random_checkpoint(folder, seed=1)))}


def check_lesson(name, scene, truths, steps=None):
    """Every step of a lesson that this scene is fit for says what its truth does. Returns the names of these."""
    checked = []
    for step in find_lesson(name).steps:
        if (steps is None or step.name in steps) and is_ready(step, scene):
            worked, (key, numbers) = work_out(name, step, scene), truths[step.name](scene)
            assert abs(worked.key - key) <= 1e-4 * max(1.0, abs(key)), (step.name, worked.key, key)
            assert set(worked.numbers) == set(numbers), step.name
            for place, told in numbers.items():
                assert is_same(worked.numbers[place], told), (step.name, place, worked.numbers[place], told)
            assert str(worked.why) in scene.trace
            checked.append(step.name)
    return checked


def is_same(told, true):
    """Whether two texts say the same, but for the last digit of their numbers."""
    if _NUMBER.sub("#", told) != _NUMBER.sub("#", true):
        return told == true
    pairs = zip(_NUMBER.findall(told), _NUMBER.findall(true), strict=True)
    return all(a == b or abs(_read(a) - _read(b)) <= 1.01 * max(_read_unit(a), _read_unit(b)) for a, b in pairs)


def _read(number):
    return float(number.rstrip("% \N{NO-BREAK SPACE}").replace(",", "").replace("−", "-"))


def _read_unit(number):
    """Of the last digit; nothing of a whole number, which must be the same, unless it is a percentage."""
    digits, _, power = number.rstrip("% \N{NO-BREAK SPACE}").replace("−", "-").partition("e")
    decimals = len(digits.partition(".")[2])
    return 10.0 ** (int(power or 0) - decimals) if decimals or power or "%" in number else 0.0
