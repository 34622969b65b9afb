"""What pages of two passes, and of where a number comes from, say beside their numbers."""

import re
from html import unescape
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.analysis.predictions import PROBS
from bertviz_core.tracing.matching import match_tokens
from bertviz_core.ui.views.patch import tell_question
from bertviz_core.ui.views.patch_both import LOGIT, WORDS
from bertviz_core.ui.views.patch_grids import tell_moves
from tests.factory import random_checkpoint
from tests.settling import settle
from tests.small_pass import load_small_model
from tests.test_pages import APP

TWO_BLANKS = "the cat [MASK] on the [MASK]"
READ_AT = 2  # the token at which words are read


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return str(random_checkpoint(tmp_path_factory.mktemp("two") / "small"))


def open_page(page, **query):
    for _ in range(2):
        at = AppTest.from_file(APP, default_timeout=60)
        at.query_params.update(query)
        at.switch_page(f"pages/{page}.py").run()
        assert not at.exception and settle()
    return at


def read(at):
    texts = [each.value for kind in (at.title, at.caption, at.info) for each in kind]
    texts += [each.proto.body for each in at.get("html")]
    texts = [re.sub('<span role="tooltip">[^<]*</span>|</?span[^>]*>', "", text) for text in texts]
    texts = [re.sub("<[^>]*>", " ", text) for text in texts]
    return re.sub(r"\s+", " ", unescape(" ".join(texts))).replace("\\", "")


@pytest.mark.parametrize(
    ("column", "title", "says"),
    [
        ([0, 0.1, 0.8, 1, 1], "It moves in layer 1", "from layer 1 on"),
        ([0, 0.7, 0.2, 0.9, 1], "It moves late", "from layer 2 on"),  # once before, which is not from there on
        ([0, 0.6, 0.9, 0.5, 1], "It moves early", "from layer 0 on"),
        ([1, 0.6, 1.2, 0.9, 1], "It begins there", "from the embeddings on"),
        ([0, 0.1, 0.8, 0.3, 0.4], "It does not move", "after the last layer"),
    ],
)
@pytest.mark.parametrize("kind", [LOGIT, "B follows A"])
def test_the_difference_is_there_from_that_layer_on_from_which_it_stays(column, title, says, kind):
    grid = np.zeros((len(column), 4))
    grid[:, READ_AT] = column
    trace = SimpleNamespace(tokens=("[CLS]", "cat", "[MASK]", "[SEP]"))
    both = SimpleNamespace(target=SimpleNamespace(token=READ_AT, trace=trace), differing=((1, 1),), kind=kind)
    told = tell_moves(both, SimpleNamespace(moved=lambda _: grid, has_way=True))
    if kind == LOGIT:
        assert told[0] == title and told[1].endswith(says) and "layer -1" not in told[1]
    else:  # it is read from another token, to which this row says nothing
        assert told[0] == "Over the layers"


@pytest.mark.slow
def test_noise_where_words_are_read_begins_there(small):
    noise = "changes:embeddings.LayerNorm[token=3]:noise=7"
    at = open_page("patch", model=small, text="the cat [MASK]", token="3", **{"with": noise, "measure": LOGIT})
    assert "layer -1" not in read(at)


def test_padding_is_matched_by_place_as_little_as_otherwise(tmp_path, small):
    one, other = (bv.run(load_small_model(tmp_path), text, pad_to=9) for text in ("the cat", "the mat"))
    assert match_tokens(one, other, by_place=True) == tuple((i, i) for i in range(4))
    labels = {}
    for page in ("patch", "compare"):
        at = open_page(page, model=small, text="the cat sat", pad="9", changes="embeddings.sum[token=1]:0.5")
        labels[page] = " ".join(each.proto.body for each in at.get("html")) + read(at)
    assert "Both passes: 5 tokens matched, 0 of them different" in labels["patch"]
    assert "5 matched, 0 alone" in labels["compare"]


def test_what_has_quotes_in_its_name_has_no_others_around_it(tmp_path):
    folder = str(random_checkpoint(tmp_path / "answers", kind="question-answering"))
    query = {"text": "where sat the cat", "pair": "the cat sat", "changes": "embeddings.sum[token=1]:0.5"}
    said = read(open_page("patch", model=folder, **query))
    assert "probability of an answer" in said and "““" not in said and "“an answer" not in said


@pytest.mark.parametrize("token", [3, 6])
def test_of_two_blanks_the_one_that_is_looked_at_is_read_and_named(small, token):
    query = {"model": small, "text": TWO_BLANKS, "with": TWO_BLANKS.replace("cat", "mat"), "token": str(token)}
    said = read(open_page("compare", **query))
    row = bv.run(bv.load_model(small), TWO_BLANKS)[f"cls.predictions.probs[token={token}]"]
    best = bv.load_model(small).tokenizer.name(int(row.argmax()))
    assert f"In the first “[MASK]” at position {token} is most likely “{best}”" in said
    assert f"at “[MASK]” at position {token}, JS" in said


def test_the_one_that_ends_farthest_apart_is_said_to_be_of_the_matched(small):
    """Those that stand alone may end farther apart, as no angle is told of them."""
    said = read(open_page("compare", **{"model": small, "text": "the cat sat", "with": "the mat sat"}))
    assert re.search(r"Farthest of the matched: “|No matched token ends farther apart than “", said)


def test_lines_that_were_drawn_by_hand_are_not_called_equal_pieces(small):
    query = {"model": small, "text": "the cat sat", "with": "the mat sat"}
    assert "lines: equal pieces in the same order, with the angle after layer 1" in read(open_page("compare", **query))
    assert "lines: as matched by hand, with the angle" in read(open_page("compare", **query, pairs="0-0.2-2"))


def test_of_many_lines_the_one_that_is_looked_at_is_not_said_to_be_among_the_last(small):
    text, other = "the cat sat on the mat in rome as do", "the cat sat on the mat in rome as mat"
    one, two = (bv.run(bv.load_model(small), each) for each in (text, other))
    angles = bv.compare(one, two).angles[-1]
    for token, named in ((int(angles.argmin()), True), (int(angles.argmax()), False)):
        said = read(open_page("compare", model=small, text=text, token=str(token), **{"with": other}))
        assert ("and those that end farthest apart" in said) is named and "those that end farthest apart" in said


@pytest.mark.parametrize(("path", "where"), [
    ("embeddings.LayerNorm", "as layer 0 receives it"),
    ("encoder.layer.1.output.LayerNorm", "after layer 1"),
])  # fmt: skip
def test_a_word_without_a_direction_is_told_of_that_word_alone(small, path, where):
    query = {"model": small, "text": "the cat sat", "token": "2"}
    at = open_page("compare", **query, changes=f"{path}[token=2]:0")
    assert f"No angle at “cat”: a vector of it **has no direction** {where}; other tokens" in at.title[0].value


def test_a_head_that_looks_nowhere_is_told_to_be_halfway(small):
    query = {"model": small, "text": "the cat sat"}
    said = read(open_page("compare", **query, changes="encoder.layer.1.attention.self.probs[head=0]:0"))
    assert "What is missing counts half: a head that looks nowhere in one of the passes is at 50 %" in said
    assert re.search("layer 1, head 0 50.%", said)
    other = read(open_page("compare", **query, changes="encoder.layer.1.intermediate.activation:relu"))
    assert "looks nowhere" not in other


def test_a_number_that_is_no_logit_is_not_called_one(tmp_path):
    folder = str(random_checkpoint(tmp_path / "base", kind="base-without-pooler"))
    said = read(open_page("where_from", model=folder, text="the cat sat"))
    assert "itself carried to the number," in said and "the logit" not in said


def test_a_token_that_a_change_masks_is_not_called_padding(small):
    at = open_page("where_from", model=small, text="the cat sat [MASK]", changes="attention_mask[token=2]:0")
    drawn = " ".join(each.proto.spec for each in at.get("plotly_chart"))
    assert "masked out" in drawn and '"padding"' not in drawn


def test_as_many_parts_are_told_as_are_added_up(small):
    """Padding that is asked about has a part of its own, unlike other padding; its page and its drawer count alike."""
    word = int(bv.run(bv.load_model(small), "the cat sat", pad_to=9)["cls.predictions.probs[token=7]"].argmax())
    walk = f"cls.predictions.decoder.parts[token=7,vocab={word}]"
    said = read(open_page("where_from", model=small, text="the cat sat", pad="9", token="7", walk=walk))
    assert re.findall(r"(\d+) parts and the biases", said) == ["6", "6"]


def test_orders_that_run_against_each_other_have_more_than_little_in_common(tmp_path):
    """Ranks that are all but turned around are told as that; those that say nothing of each other are not."""
    sizes = {"num_hidden_layers": 4, "num_attention_heads": 4}
    folder = str(random_checkpoint(tmp_path / "m", kind="masked-lm", seed=101, **sizes))
    said = {}
    for token in (0, 5):
        said[token] = read(open_page("where_from", model=folder, text="do as the cat [MASK] in rome", token=str(token)))
    told = [re.search(r"The two orders (.*?) \(rank correlation (−?[\d.]+)\)", each) for each in said.values()]
    for found in filter(None, told):
        rho = float(found[2].replace("\N{MINUS SIGN}", "-"))
        assert found[1] == ("run against each other" if rho <= -0.6 else "have little in common")
    assert any(found and found[1] == "run against each other" for found in told)


def test_one_class_of_many_is_told_with_the_token_that_has_it(tmp_path):
    folder = str(random_checkpoint(tmp_path / "labels", kind="token-classification", num_labels=5))
    model, text = bv.load_model(folder), "the cat sat as do"
    said = read(open_page("compare", model=folder, text=text, token="4", **{"with": "the mat sat as do"}))
    best = model.labels[int(bv.run(model, text)["classifier.probs[token=4]"].argmax())]
    assert f"In the first the likeliest class of “as” is “{best}”" in said and "at “as”, JS" in said
    whole = str(random_checkpoint(tmp_path / "classes", kind="sequence-classification"))
    said = read(open_page("compare", model=whole, text=text, **{"with": "the mat sat as do"}))
    assert "In the first the likeliest class is " in said


@pytest.mark.parametrize("restore", [True, False])
@pytest.mark.parametrize(
    ("there", "here", "asked"),
    [
        ([0.1, 0.9], [0.8, 0.2], True),
        ([0.55, 0.45], [0.7, 0.3], True),  # likely, if not the likeliest
        ([0.001, 0.999], [0.002, 0.998], False),  # it was the likeliest already
        ([0.999, 0.001], [0.9995, 0.0005], False),  # it is not likely
    ],
)
def test_one_word_becomes_another_that_is_likely_with_it_alone(there, here, asked, restore):
    source, target = (make_side(*each) for each in (("cat", there), ("mat", here)))
    cells = [PROBS.fix(token=READ_AT, vocab=i) for i in ((1, 0) if restore else (0, 1))]
    names = ("she", "it") if restore else ("it", "she")
    both = SimpleNamespace(
        kind=WORDS, source=source, target=target, names=names, restore=restore, measure=SimpleNamespace(cells=cells)
    )
    told = tell_question(both).text
    assert told == ("Where does “cat” become “she”? " if asked else "What carries the difference? ")


def make_side(name, row):
    tokenizer = SimpleNamespace(special_tokens=frozenset({"[CLS]"}))
    trace = SimpleNamespace(recomputed=lambda _: np.array(row), model=SimpleNamespace(tokenizer=tokenizer))
    return SimpleNamespace(name=name, token=READ_AT, trace=trace)


def test_where_nothing_that_is_patched_differs_no_cell_is_named(small):
    """A skipped last layer leaves what its sub-layers give as it was: patching that moves nothing."""
    query = {"text": "the cat [MASK]", "changes": "encoder.layer.1.output.LayerNorm:skip"}
    said = read(open_page("patch", model=small, **query)).replace("*", "")
    assert "No head’s and no sub-layer’s output carries any of it" in said and "carries 0 %" not in said


def test_of_a_head_that_looks_nowhere_no_token_pulls_as_hard_as_any(small):
    walk = "cls.predictions.decoder.head[token=3,vocab=9,layer=1,head=0]"
    query = {"model": small, "text": "the cat [MASK]", "walk": walk}
    zeroed = "encoder.layer.1.attention.self.probs[head=0]:0"
    plain, nowhere = (read(open_page("where_from", **query, **says)) for says in ({}, {"changes": zeroed}))
    assert "of its attention, pulls as hard as any" in plain and "weights there are 0" not in plain
    assert "all its attention weights there are 0." in nowhere and "as hard as any" not in nowhere


PUT = "encoder.layer.1.attention.output.dense[token=3,hidden=0]:5"


@pytest.mark.parametrize(
    ("changes", "put"),
    [
        ("", False),
        (PUT, True),
        ("embeddings.sum[token=1,hidden=0]:0.5", False),  # the token starts as what became of it
        ("encoder.layer.1.attention.self.scores[head=0,query=3,key=1]:2", False),  # weights are held, not carried
        ("encoder.layer.1.attention.self.probs[head=0]:0", False),
        ("encoder.layer.1.intermediate.activation[intermediate=2]:0", False),
        ("encoder.layer.1.output.LayerNorm:skip", False),
    ],
)
def test_numbers_that_changes_put_are_told_where_some_came_to_the_number(small, changes, put):
    query = {"model": small, "text": "the cat [MASK]", "walk": "cls.predictions.decoder.biases[token=3,vocab=9]"}
    said = read(open_page("where_from", **query, **({"changes": changes} if changes else {})))
    assert ("what became of them on their way, and numbers that changes put there." in said) is put
    assert ("and the biases and changed numbers:" in said) is put
    assert ("Biases and changed numbers here are those" in said) is put
    assert bool(re.search(r"\w, changed ", said)) is put
