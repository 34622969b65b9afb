"""Cards: the line of the formula, what stands in the head, and the page's own number."""

import re
from html import unescape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from bertviz_core.figures.palette import PALETTES
from bertviz_core.formula.notations import NOTATIONS
from bertviz_core.ui.frame.style import make_painter
from bertviz_core.ui.panels import formula_line
from bertviz_core.ui.panels.derived import _split
from bertviz_core.ui.panels.formula_line import flatten, shorten_source

APP = str(Path(__file__).parent.parent / "app.py")
LIGHT = PALETTES["light"]
TAG = re.compile(r"<[^>]*>")
RECORDED, LINE = Path(__file__).parent / "recorded", re.compile(r'data-tex="([^"]*)"')


def list_names(block):
    """How the browser tells the blocks below one from others, those of cards and of their menus."""
    for child in getattr(block, "children", {}).values():
        name = getattr(getattr(child, "proto", None), "id", "") or ""
        if re.search(r"-(panel|card-head|values|code)-", name):
            yield name
        yield from list_names(child)


@pytest.mark.parametrize("page", ["attention", "add_norm", "feed_forward", "query_key_value"])
def test_a_card_stays_the_same_one_where_it_shows_another_layer_and_head(page):
    """Under another name the browser would take away what it has drawn, and draw all of it anew."""
    found = []
    for place in ({"layer": "1", "head": "1"}, {"layer": "3", "head": "10"}):
        at = AppTest.from_file(APP, default_timeout=60)
        at.query_params.update(place)
        at.run()
        at.switch_page(f"pages/{page}.py").run()
        assert not at.exception
        found.append(list(list_names(at.main)))
    assert found[0] and found[0] == found[1] and len(set(found[0])) == len(found[0])


@pytest.fixture
def shown(monkeypatch):
    """What the line of a formula is as HTML, and what is left to KaTeX."""
    found = {"html": [], "katex": []}
    monkeypatch.setattr(formula_line.st, "html", found["html"].append)
    monkeypatch.setattr(formula_line, "_typeset", lambda line, *_: found["katex"].append(line))
    return found


@pytest.mark.parametrize("notation", NOTATIONS)
def test_every_step_has_its_formula_in_one_line_of_symbols(bundled, shown, notation):
    """Each symbol in its kind's colour; nothing is left to KaTeX, which would be fetched for it."""
    steps = bundled.program.steps
    for step in steps:
        formula_line.show_formula(step.typeset(make_painter(LIGHT), notation), "x", bundled.program, step.source)
    assert not shown["katex"] and len(shown["html"]) == len(steps)
    for step, line in zip(steps, shown["html"], strict=True):
        assert f'<span style="color:{LIGHT.kinds[step.kind]}">' in line
        assert "\n" not in line and step.source in unescape(line) and "\\" not in TAG.sub("", line)


def test_lines_of_a_formula_follow_each_other_and_fractions_are_small():
    tex = r"\footnotesize\begin{aligned} & a &= \frac{b}{c} \\[6pt] d &= \tfrac{1}{2} \end{aligned}"
    assert flatten(tex).split() == [*[r"a", r"=", r"\dfrac{b}{c}", r",\quad", r"d", r"=", r"\dfrac{1}{2}"]]


def test_a_line_that_goes_on_with_a_formula_has_no_comma_before_it_and_two_beside_each_other_have_one():
    assert (
        flatten(r"\begin{aligned} & \text{weight} \\ &= \frac{1}{n} \end{aligned}") == r"\text{weight} = \dfrac{1}{n}"
    )
    assert flatten(r"\begin{aligned} a &= b & c &= d \\ &e = f \end{aligned}") == r"a = b ,\quad c = d ,\quad e = f"


def test_a_case_in_a_line_has_its_condition_behind_it_and_no_brace_of_one_row():
    tex = r"p = \begin{cases} \sin\frac{i}{2} & j \text{ even} \\[6pt] \cos i & j \text{ odd} \end{cases}"
    assert flatten(tex) == r"p = \sin\dfrac{i}{2}\;(j \text{ even}),\quad \cos i\;(j \text{ odd})"


def test_no_formula_of_the_records_runs_into_the_next_one():
    """Behind an equals sign another one stands only where the same thing is written once more, or in an index."""
    lines = {line for file in RECORDED.glob("*.txt") for line in LINE.findall(file.read_text(encoding="utf-8"))}
    assert len(lines) > 100
    assert [line for line in lines if re.search(r",\\quad\s*:?=", line)] == []
    assert [line for line in lines if re.search(r"\) +[A-Z]_\w+ *=", line)] == []


def test_what_only_katex_knows_is_left_to_it(shown, rome):
    formula_line.show_formula(r"x = \begin{cases} 1 \end{cases}", "x", rome.program)
    assert shown["katex"] and not shown["html"]


def test_a_formula_opens_its_number(shown, rome):
    cell = rome.program.steps[0].address
    formula_line.show_formula("x = y", "x", rome.program, "<source>", cell)
    (line,) = shown["html"]
    assert f'data-cell="{cell}"' in line and "&lt;source&gt;" in line and "<source>" not in line


def test_what_its_letters_mean_stands_beside_a_formula_and_behind_the_sign_of_the_code(shown, rome):
    step = rome.program.by_address["encoder.layer.2.attention.self.scores"]
    formula_line.show_formula(step.latex, "x", rome.program)
    formula_line.show_letters(step.latex, rome.program)
    line, listed = shown["html"]
    assert listed in line and listed.count("<dt>") == 4
    assert (
        f"<dt><i>S</i><sup>(2)</sup></dt><dd>{step.meaning}</dd>" in listed
        and "<dt><i>m</i></dt><dd>Attention mask" in listed
    )


def test_the_letters_of_what_only_katex_knows_are_not_listed(shown, rome):
    formula_line.show_letters(r"x = \unknown{1}", rome.program)
    assert not shown["html"]


@pytest.mark.parametrize(
    ("source", "short"),
    [
        ("Vaswani et al. 2017, Attention Is All You Need, eq. 1", "Vaswani et al. 2017, eq. 1"),
        ("Hendrycks & Gimpel 2016, Gaussian Error Linear Units", "Hendrycks & Gimpel 2016"),
        (
            "notebook (001), In [14]; Devlin et al. 2018, BERT, fig. 2",
            "notebook (001), In [14]; Devlin et al. 2018, fig. 2",
        ),
        (
            "nostalgebraist 2020, logit lens; head: Devlin et al. 2018",
            "nostalgebraist 2020, logit lens; head: Devlin et al. 2018",
        ),
    ],
)
def test_a_source_is_named_without_the_title_of_a_paper(source, short):
    assert shorten_source(source) == short


@pytest.mark.parametrize(
    ("meaning", "beside"), [("Short.", True), ("A formula $x$.", False), ("Long words. " * 20, False)]
)
def test_only_a_short_plain_sentence_stands_beside_a_title(meaning, beside):
    assert _split(meaning) == ((meaning, "") if beside else ("", meaning))


@pytest.mark.parametrize("theme", PALETTES)
def test_scales_end_in_the_colour_of_their_kind(theme):
    colors = PALETTES[theme]
    for kind, cell in colors.cells.items():
        assert colors.shade(kind) == ((0.0, colors.negative), (0.5, colors.zero), (1.0, cell))
        assert colors.rise(kind) == ((0.0, colors.zero), (1.0, cell))
    assert colors.ink([2.0, -1.0, 0.0], "red") == ["red", colors.negative, "red"]
