"""The scenes whose pages are recorded: small checkpoints with random parameters, so that every list is short."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.programs import DOCUMENT_PROGRAMS
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.site import PAGES
from tests.derived.reading import LONG, take_time
from tests.factory import random_checkpoint
from tests.menus import open_menus
from tests.recorded.writing import write
from tests.settling import settle
from tests.test_explain import random_cell

APP = str(Path(__file__).parents[2] / "app.py")
TEXT = "the cat [MASK]"
LONG_TEXT = "the cat sat on the mat in rome as romans do " * 4
OF_SENTENCE = tuple(page.name for page in PAGES if page.of_sentence)
READ = ("overview", "predictions", "sentence", "layers", "formulas")  # what differs with a model's answers
WIDE = ("overview", "tokenization", "embeddings", "attention", "attention_output", "sentence", "heads", "layers")
SIZES = {"hidden_size": 12, "intermediate_size": 16}
_VERSION = re.compile(r"(?<=BERT, every number )\S+")  # the one that is installed
_REVISION = re.compile(r"\b[0-9a-f]{12}\b")  # the weights' digest, in which the last bit counts
_OWN = "encoder.layer.1.attention.self"


@dataclass(frozen=True)
class Scene:
    """What is on screen, and the pages of which that is recorded.

    kind, config: of the checkpoint; says: what the URL has to say; changes: of the pass; every: of how many tensors the
    drawer is opened at a number of one, 0 for none.
    """

    says: Mapping[str, str] = field(default_factory=dict[str, str])
    changes: Mapping[str, object] = field(default_factory=dict[str, object])
    kind: str = "pretraining"
    config: Mapping[str, object] = field(default_factory=dict[str, object])
    pages: tuple[str, ...] = OF_SENTENCE
    every: int = 0

    @cached_property
    def query(self) -> dict[str, str]:
        written = "~".join(f"{address}:{value}" for address, value in self.changes.items())
        return {"text": TEXT, "open": "all", **({"changes": written} if written else {}), **self.says}


SCENES = {
    "plain": Scene(pages=tuple(page.name for page in PAGES), every=1),
    "score": Scene({"layer": "1", "head": "1"}, {f"{_OWN}.scores[head=1,query=3,key=1]": 3.0}, every=4),
    "zeroed": Scene({"layer": "1", "head": "0", "token": "2"}, {f"{_OWN}.probs[head=0]": 0.0}),
    "difference": Scene({"show": "Difference", "token": "1"}, {"embeddings.sum[token=1]": 0.5}, every=4),
    "parts": Scene(
        {"layer": "0", "head": "2"},
        {"encoder.layer.0.intermediate.activation": "relu", "encoder.layer.0.attention.output.residual": "no-residual",
         "encoder.layer.1.output.LayerNorm": "skip"},
        every=4,
    ),
    "pair": Scene({"pair": "sat on the mat", "pad": "12", "layer": "1", "head": "2", "token": "5"}),
    "hidden": Scene({"text": "the cat sat on the mat", "mask": "2,5"}, pages=READ),
    "one": Scene(
        {"text": "a"}, kind="base-without-pooler",
        config={"num_hidden_layers": 1, "num_attention_heads": 1, "hidden_act": "relu"},
    ),
    "classes": Scene(kind="sequence-classification", pages=READ, every=4),
    "labels": Scene(kind="token-classification", pages=READ),
    "answers": Scene({"text": "where sat the cat", "pair": "on the mat"}, kind="question-answering", pages=READ),
    "chosen": Scene(
        {"pair": "sat on the mat", "between": "AB", "over": "max", "search": "9999", "search-by": "id", "entry": "cat",
         "followed": "9", "of_head": "2", "word": "mat"},
        pages=("tokenization", "embeddings", "query_key_value", "predictions", "heads", "layers"),
    ),
    "long": Scene({"text": LONG_TEXT, "token": "30", "window": "20"}, pages=WIDE),
    **{name: Scene({"document": name}, pages=("documents",)) for name in DOCUMENT_PROGRAMS},
}  # fmt: skip


def find_file(name: str) -> Path:
    """Where a scene is written down."""
    return Path(__file__).with_name(f"{name}.txt")


def record(scene: Scene, folder: Path) -> Iterator[str]:
    """The lines of a scene, page by page. folder: where its checkpoint may be made."""
    model = random_checkpoint(folder / "small", kind=scene.kind, **{**SIZES, **scene.config})
    with pytest.MonkeyPatch.context() as patch, open_menus("code", "values", "editor"):
        patch.setenv("BERTVIZ_MODELS", str(model))
        take_time(patch)
        for line in _visit(scene, str(model)):
            plain = line.replace(str(folder), "FOLDER").replace(escape_markdown(str(folder)), "FOLDER")
            yield _VERSION.sub("VERSION", _REVISION.sub("REVISION", plain))


def _visit(scene: Scene, model: str) -> Iterator[str]:
    at = _open(scene.query)
    yield "== frame"
    yield from write(_find(at.main, "frame"))
    for page in scene.pages:
        at.switch_page(f"pages/{page}.py").run()
        if settle(LONG):
            at.run()
        assert not at.exception, (page, [one.value for one in at.exception])
        yield f"== page {page}"
        yield from write(at.main)
    trace = at.session_state["view"].trace
    for cell in _draw_cells(trace)[:: scene.every] if scene.every else ():
        at = _open({**scene.query, "walk": cell})
        yield f"== drawer {cell}"
        yield from write(_find(at.main, "drawer"))


def _open(query: Mapping[str, str]) -> AppTest:
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update(query)
    at.run()
    assert not at.exception, (query, [one.value for one in at.exception])
    return at


def _find(block, key: str):
    """The container of this key."""
    for child in block.children.values():
        if hasattr(child, "children"):
            if child.proto.id.endswith(f"-{key}"):
                return child
            found = _find(child, key)
            if found is not None:
                return found
    return None


def _draw_cells(trace: bv.Trace) -> list[str]:
    """A number of every recorded tensor, of layers the last one's."""
    chance, last = random.Random(0), f"encoder.layer.{trace.model.config.num_hidden_layers - 1}."
    paths = [path for path in trace.addresses if not path.startswith("encoder.layer.") or path.startswith(last)]
    return [str(random_cell(trace, path, chance)) for path in paths]
