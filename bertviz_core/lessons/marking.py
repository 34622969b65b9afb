"""How an answer is marked, and what is said of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bertviz_core.errors import BertvizError
from bertviz_core.lessons.lesson import Choose, Need, Number, Numbers, Pick, Slide, Step, Tried, Verdict, Worked
from bertviz_core.lessons.scene import Scene
from bertviz_core.tracing.remember import remember

PLACE = re.compile(r"\{(\w+)\}")  # a named one of a text
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")
_LONGEST = 40  # characters of a number


def work_out(lesson: str, step: Step, scene: Scene) -> Worked:
    """What a step says of a pass; worked out once for all who look at the same place in it."""
    name = f"lesson {lesson} {step.name} at {scene.layer} {scene.head} {scene.token}"
    return remember(scene.trace, name, lambda: step.work(scene))


def fill(text: str, numbers: Numbers) -> str:
    """A text with its named places filled. Raises KeyError for one that has no number."""
    return text.format_map(numbers)


def is_ready(step: Step, scene: Scene) -> bool:
    """Whether sentence and model have what the step needs."""
    return find_lack(step, scene) is None


def find_lack(step: Step, scene: Scene) -> Need | None:
    """The first thing that the step needs and the sentence or the model has not."""
    return next((need for need in step.needs if not need.is_met(scene)), None)


def tell_lack(step: Step, scene: Scene) -> str:
    """Why the step is not asked of this sentence, to stand behind "as"."""
    try:
        lack = find_lack(step, scene)
    except BertvizError:
        lack = None
    return lack.lacks if lack else "this model has not what is asked about"


def list_options(step: Step, scene: Scene, worked: Worked) -> tuple[str, ...]:
    """What can be chosen or picked, in words."""
    if isinstance(step.ask, Choose):
        return tuple(fill(option.label, worked.numbers) for option in step.ask.options)
    return step.ask.names(scene) if isinstance(step.ask, Pick) else ()


def mark_index(step: Step, scene: Scene, worked: Worked, answer: int) -> Verdict:
    """Mark what was chosen or picked. What an option says where it was not right ends, after a run, with what is."""
    right = answer == int(worked.key)
    if not isinstance(step.ask, Choose):
        return _mark(step, Tried(scene, worked, answer), right)
    option, key = step.ask.options[answer], step.ask.options[int(worked.key)]
    said = [option.right] if right else [option.wrong, *([key.right] if step.once else [])]
    return Verdict(right, fill(" ".join(filter(None, said)), worked.numbers))


def mark_number(step: Step, scene: Scene, worked: Worked, typed: str) -> Verdict:
    """Mark a number that was typed, with a point or a comma."""
    values = [value for value in (read_number(typed), read_number(typed.replace(",", "."))) if value is not None]
    if not values:
        return Verdict(False, "Write a number in digits, such as 12 or 2.5.", counted=False)
    value = min(values, key=lambda each: abs(each - worked.key))  # 2,345 is 2345 to some and 2.345 to others
    within = step.ask.within if isinstance(step.ask, Number) else 0.0
    return _mark(step, Tried(scene, worked, value), abs(value - worked.key) <= within * (1 + 1e-9))


def mark_slide(step: Step, scene: Scene, worked: Worked, value: float) -> Verdict:
    """Mark where a slider was left."""
    right = isinstance(step.ask, Slide) and step.ask.within(scene, value)
    return _mark(step, Tried(scene, worked, value), right)


def _mark(step: Step, tried: Tried, right: bool) -> Verdict:
    numbers = {**tried.worked.numbers, **step.tell(tried)}
    if right:
        return Verdict(True, fill(step.right, numbers))
    return Verdict(False, fill(next(each.says for each in step.wrong if each.is_so(tried)), numbers))


def tell_key(step: Step, scene: Scene, worked: Worked) -> str:
    """The answer itself, for who asks to be shown it."""
    if isinstance(step.ask, Choose | Pick):
        return list_options(step, scene, worked)[int(worked.key)]
    return f"{worked.key:g}"


def tell_right(step: Step, scene: Scene, worked: Worked) -> str:
    """What is said of the answer that is the key."""
    if isinstance(step.ask, Choose | Pick):
        return mark_index(step, scene, worked, int(worked.key)).says
    return _mark(step, Tried(scene, worked, worked.key), right=True).says


def tell_answer(step: Step, scene: Scene, worked: Worked) -> tuple[str, str]:
    """The answer, and what is said of it; nothing else where that begins with it."""
    said = tell_right(step, scene, worked)
    key = tell_key(step, scene, worked) if isinstance(step.ask, Choose | Pick) else ""
    return (said, "") if not key or said.startswith(key) else (f"{key.rstrip('.')}.", said)


def tell_wrong(step: Step, worked: Worked) -> tuple[str, ...]:
    """What is said of answers that are not the key, where that holds for any such answer."""
    numbers = worked.numbers
    if isinstance(step.ask, Choose):
        others = [option for i, option in enumerate(step.ask.options) if i != int(worked.key) and option.wrong]
        return tuple(f"‘{fill(option.label, numbers)}’: {fill(option.wrong, numbers)}" for option in others)
    return tuple(fill(wrong.says, numbers) for wrong in step.wrong if list_places(wrong.says) <= numbers.keys())


def list_places(text: str) -> frozenset[str]:
    """The named places of a text."""
    return frozenset(PLACE.findall(text))


def read_number(typed: str) -> float | None:
    """A number as people type it: `2.5`, `2,5`, `1,536`, `−0.3`, `55 %`; None for what is none."""
    text = typed.strip().removesuffix("%").strip().replace("\N{MINUS SIGN}", "-").replace(" ", "")
    if len(text) > _LONGEST:
        return None
    text = text.replace(",", "") if _THOUSANDS.fullmatch(text) else text.replace(",", ".")
    return float(text) if text.isascii() and _NUMBER.fullmatch(text) else None


def read_alike(text: str, scene: Scene) -> bool:
    """Whether a scene is about this text, and nothing beside it."""
    return scene.model.tokenizer.encode(text).ids == scene.trace.encoding.ids


def tell_score(right: Sequence[bool], at_once: Sequence[bool]) -> str:
    """How many steps were right, and how many of them at the first try."""
    return f"{sum(right)} of {len(right)} right, {sum(at_once)} at the first try"
