"""What is as large as another, or stands where another of the same name stands, is not said to be the one there is."""

import re

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis.answers import find_answer
from bertviz_core.analysis.what_if import measure_moved
from bertviz_core.formula.address import Address
from bertviz_core.ui.frame.site import PAGES
from bertviz_core.ui.panels import moved
from bertviz_core.ui.views import attention_output
from tests.canvas import look
from tests.factory import random_checkpoint
from tests.test_put import opened
from tests.test_said_after_changes import read_all

ROW = "encoder.layer.1.attention.self.probs[head=0]"
BARE = re.compile("“cat”(?! at position| in place)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return random_checkpoint(tmp_path_factory.mktemp("equals"), kind="masked-lm", seed=3)


OF_ENTRIES = "tokenization", "embeddings"  # what they say of “cat” holds of the entry, wherever it stands


def test_the_chosen_one_of_two_tokens_is_told_from_the_other_on_every_page(folder, monkeypatch):
    """No such word is predicted there, so that each “cat” is one of the sentence's two."""
    monkeypatch.setenv("BERTVIZ_MODELS", str(folder))
    text, changes = "cat on cat", {ROW: 0.0}
    trace = bv.run(bv.load_model(folder), text, changes=changes)
    likely = np.argsort(-trace["cls.predictions.probs"], axis=-1)[:, :12]
    assert trace.tokens[1] == trace.tokens[3] == "cat" and trace.encoding.ids[1] not in likely
    at = opened("overview", changes, text, token="3", layer="1", head="0")
    told = 0
    for page in (*(page.name for page in PAGES if page.of_sentence), "documents", "playground"):
        if page not in OF_ENTRIES:
            said = read_all(at.switch_page(f"pages/{page}.py").run())
            bare = [said[max(0, found.start() - 70) : found.end() + 40] for found in BARE.finditer(said)]
            assert not at.exception and not bare, (page, bare)
            told += said.count("“cat” at position 3")
    assert told > 20


def tell(before, after, panel, start, monkeypatch):
    heard = []
    monkeypatch.setattr(moved.st, "caption", heard.append)
    moved.show_moved(look(before, after), panel, start)
    return heard[0].replace("\\", "")


def test_of_two_probabilities_each_moves_as_much_as_the_other(rome, monkeypatch):
    """Their changes are equal but for the rounding of each, which is larger of the larger one."""
    pair = Address("cls.seq_relationship.probs")
    larger = set()
    for layer in range(6):
        after = rome.with_changes({f"encoder.layer.{layer}.intermediate.activation": "relu"})
        change = np.abs(after[pair].astype(np.float64) - rome[pair])
        assert 0 < abs(change[0] - change[1]) < 2e-7 or change[0] == change[1]
        larger.add(int(change.argmax()))
        for relation in range(2):
            said = tell(rome, after, pair, pair.fix(relation=relation), monkeypatch)
            assert said.endswith(" The other changes as much."), said
    assert larger == {0, 1}, "of one of these passes each is the larger by rounding"


def test_a_change_that_is_as_large_as_another_is_not_said_to_be_the_most(tmp_path, monkeypatch):
    model = bv.load_model(random_checkpoint(tmp_path, kind="token-classification", seed=2))
    before = bv.run(model, "rome do rome")
    after = before.with_changes({"encoder.layer.0.output.dense[token=1]": 0.0})
    panel = Address("classifier.probs")
    change = np.abs(after[panel].astype(np.float64) - before[panel])
    token = int(change.max(axis=1).argmax())
    other = next(i for i in range(len(change)) if i != token)
    assert abs(change[token, 0] - change[token, 1]) < 2e-7 and change[other].max() < 0.9 * change[token].max()
    assert measure_moved(before, after, panel).alike == 2
    for label in range(2):
        said = tell(before, after, panel, panel.fix(token=token, label=label), monkeypatch)
        assert said.endswith(" No other changes more.")
    assert " None changes more than " in tell(before, after, panel, panel.fix(token=other, label=0), monkeypatch)
    vectors = Address("encoder.layer.1.output.LayerNorm")
    assert measure_moved(before, after, vectors).alike == 1
    assert " Most changes " in tell(before, after, vectors, vectors.fix(token=0, hidden=0), monkeypatch)


def test_of_a_single_number_no_other_is_spoken_of(tmp_path, monkeypatch):
    model = bv.load_model(random_checkpoint(tmp_path, kind="sequence-classification", num_labels=1))
    before = bv.run(model, "the cat")
    after = before.with_changes({"encoder.layer.0.output.dense[token=1]": 0.0})
    said = tell(before, after, Address("classifier"), Address("classifier").fix(label=0), monkeypatch)
    assert re.fullmatch(r"\*\*What if:\*\* label 0: \S+ → \S+\.", said)


def test_a_masked_score_stays_masked(bundled, monkeypatch):
    before = bv.run(bundled, "Birds fly.", pad_to=8)
    after = before.with_changes({"encoder.layer.0.attention.self.probs[head=0]": 0.0})
    panel = Address("encoder.layer.1.attention.self.scores").fix(head=2)
    said = tell(before, after, panel, panel.fix(query=1, key=6), monkeypatch)
    assert " stays masked. Most changes " in said and "[PAD]" not in said.partition("Most changes")[2]
    far = measure_moved(before, after, panel)
    assert far.alike == 1 and far.all == 5 * 5


def test_a_row_without_an_entry_has_a_name_wherever_the_drawer_lists_it(folder, monkeypatch):
    monkeypatch.setenv("BERTVIZ_MODELS", str(folder))
    changes = {"cls.predictions.decoder[token=2,vocab=99]": 30.0}
    for walk, name in (("cls.predictions.probs[token=2,vocab=7]", "id 99"), ("input_ids[token=3]", "id 75")):
        at = opened("", changes, "the [MASK] romans", walk=walk, layer="0", head="0")
        said = re.sub(
            "<style.*?</style>|<[^>]*>", " ", " ".join(each.proto.body for each in at.get("html")), flags=re.S
        )
        assert "“”" not in said and name in said, walk


@pytest.mark.parametrize("changes", [{}, {ROW: -0.5}])
def test_of_values_that_are_all_0_none_is_said_to_be_the_longest(rome, changes):
    zero = rome.with_changes({"encoder.layer.1.attention.self.value[head=0]": 0.0, **changes})
    view = look(zero, token=3, head=(1, 0))
    assert attention_output.tell_most(view).text == "All its weighted values are 0."
    assert "longest" in attention_output.tell_most(look(rome.with_changes(changes), token=3, head=(1, 0))).text


def test_an_answer_from_one_of_two_tokens_says_from_which(tmp_path, monkeypatch):
    folder = random_checkpoint(tmp_path, kind="question-answering", seed=5)
    monkeypatch.setenv("BERTVIZ_MODELS", str(folder))
    text, pair = "where sat the cat", "the cat sat on the mat"
    trace = bv.run(bv.load_model(folder), text, pair)
    start = find_answer(trace).start
    word = trace.tokens[start]
    assert trace.tokens.count(word) > 1
    at = opened("story", {}, text, pair=pair, layer="0", head="0", token="1")
    told = f"an answer from “{word}” at position {start}"
    for page, asked in (("story", f"Where does {told} lead back to?"), ("heads", told), ("feed_forward", told)):
        said = read_all(at.switch_page(f"pages/{page}.py").run())
        assert asked in said and not re.search("an answer from “[^”]*”(?! at position)", said), page


def test_a_story_of_one_of_two_tokens_says_of_which(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTVIZ_MODELS", str(random_checkpoint(tmp_path, kind="base")))
    said = read_all(opened("story", {}, "cat on cat", layer="0", head="0", token="3"))
    assert "Where does the strongest number of “cat” at position 3 after the last layer lead back to?" in said
