"""The glossary: short, in one place, and carried by the words of the app's own texts."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from bertviz_core.documents.glossary import GLOSSARY
from bertviz_core.ui.frame.words import explain_words, set_question_apart

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("word", GLOSSARY)
def test_an_entry_is_one_short_sentence(word):
    meaning = GLOSSARY[word]
    assert meaning[0].isupper() and meaning.endswith(".") and 4 <= len(meaning.split()) <= 22
    assert not re.search(rf"\b{re.escape(word.lower())}\b", meaning.lower()), "a word is not explained by itself"


def test_the_first_use_of_a_word_carries_its_meaning():
    text = explain_words("A logit is a number. Logits become probabilities by the softmax.")
    assert text.count('role="tooltip"') == 2
    assert text.startswith('A <span class="bv-term" tabindex="0">logit<span role="tooltip">A score before the softmax')
    assert "Logits become" in text and ">softmax<span" in text


@pytest.mark.parametrize("text", ["`residual sum`", "$softmax$", "logits-like", "keyboard", "monkeys", r"\[CLS\]"])
def test_code_formulas_and_parts_of_words_stay_as_they_are(text):
    assert explain_words(text) == text


def test_what_is_quoted_is_a_text_of_a_users_and_not_explained():
    text = explain_words("“head” at position 2 in head 3: “The value of the key” is quoted.")
    assert text.count("bv-term") == 1 and text.startswith("“head” at position 2 in <span") and "“The value of" in text


# Where a word of the glossary means something else, in any text of the app's own: it would carry a wrong meaning.
ELSE = re.compile(
    r"\bsame head on\b|\binputs of any length\b|\blength of (an|the) (axis|input|text)\b|\bonly these values\b"
)


def test_no_text_uses_a_word_of_the_glossary_for_something_else():
    files = [*(ROOT / "pages").glob("*.py"), *(ROOT / "bertviz_core/ui").rglob("*.py")]
    nodes = (node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert not [text for text in texts if ELSE.search(text)]


def test_the_longest_word_wins():
    assert ">residual sum<" in explain_words("The residual sum of a layer.")
    assert ">attention weights<" in explain_words("Its attention weights.")


def test_a_word_is_known_in_the_plural():
    assert explain_words("Queries, biases and keys.").count('role="tooltip"') == 3


def test_most_pages_begin_with_a_text_that_explains_a_word():
    """Where a page's first sentences need no such word, its panels' do."""
    without = []
    for page in sorted((ROOT / "pages").glob("*.py")):
        calls = [node for node in ast.walk(ast.parse(page.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
        (opening,) = [call for call in calls if ast.unparse(call.func) == "open_page"]
        if "bv-term" not in explain_words(ast.literal_eval(opening.args[1])):
            without.append(page.stem)
    assert set(without) <= {
        "documents",
        "formulas",
        "layers",
        "learn",
        "notation",
        "notebook",
        "parameters",
        "playground",
        "story",
    }


def test_numbers_in_an_entry_are_so():
    x, y = np.array([3.0, 4.0]), np.array([-4.0, 3.0])
    cosine = {"the same": x @ x / 25, "at a right angle": x @ y / 25, "opposite": x @ -x / 25}
    assert GLOSSARY["cosine"].endswith(
        ": " + ", ".join(f"{cosine[name]:g} {name}".replace("-", "\N{MINUS SIGN}") for name in cosine) + "."
    )
    bits = re.search(r"(\d) for one token, log₂ n for n equal weights", GLOSSARY["entropy"])
    assert bits and int(bits[1]) == -(1.0 * np.log2(1.0))


def test_the_activation_function_cuts_negative_numbers_to_what_its_entry_says():
    x = torch.linspace(-20, 0, 200_001, dtype=torch.float64)
    least = torch.nn.functional.gelu(x).min().item()
    assert f"between {least:.2f} and 0".replace("-", "\N{MINUS SIGN}") in GLOSSARY["GELU"]


def test_the_divisor_of_the_dot_products_is_explained_where_it_stands():
    assert ">√d<sub>k</sub><" in explain_words(
        "A query's dot product with every key, divided by √d_k and with padding."
    )


@pytest.mark.parametrize("word", ["[CLS]", "[SEP]", "[MASK]", "head", "component", "length"])
def test_what_a_newcomer_meets_first_is_explained(word):
    assert f">{word}<" in explain_words(f"Here stands {word}, once.")


@pytest.mark.parametrize("file", ["where_from_carried.py", "where_from_methods.py"])
def test_a_rank_correlation_is_explained_where_it_is_read(file):
    """A caption of such a page goes through `show_note`, which explains its words."""
    text = (ROOT / "bertviz_core/ui/views" / file).read_text(encoding="utf-8")
    assert "rank correlation" in text and "show_note(" in text
    told = explain_words("Much the same order (rank correlation 0.53).")
    assert ">rank correlation<" in told and "How far two orders agree" in told


def test_the_residual_by_itself_and_what_is_made_with_it_are_told_apart():
    told = explain_words("the residual, one token at a time; the residual connection; the residual sum")
    assert [told.count(f">{word}<") for word in ("residual", "residual connection", "residual sum")] == [1, 1, 1]


def test_the_question_of_a_long_headline_is_set_apart():
    answer = "layer **5**, head 5, and after that **layer 4**, where every other head is of less use to it"
    assert set_question_apart(f"Which head is it? {answer}") == f"*Which head is it?* {answer}"
    assert set_question_apart("Which head is it? **Head 5**") == "Which head is it? **Head 5**"
    assert set_question_apart(answer) == answer
