"""Handouts of all lessons as files, each on the sentence that has what its steps need, or on one of your own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

from bertviz_core.analysis.openings import open_head, open_token
from bertviz_core.checkpoint.model import Model
from bertviz_core.lessons.catalogue import LESSONS
from bertviz_core.lessons.handout import Handout, write_handout
from bertviz_core.lessons.lesson import Lesson
from bertviz_core.lessons.scene import Scene
from bertviz_core.tracing.trace import Trace, run


def write_handouts(folder: Path, model: Model, text: str = "", address: str = "") -> list[Path]:
    """A page of HTML for each lesson, with its key; their files. text: of all of them, else each lesson's own; address:
    of the app, for the code that leads there. Raises InputError for a sentence that cannot be run."""
    folder.mkdir(parents=True, exist_ok=True)
    pages: list[Path] = []
    for number, (lesson, scene) in enumerate(open_lessons(model, text), 1):
        own = text or lesson.text
        page = folder / f"{number}-{lesson.name}.html"
        handout = Handout(lesson, scene, own, _write_link(address, lesson, scene, own) if address else "")
        page.write_text(write_handout(handout, with_key=True), encoding="utf-8")
        pages.append(page)
    return pages


def open_lessons(model: Model, text: str = "") -> Iterator[tuple[Lesson, Scene]]:
    """Each lesson, and the pass that it asks about. text: of all of them, else each lesson's own."""
    traces: dict[str, Trace] = {}  # of the few sentences: what a pass was asked is remembered
    for lesson in LESSONS:
        own = text or lesson.text
        traces[own] = traces.get(own) or run(model, own)
        yield lesson, _open_scene(traces[own])


def _open_scene(trace: Trace) -> Scene:
    """Where a page opens a sentence."""
    token = open_token(trace).token
    opened = open_head(trace, token)
    return Scene(trace, opened.layer, opened.head, token)


def _write_link(address: str, lesson: Lesson, scene: Scene, text: str) -> str:
    """To the first step, with this sentence, model and place."""
    query = {"text": text, "model": scene.model.name, **list_place(scene), "lesson": lesson.name, "step": "1"}
    return f"{address.rstrip('/')}/{lesson.steps[0].page}?{urlencode(query)}"


def list_place(scene: Scene) -> dict[str, str]:
    """Where the pass is looked at, as a URL says it."""
    return {"layer": str(scene.layer), "head": str(scene.head), "token": str(scene.token)}
