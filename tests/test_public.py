"""What is public: few names, each told with its axes, errors and source, and with an example that runs as it stands."""

import doctest
import inspect
import re

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.formula.dims import AXES
from bertviz_core.sharing.progress import report

ASKED = [name for name in bv.__all__ if inspect.isfunction(getattr(bv, name))]
HELD = ["Model", "Trace", "TraceStore"]
KINDS = [name for name in bv.__all__ if inspect.isclass(getattr(bv, name)) and issubclass(getattr(bv, name), Exception)]


def test_what_is_public_is_small_and_every_name_of_it_is_there():
    assert sorted([*ASKED, *HELD, *KINDS, "__version__"]) == sorted(bv.__all__)
    assert len(ASKED) <= 17 and all(issubclass(getattr(bv, name), bv.BertvizError) for name in KINDS)


@pytest.mark.xdist_group("rome")
@pytest.mark.parametrize("name", ASKED)
def test_an_example_stands_there_and_gives_what_it_says(name, bundled, rome, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (test,) = doctest.DocTestFinder(recurse=False).find(
        getattr(bv, name), name, globs={"bv": bv, "model": bundled, "trace": rome}
    )
    assert test.examples
    said = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
    assert not said, "".join(said)


@pytest.mark.parametrize("name", ASKED)
def test_what_it_raises_and_every_argument_is_told(name):
    told = inspect.getdoc(getattr(bv, name))
    assert re.search(r"Raises?\s", told) or name in {"show_pass"}
    said = set(re.findall(r"\w+", told.partition(">>>")[0]))
    spoken = {"model", "text", "trace", "traces", "texts", "source", "path", "theme", "height"}
    assert set(inspect.signature(getattr(bv, name)).parameters) - spoken <= said


@pytest.mark.parametrize("name", ["ablation", "lens", "roles"])
def test_shapes_are_told_by_the_names_of_axes(name):
    told = inspect.getdoc(getattr(bv, name)).partition(">>>")[0]
    named = [word for shape in re.findall(r"\(((?:\w+, )+\w+)\)", told) for word in shape.split(", ")]
    assert named and set(named) <= {*AXES, "address", "layer", "stage"} | {"dependent", "label"}


def test_a_head_is_worth_what_the_pass_loses_without_it(bundled, rome):
    cell = "cls.predictions.probs[token=8,vocab=2111]"
    told = []
    found = bv.ablation(rome, [cell], progress=lambda done, total: told.append((done, total)))
    without = rome.with_changes({"encoder.layer.4.attention.self.probs[head=7]": 0.0})
    np.testing.assert_allclose(found.measure_worth()[4, 7], float(rome[cell]) - float(without[cell]), atol=1e-6)
    with pytest.raises(bv.InputError, match="1 cells were asked about"):
        found.measure_worth(1)
    assert told == [(i, 72) for i in range(4, 73, 4)]  # four heads run at once


def test_progress_is_one_line_on_standard_error(capsys):
    step = report(True, 2, "texts")
    step(1), step(1)
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("\r1 of 2 texts, ") and said.err.endswith(" a second   \n")
    report(False, 2, "texts")(1)
    assert capsys.readouterr().err == ""


def test_neighbours_are_those_of_the_largest_cosine(bundled):
    table = bundled.parameters["embeddings.word_embeddings.weight"].double().numpy()
    own = table[bundled.tokenizer.id("river")]
    cosines = table @ own / np.maximum(np.linalg.norm(table, axis=1) * np.linalg.norm(own), 1e-30)
    best = [i for i in np.argsort(-cosines) if i != bundled.tokenizer.id("river")][:5]
    found = bv.neighbours(bundled, "river", 5)
    assert [near.id for near in found] == best
    np.testing.assert_allclose([near.cosine for near in found], cosines[best], atol=1e-6)
