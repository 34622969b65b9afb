"""Every page on every kind of checkpoint and input: it opens, has formulas and charts, and plots exact numbers."""

import base64
import json
import re
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bertviz_core.analysis.openings import open_head
from bertviz_core.analysis.parts import take_apart
from bertviz_core.formula.address import Address, read_address
from bertviz_core.tracing.trace import run
from bertviz_core.ui.frame.site import PAGES
from bertviz_core.ui.views.patch_number import PATCHED
from bertviz_core.ui.walk.worked_across import explain_across
from bertviz_core.ui.walk.worked_out import find_worked_out
from tests.factory import random_checkpoint
from tests.latex import balanced

APP = str(Path(__file__).parent.parent / "app.py")

FORMULA = re.compile(r"(?<!\\)\$\$?(.+?)(?<!\\)\$\$?", re.DOTALL)  # in Markdown
LINE = re.compile(r'class="bv-formula-line" data-tex="([^"]*)"')
SENTENCE = "the cat sat on the [MASK]"
BASE, LONG = "BERT base sizes", "bundled: 512 tokens"
SCENES = {
    "bundled": {},
    "bundled: a pair": {"text": "He sat by the river.", "pair": "The [MASK] was cold.", "layer": "5", "head": "11"},
    LONG: {"text": "a " * 509 + "[MASK]", "token": "510"},
    "bundled: one letter": {"text": "a"},
    BASE: {"text": SENTENCE, "layer": "11", "head": "7"},
    "pretraining": {"text": SENTENCE, "layer": "1"},
    "base": {"text": SENTENCE},
    "base-without-pooler": {"text": SENTENCE, "pair": "in rome"},
    "sequence-classification": {"text": SENTENCE},
    "token-classification": {"text": SENTENCE, "token": "0"},
}


ANSWERS = "cls.predictions.probs", "classifier.probs", "qa_outputs.start.probs", "cls.seq_relationship.probs"


SELDOM = {LONG, BASE, "bundled: one letter", "base", "base-without-pooler", "sequence-classification"}


def grouped(name):
    """All that looks at one scene runs in one process, where it is made once."""
    group = pytest.mark.xdist_group("base_sized" if name == BASE else f"pages: {name}")
    late = [pytest.mark.rare] * (name in SELDOM)
    return pytest.param(name, marks=[group, *late])


@pytest.fixture(scope="module", params=map(grouped, SCENES))
def scene(request, tmp_path_factory):
    """What every page shows for one checkpoint and input, by the page's name."""
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update({"open": "all", **SCENES[request.param]})
    with pytest.MonkeyPatch.context() as patch:
        if request.param == BASE:
            patch.setenv("BERTVIZ_MODELS", str(request.getfixturevalue("base_sized")))
        elif not request.param.startswith("bundled"):
            folder = random_checkpoint(tmp_path_factory.mktemp("model"), kind=request.param)
            patch.setenv("BERTVIZ_MODELS", str(folder))
        at.run()
        return {info.name: shown(at.switch_page(f"pages/{info.name}.py").run()) for info in PAGES}


def title_of(at):
    """The page's own title, which stands under its headline."""
    told = (re.match(r"<p><strong>(.+?)\.</strong>", element.proto.body) for element in at.get("html"))
    return next(unescape(found[1]) for found in told if found)


def shown(at):
    charts = [
        (chart.proto.id.partition("-chart-")[2], json.loads(chart.proto.spec)) for chart in at.get("plotly_chart")
    ]
    pictures = [element.proto.body for element in at.get("html") if "<img" in element.proto.body]
    lines = [tex for element in at.get("html") for tex in LINE.findall(element.proto.body)]
    written = [unescape(tex) for tex in lines] + [
        formula.strip() for element in at.markdown for formula in FORMULA.findall(element.value)
    ]
    return SimpleNamespace(
        view=at.session_state["view"],
        title=[title.value for title in at.title],
        charts=charts,
        pictures=pictures,
        formulas=[element.value.strip("$\n") for element in at.latex] + written,
        components=[element.proto.component_name for element in at.get("bidi_component")],
        exceptions=[element.value for element in at.exception],
        errors=[element.value for element in at.error],
    )


def decoded(numbers):
    """A figure's array; Plotly writes arrays as base64, with their type and shape."""
    if isinstance(numbers, list):
        return np.array(numbers, dtype=np.float32)
    shape = [int(size) for size in numbers.get("shape", "-1").split(",")]
    return np.frombuffer(base64.b64decode(numbers["bdata"]), dtype=numbers["dtype"]).reshape(shape)


@pytest.mark.parametrize("info", PAGES, ids=lambda info: info.name)
def test_a_page_comes_in_by_the_shell(info):
    """On a cold server pages run at once. Modules imported in different orders by two threads are a deadlock."""
    page = Path(APP).with_name("pages") / f"{info.name}.py"
    first, *_ = re.findall(r"\n(from bertviz_core.*)", page.read_text(encoding="utf-8"))
    assert first.startswith("from bertviz_core.ui.frame.shell import")


def test_every_page_opens(scene):
    for info in PAGES:
        page = scene[info.name]
        assert (len(page.title), page.exceptions, page.errors) == (1, [], []), info.name


def test_every_page_has_a_picture_and_a_formula(scene):
    for name, page in scene.items():
        if name == "patch" and not any(answer in page.view.trace for answer in ANSWERS):
            continue  # there is nothing to measure
        assert page.charts or page.pictures or name in ("overview", "formulas", "learn"), name
        assert page.formulas or name in ("overview", "learn"), name
    assert "bertviz.canvas" in scene["overview"].components and not scene["overview"].charts  # a page without Plotly


def test_formulas_are_well_formed(scene):
    for page in scene.values():
        for formula in page.formulas:
            assert balanced(formula), formula
            assert re.findall(r"\\begin{(\w+)}", formula) == re.findall(r"\\end{(\w+)}", formula)[::-1], formula
            assert not re.search(r"nan|None|inf\b|array|tensor|\{\}", formula), formula


def test_the_link_decides_what_is_shown(scene, request):
    asked = SCENES[request.node.callspec.params["scene"]]
    for page in scene.values():
        chosen, trace = page.view.chosen, page.view.trace
        usual = trace.tokens.index("[MASK]") if "[MASK]" in trace.tokens else 1
        assert chosen.token == int(asked.get("token", usual))
        opened = open_head(trace, chosen.token)
        place = (asked.get("layer", 0), asked.get("head", 0)) if "layer" in asked else (opened.layer, opened.head)
        assert (chosen.layer, chosen.head) == tuple(map(int, place))
        assert (page.view.pair is not None) == ("pair" in asked)
        assert trace.tokens[0] == "[CLS]" and (len(trace.tokens) == 512) == ("token" in asked and asked["token"] > "1")


def is_address(name, trace):
    return name.partition("[")[0] in trace


def recorded(scene):
    """Every chart of a recorded tensor, trace by trace: those whose name is an address."""
    for page in scene.values():
        for address, figure in page.charts:
            if is_address(address, page.view.trace):
                for drawn in figure["data"]:
                    yield page.view, address, drawn, figure["layout"]


def test_heat_maps_show_exactly_the_numbers_of_the_trace(scene):
    maps = [found for found in recorded(scene) if "z" in found[2]]
    assert maps
    for view, address, heatmap, layout in maps:
        z = decoded(heatmap["z"])
        if tuple(note["text"] for note in layout.get("annotations", ()))[:1] == view.trace.dims(address)[:1]:
            assert np.array_equal(z, window(view.trace[address], heatmap, z.shape)), address
        else:  # one vector a row, from several places
            vectors = known_vectors(view)
            for name, row in zip(layout["yaxis"]["ticktext"], z, strict=True):
                assert row.tobytes() in vectors or np.array_equal(row, neuron(view, name)), (address, name)


def test_a_click_on_a_chart_means_the_cell_that_is_drawn_there_or_whose_term_is(scene):
    seen = set()
    for page in scene.values():
        for name, figure in page.charts:
            for drawn in figure["data"]:
                if "hoverongaps" in drawn:  # each row on a scale of its own: tests/test_worked_methods.py
                    continue
                if name == "triangle":  # a side offers its length in its middle: tests/test_add_norm_page.py
                    continue
                for address, numbers in clickable(drawn) if "meta" in drawn else ():
                    if read_address(address).name == PATCHED:  # in no pass of this page: tests/test_patch_page.py
                        continue
                    if told := find_worked_out(page.view, read_address(address)):  # a token's own cosine is not drawn
                        assert np.isnan(numbers[0]) or told.number == pytest.approx(numbers[0], abs=1e-6), address
                        continue
                    if told := explain_across(page.view, read_address(address)):
                        shown = np.cos(np.radians(numbers[-1])) if told.unit.endswith("°") else numbers[-1]
                        assert told.number == pytest.approx(shown, abs=1e-5), address
                        continue
                    why = page.view.trace.explain(address)
                    if is_address(name, page.view.trace) and not any(np.isclose(why.value, numbers, 1e-5, 1e-37)):
                        terms = take_apart(page.view.trace, why).amounts
                        assert np.isclose(terms, numbers[0], rtol=1e-4, atol=1e-9).any(), (name, address)
                    seen.add(is_address(name, page.view.trace))
    assert seen == {True, False}


def clickable(drawn):
    """The address of a chart's cell in the middle, found as the browser finds it, and the numbers drawn there."""
    meta = drawn["meta"]
    if "z" in drawn:
        z = decoded(drawn["z"])
        row, column = z.shape[0] // 2, z.shape[1] // 2
        place = {"{x}": drawn.get("x0", 0) + column, "{y}": drawn.get("y0", 0) + row}
        if "customdata" in drawn:
            place |= dict(zip(("{q}", "{k}"), np.array(drawn["customdata"])[row, column], strict=False))
        numbers = [z[row, column]]
    else:
        sides = [decoded(drawn[side]) for side in ("x", "y") if numeric(drawn.get(side))]
        row = len(sides[0]) // 2
        place, numbers = {"{n}": row}, [side[row] for side in sides]
    address = meta[row] if isinstance(meta, list) and row < len(meta) else "" if isinstance(meta, list) else meta
    for mark, index in place.items():
        address = address.replace(mark, str(index))
    if address:
        yield address, numbers


def window(matrix, heatmap, shape):
    """The part of a matrix that a heat map says it draws."""
    (row, column), (height, width) = (heatmap["y0"], heatmap["x0"]), shape
    return matrix[row : row + height, column : column + width]


def known_vectors(view):
    """The chosen token's vectors in the chosen layer and around it, and the parameters there, as bytes."""
    trace, layer = view.trace, view.chosen.layer
    vectors = set()
    for address in (*trace.addresses, *trace.model.parameters):
        dims = trace.dims(address)
        near = Address(address).layer in (None, layer, layer - 1) and "vocab" not in dims
        if near and (len(dims) == 1 or (len(dims) == 2 and dims[0] == "token")):
            at = f"[token={view.chosen.token}]" if dims[0] == "token" else ""
            vectors.add(trace[address + at].tobytes())
    return vectors


def neuron(view, name):
    """What one neuron adds to the chosen token, "neuron 7" for example."""
    i, here = int(name.removeprefix("neuron ")), f"encoder.layer.{view.chosen.layer}"
    strength = view.trace[f"{here}.intermediate.activation[token={view.chosen.token},intermediate={i}]"]
    return strength * view.trace[f"{here}.output.dense.weight"][i]


def test_bars_show_exactly_the_numbers_of_the_trace(scene):
    bars = [found for found in recorded(scene) if found[2]["type"] == "bar"]
    for view, address, bar, _ in bars:
        assert np.isin(decoded(bar["x"]), view.trace[address]).all(), address
    assert bars or "classifier" not in scene["overview"].view.trace


def numeric(values):
    return bool(values) and (isinstance(values, dict) or isinstance(values[0], int | float))


def test_rows_are_called_by_their_tokens_in_sentence_order(scene):
    for page in scene.values():
        tokens = page.view.trace.tokens
        for address, figure in page.charts:
            if address.startswith(("playground-", "notebook-")):  # these have tokens of their own
                continue
            if figure["layout"].get("annotations", [{}])[0].get("text") in ("token", "query", "key"):
                axis = figure["layout"]["yaxis"]
                named = [f"{i} {token}" for i, token in enumerate(tokens)]
                bare = [name if tokens.count(token) > 1 else token for name, token in zip(named, tokens, strict=True)]
                assert axis["ticktext"] in ([names[i] for i in axis["tickvals"]] for names in (named, bare)), address
                assert axis["autorange"] == "reversed"


def test_all_pages_together_run_a_new_sentence_once(monkeypatch):
    ran = []

    def note(model, encoding, *args, program, **kw):
        if "nobody" in encoding.tokens:  # a process that has just started runs the examples as well
            ran.append((program, encoding.tokens.count("[MASK]")))
        return run(model, encoding, *args, program=program, **kw)

    monkeypatch.setattr("bertviz_core.tracing.store.run", note)
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params["text"] = "Nobody has typed this [MASK] before."
    at.run()
    for info in PAGES:
        at.switch_page(f"pages/{info.name}.py").run()
    # Compare sets beside it the pass with one word more hidden, and the documents page that of one document.
    assert ran == [("bert", 1), ("bert", 2), ("forward-pass-note", 1)]


def test_formulas_are_written_as_the_reader_wishes():
    written = {}
    for notation in ("row", "column", "function"):
        at = AppTest.from_file(APP, default_timeout=60)
        at.query_params.update({"formulas": notation, "open": "all"})
        at.run().switch_page("pages/attention.py").run()
        written[notation] = [unescape(tex) for one in at.get("html") for tex in LINE.findall(one.proto.body)]
        view = at.session_state["view"]
        step = view.trace.step(f"encoder.layer.{view.chosen.layer}.attention.self.probs")
        assert any(view.typeset(step) in formula for formula in written[notation])
    assert written["row"] != written["column"] != written["function"] != written["row"]
