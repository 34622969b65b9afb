"""The handout of a lesson: a sheet with its tasks for the sentence on screen, and the key, as one page of HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from bertviz_core.checkpoint.hub import BUNDLED
from bertviz_core.errors import BertvizError
from bertviz_core.formula.texts import join_words, name_token, shorten, spell_controls, write_count
from bertviz_core.lessons.drawing import draw_code, isolate
from bertviz_core.lessons.lesson import Choose, Lesson, Picture, Slide, Step, Worked, Write
from bertviz_core.lessons.marking import fill, is_ready, list_options, tell_answer, tell_lack, tell_wrong, work_out
from bertviz_core.lessons.scene import Scene

_STYLE = Path(__file__).with_name("handout.css").read_text(encoding="utf-8")
_LONGEST = 400  # characters of the sentence


@dataclass(frozen=True)
class Handout:
    """A lesson on a pass. text: the sentence as it was typed; link: to the first step in the app, or nothing; typed:
    the tokens of what was typed, where some of them may be hidden."""

    lesson: Lesson
    scene: Scene
    text: str
    link: str = ""
    typed: Sequence[str] = ()


def write_handout(handout: Handout, with_key: bool = False) -> str:
    """The handout as HTML that needs nothing else. with_key: whether a second sheet has the key, for who teaches."""
    worked = [_work(handout, step) for step in handout.lesson.steps]
    picture = handout.lesson.draw(handout.scene)
    pages = [_write_sheet(handout, worked, picture, with_key)]
    if with_key:
        pages.append(_write_key(handout, worked, picture))
    title = escape(f"{handout.lesson.title}: handout")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{title}</title><style>{_STYLE}</style></head><body>{''.join(pages)}</body></html>\n"
    )


def _work(handout: Handout, step: Step) -> Worked | None:
    """What a step says of the pass; nothing where sentence or model have not what it needs."""
    try:
        return work_out(handout.lesson.name, step, handout.scene) if is_ready(step, handout.scene) else None
    except BertvizError:
        return None


def _fill(text: str, numbers: Mapping[str, str]) -> str:
    """A text with its places filled, as HTML; what is written from right to left leaves the rest as it is."""
    return escape(fill(text, {name: isolate(each) for name, each in numbers.items()}))


def _write_head(lesson: Lesson, line: str, right: str, about: str, code: str = "") -> str:
    """What stands on top of a sheet. about: HTML below the line; code: beside all of it."""
    return (
        f'<header><div><div class="title"><div><h1>{escape(lesson.title)}</h1><p>{escape(line)}</p></div>'
        f'<div class="who">{right}</div></div><p class="about">{about}</p></div>{code}</header>'
    )


def _write_sheet(handout: Handout, worked: list[Worked | None], picture: Picture, keyed: bool) -> str:
    lesson, scene = handout.lesson, handout.scene
    name = '<span>Name <i></i></span><span>Date <i class="short"></i></span>'
    head = _write_head(lesson, lesson.line, name, _write_about(handout), draw_code(handout.link))
    tasks = "".join(map(_write_task, range(1, len(worked) + 1), lesson.steps, worked, [scene] * len(worked)))
    return (
        f'<section class="sheet">{head}'
        f'<div class="figures">{picture.body}</div><div class="tasks">{tasks}</div>'
        f"<footer><span>{escape(_tell_app(handout, worked))}</span>"
        f"{'<span>1 of 2</span>' if keyed else ''}</footer></section>"
    )


def _write_about(handout: Handout) -> str:
    """The sentence, and the place in the pass that is asked about."""
    scene, text = handout.scene, shorten(spell_controls(handout.text), _LONGEST)
    model = "bundled model" if scene.model.name == BUNDLED else scene.model.name
    place = f"{model}, layer {scene.layer}, head {scene.head}, at {isolate(scene.here)}"
    return f"<bdi><b>{escape(text)}</b></bdi> &ensp;BERT, {escape(f'{place}.{_tell_unseen(handout)}')}"


def _tell_unseen(handout: Handout) -> str:
    """What the text does not show: which tokens are hidden, and how many are padding."""
    typed, tokens = handout.typed, handout.scene.tokens
    hidden = [i for i, (was, now) in enumerate(zip(typed, tokens, strict=False)) if was != now]
    names = join_words([isolate(name_token(typed, i)) for i in hidden]) if hidden else ""
    padding = handout.scene.trace.encoding.mask.count(0)
    return (f" Hidden behind {tokens[hidden[0]]}: {names}." if hidden else "") + (
        f" Padding: {write_count(padding, 'token')}." if padding else ""
    )


def _write_task(number: int, step: Step, worked: Worked | None, scene: Scene) -> str:
    if worked is None:
        return f'<div class="task"><p>{_write_number(number)}{_write_lack(step, scene)}</p></div>'
    text = _fill(step.paper.text or step.text, worked.numbers)
    task = _fill(step.paper.task or step.task, worked.numbers)
    after = " Then try it in the app." if isinstance(step.ask, Write) else ""
    options = "".join(f"<li>{escape(isolate(each))}</li>" for each in _list_boxes(step, scene, worked))
    return (
        f'<div class="task"><p>{_write_number(number)}{text}</p><p class="ask">{task}{after}</p>'
        f'{f"<ul class=options>{options}</ul>" if options else ""}<div class="lines"></div></div>'
    )


def _list_boxes(step: Step, scene: Scene, worked: Worked) -> tuple[str, ...]:
    return list_options(step, scene, worked) if isinstance(step.ask, Choose) else ()


def _write_number(number: int) -> str:
    return f'<span class="number">{number}</span>'


def _write_lack(step: Step, scene: Scene) -> str:
    return escape(f"{step.title}: not asked of this sentence, as {tell_lack(step, scene)}.")


def _tell_app(handout: Handout, worked: list[Worked | None]) -> str:
    """What leads to the app, and what can be run there."""
    runs = [
        str(i)
        for i, (step, each) in enumerate(zip(handout.lesson.steps, worked, strict=True), 1)
        if each is not None and _runs(step)
    ]
    tasks = f"Task {runs[0]} can be" if len(runs) == 1 else f"Tasks {join_words(runs)} can be" if runs else ""
    able = f" {tasks} run there." if tasks else ""
    begins = (
        "The code leads to this lesson in the app, with this sentence."
        if handout.link
        else "In the app: the page Learn."
    )
    return begins + able


def _runs(step: Step) -> bool:
    return isinstance(step.ask, Slide | Write) or (isinstance(step.ask, Choose) and step.ask.run is not None)


def _write_key(handout: Handout, worked: list[Worked | None], picture: Picture) -> str:
    lesson = handout.lesson
    answers = "".join(
        f'<div class="task">{_write_answer(number, step, each, handout.scene)}</div>'
        for number, (step, each) in enumerate(zip(lesson.steps, worked, strict=True), 1)
    )
    about = "All numbers are from the recorded pass. With another sentence or model the app prints another key."
    boxes = f"In the empty boxes: {'; '.join(map(isolate, picture.boxes))}." if picture.boxes else ""
    return (
        f'<section class="sheet key">{_write_head(lesson, f"{lesson.line} · key", "for the teacher", about)}'
        f'<div class="tasks">{answers}</div>'
        f"<footer><span>{escape(boxes)}</span><span>2 of 2</span></footer></section>"
    )


def _write_answer(number: int, step: Step, worked: Worked | None, scene: Scene) -> str:
    """The answer, what a wrong one mostly comes from, and what the app says to it."""
    if worked is None:
        return f"<p>{_write_number(number)}{_write_lack(step, scene)}</p>"
    belief = _fill(step.misconception, worked.numbers)
    said = "".join(f" {escape(isolate(each))}" for each in tell_wrong(step, worked))
    return (
        f"<p>{_write_number(number)}{_tell_answer(step, scene, worked)}</p>"
        f"<p>Usual misconception: {belief}{f' Answer to it:{said}' if said else ''}</p>"
    )


def _tell_answer(step: Step, scene: Scene, worked: Worked) -> str:
    if isinstance(step.ask, Write):
        tried = "".join(f" {escape(each)}" for each in _try_samples(step.ask, scene))
        return f"<b>It depends on what is written; the app marks it.</b>{tried}"
    key, said = tell_answer(step, scene, worked)
    return f"<b>{escape(isolate(key))}</b>{f' {escape(isolate(said))}' if said else ''}"


def _try_samples(ask: Write, scene: Scene) -> list[str]:
    """What is said of answers that others have given."""
    said: list[str] = []
    for text, guess in ask.samples(scene):
        try:
            verdict = ask.check(scene, text, guess)
        except BertvizError:
            continue
        said.append(f"“{text}”{f', {guess}' if guess else ''}: {verdict.says}")
    return said
