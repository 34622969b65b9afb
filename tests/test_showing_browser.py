"""An executed notebook's export, opened in a browser, light and dark; the pass in a file without a server."""

import re
import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter

import bertviz_core as bv
from bertviz_core.analysis.openings import open_head, open_token
from bertviz_core.figures.palette import PALETTES
from bertviz_core.figures.tints import measure_contrast
from tests.factory import random_checkpoint

pytestmark = pytest.mark.rare

CELLS = (
    "import bertviz_core as bv\ntrace = bv.run(bv.load_model({folder!r}), 'the cat sat')\ntrace",
    "trace.explain('encoder.layer.1.attention.self.probs[head=1,query=2,key=3]')",
    "trace.show('encoder.layer.1.attention.self.probs[head=1]')",
    "bv.show_pass(trace)",
)
# Of all texts that are seen in the cards: their colour, and that of what lies behind them.
INKS = """() => [...document.querySelectorAll('.bv-card')].flatMap(card => {
    const back = getComputedStyle(card).backgroundColor;
    return [...card.querySelectorAll('p, td, b, code, summary, .bv-token')].filter(e => e.checkVisibility())
        .map(e => [getComputedStyle(e).color, back]);
})"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return random_checkpoint(tmp_path_factory.mktemp("models") / "small", kind="masked-lm")


@pytest.fixture(scope="module")
def executed(folder):
    cells = [nbformat.v4.new_code_cell(source.format(folder=str(folder))) for source in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return notebook


@pytest.fixture
def page(chromium):
    page = chromium.new_page(viewport={"width": 1200, "height": 900})
    page.asked, page.wrong = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    yield page
    page.close()


def write_hex(color):
    return "#" + bytes(int(float(part)) for part in re.findall(r"[\d.]+", color)[:3]).hex()


@pytest.mark.parametrize("theme", PALETTES)
def test_an_exported_notebook_shows_its_values_light_and_dark(executed, page, tmp_path, theme):
    html, _ = HTMLExporter(theme=theme).from_notebook_node(executed)
    (tmp_path / "n.html").write_text(html, encoding="utf-8")
    page.route(re.compile("^https?:"), lambda route: route.abort())  # what nbconvert itself asks for: MathJax
    page.goto((tmp_path / "n.html").as_uri())
    inside = page.frame_locator("iframe")
    inside.locator(".bvc-drawn text").first.wait_for()
    assert page.locator(".bv-card").count() == 3 and page.locator(".bv-card svg rect").count() > 25
    inks = page.evaluate(INKS)
    assert len(inks) > 20 and min(measure_contrast(*map(write_hex, pair)) for pair in inks) >= 4.5
    paper = inside.locator("body").evaluate("e => getComputedStyle(e).backgroundColor")
    assert write_hex(paper).upper() == PALETTES[theme].paper
    page.get_by_text("60 addresses").click()
    page.locator("summary", has_text="encoder.layer.1 ").click()
    assert page.get_by_text("encoder.layer.1.output.LayerNorm", exact=True).is_visible()
    asked = [url for url in page.asked if not url.startswith(("file:", "data:", "about:"))]
    assert page.wrong == [] and all(re.search("mathjax|require|mermaid", url, re.IGNORECASE) for url in asked)


def test_the_pass_in_a_file_goes_to_every_layer_and_head_and_asks_for_nothing(folder, page, tmp_path):
    trace = bv.run(bv.load_model(folder), "the cat sat")
    bv.show_pass(trace).save(tmp_path / "pass.html")
    page.goto((tmp_path / "pass.html").as_uri())
    page.locator(".bvc-drawn text").first.wait_for()
    stage = page.locator(".bvc-stage")

    def read(address):
        return page.evaluate("address => document.querySelector('.bvc').readCell(address)", address)

    stage.focus()
    opened = open_head(trace, open_token(trace).token)
    layer, head = opened.layer, opened.head
    for key in "[}]}":
        layer = min(max(layer + {"[": -1, "]": 1}.get(key, 0), 0), 1)
        head = (head + (key == "}")) % 3
        page.keyboard.press(key)
        cell = f"encoder.layer.{layer}.attention.self.value[head={head},key=2,head_dim=3]"
        page.wait_for_function("cell => document.querySelector('.bvc').readCell(cell) !== undefined", arg=cell)
        assert read(cell) == pytest.approx(float(trace[cell]), rel=1e-6)
    cell = "embeddings.LayerNorm[token=1,hidden=2]"
    assert read(cell) == pytest.approx(float(trace[cell]), rel=1e-6)
    page.locator(".bvc-ask").evaluate("(e, cell) => { e.dataset.cell = cell; e.click(); }", cell)
    assert page.locator(".alone-code").inner_text() == f'trace.explain("{cell}")'
    assert not page.get_by_role("button", name="Show me").is_visible()  # the walk is told where the page opens
    for key in "[" * (layer - opened.layer) + "]" * (opened.layer - layer) + "}" * ((opened.head - head) % 3):
        page.keyboard.press(key)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Show me").click()
    page.wait_for_function("() => document.querySelector('.bvc').dataset.stop === '1'")
    assert page.wrong == [] and [url for url in page.asked if not url.startswith(("file:", "data:"))] == []


def test_the_core_shows_values_where_streamlit_is_not_installed(folder):
    source = (
        "import sys; sys.modules['streamlit'] = None\nimport bertviz_core as bv\n"
        f"t = bv.run(bv.load_model({str(folder)!r}), 'the cat')\n"
        "print(len(bv.show_pass(t).html), len(t._repr_html_()), t.show('embeddings.LayerNorm')._repr_html_()[:7])"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True, timeout=120)
    pass_size, trace_size, begins = done.stdout.split(maxsplit=2)
    assert int(pass_size) > 100_000 and int(trace_size) > 5_000 and begins.strip() == "<style>"
