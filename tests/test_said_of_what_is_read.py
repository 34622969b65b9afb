"""What is said of a text of which not all is read as typed, or not all is attended to; and of numbers that tie."""

import re

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis.follows import list_pairs
from bertviz_core.analysis.what_if import measure_moved
from bertviz_core.formula.address import Address
from bertviz_core.ui.panels.said import tell_shown
from bertviz_core.ui.views import predictions
from tests.factory import random_checkpoint
from tests.menus import code_open, read_plain  # noqa: F401 - opened for the whole module
from tests.settling import settle
from tests.test_put import RED, opened, read, tell
from tests.test_said_after_changes import read_all
from tests.test_said_of_a_part import read_html

FOX = "The dog saw the fox."
OWN = "encoder.layer.2.attention.self"

# What is typed, the chosen token, what is hidden, which id a change puts where; and the sentence that the title quotes.
QUOTED = {
    "as typed": ({"text": FOX, "token": "3"}, {}, "“The dog saw the fox.”"),
    "another is hidden": ({"text": FOX, "token": "3", "mask": "2"}, {}, "“The [MASK] saw the fox.”"),
    "another is changed": ({"text": FOX, "token": "3"}, {"input_ids[token=5]": 3899}, "“The dog saw the dog.”"),
    "this one and another": (
        {"text": FOX, "token": "2", "mask": "2"}, {"input_ids[token=5]": 3899}, "“The ▒▒▒ saw the dog.”"
    ),
    "the second text": (
        {"text": FOX, "pair": "It ran.", "token": "2"}, {"input_ids[token=9]": 2253},
        "“The dog saw the fox. / It went.”",
    ),
    "the end of the first text": ({"text": "A dog", "pair": "A fox", "token": "2"}, {}, "“A dog / A fox”"),
}  # fmt: skip


@pytest.mark.parametrize("name", QUOTED)
def test_the_first_question_quotes_the_sentence_as_it_is_read(name):
    query, changes, quoted = QUOTED[name]
    title = opened("", changes, query["text"], **{key: text for key, text in query.items() if key != "text"}).title[0]
    assert f" {quoted} → " in title.value.replace("\\", "")


def test_a_score_that_a_change_masks_is_not_less_than_the_largest_change(bundled):
    """In layer 0 nothing else changes, in a later one other scores do."""
    changes = {"attention_mask[token=4]": 0}
    before = bv.run(bundled, RED)
    after = before.with_changes(changes)
    for layer, said in (
        (0, " No score changes that is masked neither before nor now."),
        (2, " Of scores masked neither before nor now “"),
    ):
        far = measure_moved(before, after, Address.in_layer(layer, "attention.self.scores").fix(head=1))
        assert far.masked and (far.mean == 0) == (layer == 0)
        text, _ = read(opened("attention", changes, token="2", layer=str(layer)))
        moved = next(line for line in text.split("\n") if "**What if:**" in line and "masked" in line)
        assert re.search(r"“ to “[^.]+: \S+ → masked\.".replace("“ to", "” to") + re.escape(said), moved)
        assert "none of the numbers here" not in moved
    assert not measure_moved(before, after, Address.in_layer(2, "attention.self.products").fix(head=1)).masked


def test_weights_that_tie_have_no_largest_one_beside_padding():
    for changes, said in (({}, "(largest weight)"), ({f"{OWN}.probs": "uniform"}, "(no weight is larger)")):
        shown = " ".join(read_html(opened("tokenization", changes, token="2", pad="9")))
        assert said in shown and shown.count("weight)") + shown.count("larger)") == 1


@pytest.mark.parametrize(("shown", "count", "said"), [
    (range(5), 5, ""), (range(2, 5), 9, "Shown: tokens 2–4 of 9."), ([0, 1, 3], 9, "Shown: 3 of 9 tokens."),
    (range(6, 9), 8, "Shown: 3 of 8 tokens."),  # one before them is padding
])  # fmt: skip
def test_tokens_between_which_one_is_left_out_are_counted(shown, count, said):
    assert tell_shown(shown, count) == said


def test_lengths_are_of_as_many_tokens_as_are_shown():
    text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    said = read_all(opened("add_norm", {"attention_mask[token=3]": 0}, text, token="1"))
    assert "Shown: 12 of 15 tokens." in said and "tokens 0–12" not in said


def test_a_single_key_is_the_only_one(bundled):
    changes = {f"attention_mask[token={i}]": 0 for i in range(6)}
    product = bv.run(bundled, RED, changes=changes)[f"{OWN}.products[head=1,query=2,key=6]"]
    title = opened("query_key_value", changes, token="2").title[0].value.replace("\\", "")
    assert f"Its only key is **“[SEP]”**: **{product:.2f}**" in title.replace("−", "-")


def test_where_all_predictions_tie_the_input_is_among_the_first(bundled):
    trace = bv.run(bundled, FOX)
    scores = trace["cls.predictions.decoder"]
    kept = int((scores.argmax(axis=1) == trace["input_ids"]).sum())
    assert predictions.tell_kept(trace) == f"At {kept} of 8 positions the top prediction is the input token."
    tied = trace.with_changes({"cls.predictions.decoder[token=3]": 0.0})
    assert scores[3].argmax() == trace["input_ids"][3], "it was one of those"
    assert predictions.tell_kept(tied) == (
        f"At {kept - 1} of 8 positions the top prediction is the input token; at 1 it is one of several that tie. "
        "Where several tie, at 1, the first of them in the vocabulary stands here."
    )
    one = trace.with_changes({f"attention_mask[token={i}]": 0 for i in range(7)})
    assert " of 1 position the top" in predictions.tell_kept(one)


def test_a_part_against_the_sum_is_the_largest_in_size(bundled):
    text = (
        "When the long winter was over and the snow had gone from the hills the two old men who kept the mill by the "
        "river walked down to the village to ask whether anyone had seen the grey horse they lost."
    )
    said = []
    trace = bv.run(bundled, text, changes={"encoder.layer.0.attention.self.probs[head=0]": "uniform"})
    for token in range(len(trace.tokens)):
        stop = tell(trace, 0, 0, token)["collect"]
        total, part = (
            float(n.replace("−", "-"))
            for n in re.search(
                r" is (−?[\d.]+); (?:the|one of the) largest parts? of it(?: in size)?, (−?[\d.]+),", stop
            ).groups()
        )
        assert (" of it in size, " in stop) == (total * part < 0), stop
        said.append(total * part < 0)
    assert len(set(said)) == 2, "both are seen"


def test_positions_that_a_change_moves_are_not_said_to_be_counted(bundled):
    trace = bv.run(bundled, RED)
    assert tell(trace)["cut"].endswith("Positions are counted from 0, to 6.")
    moved = trace.with_changes({"position_ids[token=6]": 0})
    assert tell(moved)["cut"].endswith("Positions are counted from 0, to 6, but a change moves some.")


def test_words_are_in_disorder_where_they_are_in_another_order():
    for second, expected in (("It slept.", True), ("b", False), ("so and so", False), (None, False)):
        assert any(pair.what == "words in disorder" for pair in list_pairs("a", second)) == expected


def test_an_entry_without_a_name_is_called_by_its_id(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTVIZ_MODELS", str(random_checkpoint(tmp_path, kind="masked-lm", seed=22)))
    changes = {"cls.predictions.decoder[token=2,vocab=99]": 30.0}
    for page in ("story", "predictions", "layers", "learn"):
        said = read_all(opened(page, changes, "the [MASK] sat", layer="0", head="0", token="2"))
        assert "“”" not in said and "text is empty" not in said, page
    card = opened("", changes, "the [MASK] sat", walk="cls.predictions.probs[token=2,vocab=99]", layer="0", head="0")
    assert "“id 99” gets" in " ".join(re.sub("<[^>]*>", "", each.proto.body) for each in card.get("html"))
    assert (
        np.argmax(bv.run(bv.load_model(tmp_path), "the [MASK] sat", changes=changes)["cls.predictions.probs"][2]) == 99
    )


@pytest.mark.parametrize(("pad", "named"), [({}, "[CLS] and [SEP]"), ({"pad": "11"}, "[CLS], [SEP] and [PAD]")])
def test_predictions_at_tokens_that_nothing_was_asked_of_in_training_are_all_to_be_ignored(pad, named):
    text = read_all(opened("predictions", {}, FOX, **pad)).replace("\\", "")
    assert f"never trained to predict at {named}; ignore what stands there" in text


@pytest.mark.parametrize(
    ("changes", "query", "name"),
    [
        ({}, {}, "as written"),
        ({f"{OWN}.probs": 0.0}, {}, "as written, unchanged"),
        ({}, {"mask": "2"}, "as written, unchanged"),
        ({f"{OWN}.probs": 0.0}, {"show": "Difference"}, "as written, unchanged"),
    ],
)
def test_a_pair_that_runs_without_the_change_is_not_just_as_written_beside_the_verdict(changes, query, name):
    at = opened("sentence", changes, FOX, **query)
    settle(60.0)
    at.run()
    shown = next(each.proto.body for each in at.get("html") if 'class="bv-follows"' in each.proto.body)
    assert re.findall("<span>(as written.*?)</span>", shown) == [name]


def test_what_a_document_says_of_its_class_is_said_of_that_class():
    """This model's class may use what the document's leaves unused; some of its sizes may agree."""
    text = read_all(opened("notebook", {}, FOX))
    assert "tensors that BertForMaskedLM leaves unused" in text
    assert "Sizes may differ" in text and "Sizes differ" not in text
