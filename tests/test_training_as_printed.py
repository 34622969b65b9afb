"""E-Training's J as line 6 prints it and as it is meant; which weights never move; what a group's gradient holds."""

import re

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy
from transformers import BertForMaskedLM

import bertviz_core as bv
from bertviz_core.figures.palette import PALETTES
from bertviz_core.figures.training import draw_losses
from bertviz_core.formula.numbers import format_number
from bertviz_core.learning import Settings, Training, make_small_model, name_head
from bertviz_core.ui.views.training_fields import SENTENCES as SHOWN
from bertviz_core.ui.views.training_lines import LINES
from bertviz_core.ui.views.training_still import say_still
from tests.factory import random_checkpoint
from tests.learning import SENTENCES, take_all, take_steps
from tests.test_training_page import opened, page, press  # noqa: F401

TYPED = ("The [MASK] sat on the mat.", "Playing in Rome.")


@pytest.fixture(scope="module", params=[False, True], ids=["as printed", "as practised"])
def typed(request, tmp_path_factory):
    """A training on a text that holds [MASK] itself, and Hugging Face's model with the same weights."""
    folder = random_checkpoint(tmp_path_factory.mktemp("typed"), kind="masked-lm", num_hidden_layers=1)
    settings = Settings(passes=6, eta=0.01, practised=request.param)
    training = Training(bv.load_model(folder, dtype=torch.float64), TYPED, settings)
    return training, BertForMaskedLM.from_pretrained(folder, attn_implementation="eager", dtype=torch.float64).eval()


def ask_oracle(oracle, record, positions):
    """The sum of −log P of the words that stand at these positions of the whole text."""
    with torch.no_grad():
        logits = oracle(input_ids=torch.tensor([record.masked_ids])).logits[0]
    return float(cross_entropy(logits[positions], torch.tensor(record.ids)[positions], reduction="sum"))


def test_as_printed_every_mask_counts_and_as_meant_every_hidden_word(typed):
    """Of the first step of each sentence, with the weights that Hugging Face's model has too."""
    training, oracle = typed
    mask = training.before.tokenizer.mask_id
    first = training.advance()
    read = [i for i, number in enumerate(first.masked_ids) if number == mask]
    assert 2 in read and 2 not in first.hidden  # typed by the reader
    assert first.printed == pytest.approx(ask_oracle(oracle, first, read))
    assert first.loss == pytest.approx(ask_oracle(oracle, first, list(first.hidden)))
    assert not first.as_printed and first.printed != pytest.approx(first.loss)


def test_later_steps_are_printed_by_the_trace_of_their_pass(typed):
    training, _ = typed
    for record in take_all(training).records:
        probs = training.trace(record.number)["cls.predictions.probs"]
        read = [i for i, number in enumerate(record.masked_ids) if number == training.before.tokenizer.mask_id]
        assert record.printed == pytest.approx(-sum(np.log(probs[i, record.ids[i]]) for i in read))
        assert record.as_printed == (tuple(read) == record.hidden)
    assert any(record.as_printed for record in training.records) or training.settings.practised


def test_without_a_typed_mask_both_sums_are_one(trained):
    assert all(record.as_printed and record.printed == record.loss for record in trained.records)


def test_these_weights_never_move_and_all_others_do(bundled):
    """The small model, bit by bit: positions behind the longest sentence, and the second segment."""
    small = make_small_model(bundled, SHOWN)
    training = take_all(Training(small, SHOWN, Settings(passes=4)))
    longest = max(map(len, training.encodings))
    assert {one.parameter: one.rows for one in training.still} == {
        "embeddings.position_embeddings.weight": tuple(range(longest, 64)),
        "embeddings.token_type_embeddings.weight": (1,),
    }
    stayed = {name: (training.model.parameters[name] == small.parameters[name]) for name in training.learned}
    for name, same in stayed.items():
        rows = next((one.rows for one in training.still if one.parameter == name), ())
        assert all(bool(same[row].all()) for row in rows)
    count = sum(one.weights for one in training.still)
    assert sum(int(same.sum()) for same in stayed.values()) == count == (64 - longest + 1) * 32
    told = say_still(training)
    all_ = small.parameter_count
    assert told.startswith(f"{all_ - count:,} of {all_:,} weights learn. The other {count:,} never move")
    assert told.endswith(f"the rows of positions {longest} to 63, segment 1.")


def test_words_that_do_not_occur_stay_where_the_decoder_has_a_matrix_of_its_own(tmp_path):
    model = bv.load_model(random_checkpoint(tmp_path, kind="masked-lm", tie_word_embeddings=False), torch.float64)
    training = take_steps_of(model, 6)
    still = {one.parameter: one.rows for one in training.still}
    read = {i for encoding in training.encodings for i in encoding.ids} | {model.tokenizer.mask_id}
    words = "embeddings.word_embeddings.weight"
    assert set(still[words]) == set(range(model.config.vocab_size)) - read
    assert torch.equal(
        training.model.parameters[words][list(still[words])], model.parameters[words][list(still[words])]
    )
    assert f"words {len(still[words]):,} that do not occur" in say_still(training)


def take_steps_of(model, count):
    training = Training(model, SENTENCES, Settings(passes=2, eta=0.01))
    take_steps(training, count)
    return training


def test_in_practice_and_of_the_head_alone_no_row_stays(learner):
    practised = Training(learner, SENTENCES, Settings(passes=2, eta=0.01, practised=True))
    head = Training(learner, SENTENCES, Settings(passes=2), name_head(learner))
    assert practised.still == head.still == () and "never move" not in say_still(head)
    table = "embeddings.position_embeddings.weight"
    take_steps(practised, 2)
    assert not torch.equal(practised.model.parameters[table][-1], learner.parameters[table][-1])  # its weight decay


def test_the_embeddings_group_says_that_it_holds_the_tied_decoders_gradient(learner, tmp_path):
    """The tied matrix's gradient is that of two: of the rows that are looked up, and of the decoder."""
    tied = take_steps_of(learner, 1)
    assert next(iter(tied.record(1).gradient_norms)) == "embeddings + decoder"
    untied = bv.load_model(random_checkpoint(tmp_path, kind="masked-lm", tie_word_embeddings=False), torch.float64)
    assert next(iter(take_steps_of(untied, 1).record(1).gradient_norms)) == "embeddings"
    words = tied.gradients(1)["embeddings.word_embeddings.weight"]
    read = set(tied.record(1).masked_ids)
    beyond = [i for i in range(len(words)) if i not in read]  # what only the decoder reads
    assert float(words[beyond].abs().max()) > 0


def test_the_lines_are_the_documents():
    lines = [re.sub(r"<[^>]+>|&#\d+;", "", line.written) for line in LINES]
    assert lines[3] == "x̂ij ← mask with probability pmask, otherwise xij"
    assert lines[4] == "P(θ) ← E-Transformer(x̂i | θ)"
    assert lines[5] == "J(θ) ← −Σj=1…|xi| logP(θ)xij,j ⟦x̂ij = mask⟧"


def test_rings_stand_at_the_sums_as_printed():
    chart = draw_losses(
        np.array([1.0, 2.0, 3.0]),
        np.ones(3),
        {"plain": np.ones(3)},
        5,
        PALETTES["light"],
        printed=np.array([np.nan, 9.0, np.nan]),
    )
    (ring,) = [trace for trace in chart.traces if trace.get("name") == "J as printed"]
    assert (ring["x"].tolist(), ring["y"].tolist()) == ([2], [9.0])
    assert chart.layout["yaxis"]["range"][1] > 9


@pytest.mark.parametrize(
    ("program", "said"),
    [("definition", "E-Transformer as the definition has it"), ("bert", "BERT as released, not E-Transformer")],
)
def test_the_page_tells_both_sums_and_what_is_trained(program, said):
    at = opened(texts="\n".join(TYPED), program=program, open="open")
    at = press(at, "training-step")
    record = at.session_state["training-run"].records[-1]
    pages = "\n".join(element.proto.body for element in at.get("html"))
    assert f"{format_number(record.printed)} printed" in pages and "J as printed</th>" in pages
    assert "J as meant</th>" in pages
    told = "\n".join(element.value for element in at.markdown).replace("\\", "")
    assert "never move" in told and f"Line 5 runs {said}" in told
    assert "ring: as printed" in "\n".join(element.value for element in at.caption)


def test_what_e_transformer_lacks_is_what_the_page_says(bundled):
    """Segments, LayerNorm on the embeddings, the decoder's bias; its decoder's matrix is its own in the text."""
    small = make_small_model(bundled, SHOWN)
    lacks = {symbol.address for symbol in small.program.parameters} - {
        symbol.address for symbol in small.written("definition").parameters
    }
    assert lacks == {
        "embeddings.token_type_embeddings.weight",
        "embeddings.LayerNorm.weight",
        "embeddings.LayerNorm.bias",
        "cls.predictions.decoder.bias",
    }
    decoder, words = (
        small.parameters[f"{name}.weight"] for name in ("cls.predictions.decoder", "embeddings.word_embeddings")
    )
    assert decoder.data_ptr() == words.data_ptr()
