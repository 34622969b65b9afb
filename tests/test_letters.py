"""What letters of formulas mean: every one, of all steps of all programs in all notations, and of all pages' cards."""

import ast
import html
import re
from pathlib import Path

import pytest

from bertviz_core.analysis.letters import explain_letters, list_letters, read_text, write_letter
from bertviz_core.documents.letters import EVERYWHERE, IN_FORMULAS
from bertviz_core.formula.notations import NOTATIONS
from bertviz_core.programs import DOCUMENT_PROGRAMS
from bertviz_core.programs.bert import ALL_HEADS, MOST_HEADS, write_bert
from bertviz_core.ui import views
from bertviz_core.ui.panels.formula_line import render_letters
from bertviz_core.ui.views.formulas import render_step
from tests.canvas import look

RECORDS = Path(__file__).parent / "recorded"
VIEWS = Path(views.__file__).parent
FORMULA = re.compile(r"\\[a-z]+|_\{|\^\{")
TEX = re.compile(r'class="bv-formula-line" data-tex="([^"]*)"')


@pytest.fixture(scope="module")
def programs(bundled):
    """By name, with every head that a model may have."""
    documents = {name: write(bundled.config, frozenset(bundled.heads)) for name, write in DOCUMENT_PROGRAMS.items()}
    return documents | {
        "bert": write_bert(bundled.config, MOST_HEADS),
        "all": write_bert(bundled.config, frozenset(ALL_HEADS)),
    }


def find_unexplained(formulas, program):
    return {
        tex: missing
        for tex in formulas
        if (missing := [one for one, said in explain_letters(tex, program).items() if not said])
    }


@pytest.mark.parametrize("notation", NOTATIONS)
def test_every_letter_of_every_step_has_a_meaning(programs, notation):
    for name, program in programs.items():
        steps = {step.typeset(notation=notation) for step in program.steps if step.layer in (None, 0, 2)}
        assert (name, find_unexplained(steps, program)) == (name, {})
        assert all(list_letters(tex) for tex in steps)


def list_cards():
    """The formula lines of all records: of all pages, also in other states, and under the documents' programs."""
    return {
        html.unescape(tex) for file in RECORDS.glob("*.txt") for tex in TEX.findall(file.read_text(encoding="utf-8"))
    }


def test_every_letter_of_every_card_has_a_meaning(programs):
    cards = list_cards()
    assert len(cards) > 150 and find_unexplained(cards, programs["all"]) == {}


def list_typed(*, filled):
    """The formulas that views have as they are typed, also of folds and of other models.

    filled: also those that something is put into, with 1 for that; they may be parts of one.
    """
    found = set()
    for file in VIEWS.glob("*.py"):
        nodes = [*ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
        joined = [node for node in nodes if isinstance(node, ast.JoinedStr)]
        parts = {id(part) for node in joined for part in ast.walk(node)}
        texts = [node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in parts]
        texts += [fill(node) for node in joined] if filled else []
        found |= {text for text in texts if isinstance(text, str) and FORMULA.search(text) and "$" not in text}
    return {text for text in found if can_read(text)}


def fill(joined):
    return "".join(part.value if isinstance(part, ast.Constant) else "1" for part in joined.values)


def test_every_letter_of_every_formula_that_is_typed_has_a_meaning(programs):
    typed = list_typed(filled=False)
    assert len(typed) > 25 and find_unexplained(typed, programs["all"]) == {}


def can_read(tex):
    try:
        return bool(list_letters(tex))
    except (ValueError, IndexError):  # it has signs that only KaTeX knows, or is a part of one
        return False


def test_a_letter_without_a_meaning_is_found(programs):
    assert explain_letters(r"B_q = \lambda", programs["bert"]) == {("B", "q", ""): "", ("λ", "", ""): EVERYWHERE["λ"]}


def test_a_letter_means_what_its_formula_says_of_it(programs):
    """c is a class's score, and of a number's parts what a token carried."""
    bert = programs["bert"]
    step = bert.by_address["classifier"]
    assert explain_letters(step.latex, bert)["c", "", ""] == step.meaning
    assert explain_letters(r"L = \sum_j c_j + c_b", bert)["c", "j", ""] == IN_FORMULAS["L = Σjcj + cb"]["c_j"]


def test_what_a_program_has_is_said_in_its_words(programs):
    """Of a score: the mask and the constants too, though these are no letters of their own."""
    bert = programs["bert"]
    step = bert.by_address["encoder.layer.2.attention.self.scores"]
    said = explain_letters(step.latex, bert)
    scaled = bert.by_address["encoder.layer.2.attention.self.scaled"]
    assert list(said.values()) == [
        step.meaning,
        scaled.meaning,
        EVERYWHERE["λ"],
        "Attention mask: 1 for a token, 0 for padding.",
    ]


def test_indices_of_a_name_are_no_letters(programs):
    said = explain_letters(programs["bert"].by_address["encoder.layer.0.attention.self.query"].latex, programs["bert"])
    assert {base for base, *_ in said} == {"Q", "X", "W", "b", "h"}


def test_the_list_is_written_as_the_formula_is():
    assert write_letter(("x", "j,h", "")) == "<i>x</i><sub><i>j</i>,<i>h</i></sub>"
    assert write_letter(("W", "pos", "")) == "<i>W</i><sub>pos</sub>" and write_letter(("id", "", "")) == "id"
    assert render_letters({("λ", "", ""): "a < b", ("B", "", ""): ""}) == (
        '<dl class="bv-letters"><dt><i>λ</i></dt><dd>a &lt; b</dd></dl>'
    )


def test_no_formula_that_the_table_has_rows_for_is_gone(programs):
    texts = [read_text(tex) for tex in list_cards() | list_typed(filled=True)]
    assert [start for start in IN_FORMULAS if not any(text.startswith(start) for text in texts)] == [
        "Ki,",
        "Vi,",
    ]  # shown in place of Q


def test_every_row_of_formulas_says_what_its_letters_mean(rome):
    view = look(rome)
    for step in rome.program.steps:
        if step.layer in (None, 0, 2):
            row = render_step(view, step)
            told = re.findall(r"<dt>(.*?)</dt><dd>(.+?)</dd>", row.partition('<dl class="bv-letters">')[2])
            letters = [write_letter(letter) for letter in explain_letters(view.typeset(step), rome.program)]
            assert [name for name, _ in told[:-1]] == letters and letters, step.address
            assert all(said for _, said in told) and told[-1][0] == "›"


@pytest.mark.parametrize(
    ("tex", "meanings"),
    [
        (r"p_i = \frac{e^{x_i}}{\sum_v e^{x_v}}", {("p", "i", ""): "the share of number i"}),
        (
            r"p_{i,j} = \sin(i / 10000^{j/d}) \ (j \text{ even})",
            {("p", "i,j", ""): "component j of the vector at position i", ("i", "", ""): "the position"},
        ),
        (r"\cos(X^{(3)}_{t,:}, X^{(3)}_{u,:})", {("t", "", ""): "a token", ("u", "", ""): "another token"}),
        (r"\cos(X^{(0)}_s, X^{(0)}_t)", {("s", "", ""): "a token", ("t", "", ""): "another token"}),
        (r"\lVert x \rVert = \sqrt{\sum_j x_j^2}, \quad x = X^{(i)}_{t,:}", {("t", "", ""): "the token"}),
        (
            r"\begin{aligned} \text{printed:}\ Z_l &= \mathrm{LayerNorm}(X + Z_l^{\mathrm{out}}) \\ "
            r"\text{meant:}\ \bar{Z}_l &= \mathrm{LayerNorm}(Z_{l-1} + \tilde{Z}_l) \end{aligned}",
            {
                ("Z", "", ""): "the tokens’ vectors after layer l",
                ("Z", "", "out"): "what the feed-forward network of layer l gives",
                ("Z", "l−1", ""): "those that the layer receives",
                ("Z̃", "l", ""): "the concatenated heads",
            },
        ),
    ],
)
def test_a_letter_is_not_taken_for_one_of_another_formula(programs, tex, meanings):
    """Such as the pooler's p, or the Z that a softmax divides by."""
    found = explain_letters(tex, programs["all"])
    assert {letter: found.get(letter) for letter in meanings} == meanings
