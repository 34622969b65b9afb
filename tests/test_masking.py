"""Hidden and padded tokens: what the model reads then, through the store, against the text typed so."""

import json

import numpy as np
import pytest
import torch
from transformers import BertForPreTraining

import bertviz_core as bv
from bertviz_core.checkpoint.hub import BUNDLED_FOLDER
from bertviz_core.tracing.inputs import encode
from tests.factory import random_checkpoint

TEXT = "The cat sat on the mat."
LOWEST = np.finfo(np.float32).min


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return bv.load_model(random_checkpoint(tmp_path_factory.mktemp("masking")))


@pytest.fixture(scope="module")
def no_mask(tmp_path_factory):
    """A checkpoint whose tokenizer has no mask token."""
    folder = random_checkpoint(tmp_path_factory.mktemp("no-mask"))
    state = json.loads((folder / "tokenizer.json").read_text())
    state["added_tokens"] = [token for token in state["added_tokens"] if token["content"] != "[MASK]"]
    (folder / "tokenizer.json").write_text(json.dumps(state))
    settings = {f"{name}_token": f"[{name.upper()}]" for name in ("cls", "sep", "pad", "unk")}
    (folder / "tokenizer_config.json").write_text(
        json.dumps({**settings, "tokenizer_class": "PreTrainedTokenizerFast"})
    )
    return bv.load_model(folder)


def test_a_hidden_token_is_the_mask_typed_in_its_place(model):
    store = bv.TraceStore()
    hidden, typed = store.get(model, TEXT, masked=[2]), store.get(model, "The [MASK] sat on the mat.")
    assert hidden is typed and store.runs == 1
    assert hidden.tokens[2] == "[MASK]" and hidden.encoding.ids[2] == model.tokenizer.mask_id
    assert store.get(model, TEXT) is not hidden and store.runs == 2


def test_every_part_of_the_input_but_the_hidden_tokens_stays(model):
    plain, hidden = encode(model, TEXT, "In Rome?", 20), encode(model, TEXT, "In Rome?", 20, masked=(9, 1))
    changed = [i for i in range(20) if plain.ids[i] != hidden.ids[i]]
    assert changed == [i for i in range(20) if plain.tokens[i] != hidden.tokens[i]] == [1, 9]
    assert (hidden.segments, hidden.mask, hidden.positions) == (plain.segments, plain.mask, plain.positions)


def test_words_and_pieces_can_be_hidden_and_special_tokens_cannot(model):
    encoding = encode(model, "[MASK] playing", "mat", 8)
    assert encoding.tokens == ("[CLS]", "[MASK]", "play", "##ing", "[SEP]", "mat", "[SEP]", "[PAD]")
    assert model.tokenizer.maskable(encoding) == (2, 3, 5)
    assert model.tokenizer.masked(encoding, (2, 3, 5)).tokens.count("[MASK]") == 4
    assert model.tokenizer.masked(encoding, ()) is encoding


@pytest.mark.parametrize(
    ("position", "message"),
    [(0, r"\[CLS\], a special token"), (8, r"\[SEP\], a special token"), (9, r"\[PAD\], a special token"),
     (12, "positions 0 to 11"), (-1, "positions 0 to 11"), (10**30, "positions 0 to 11")],
)  # fmt: skip
def test_what_cannot_be_hidden_is_refused_whether_or_not_the_text_is_stored(model, position, message):
    store = bv.TraceStore()
    for _ in range(2):
        with pytest.raises(bv.InputError, match=message):
            store.get(model, TEXT, pad_to=12, masked=[2, position])
        store.get(model, TEXT, pad_to=12)
    assert store.runs == 1


def test_a_checkpoint_without_a_mask_token_reads_text_but_hides_nothing(no_mask):
    encoding = encode(no_mask, TEXT)
    assert no_mask.tokenizer.mask_id is None and no_mask.tokenizer.maskable(encoding) == ()
    with pytest.raises(bv.InputError, match="no mask token"):
        bv.run(no_mask, TEXT, masked=[2])


def test_padding_is_hidden_from_attention_and_changes_no_other_token(model):
    store = bv.TraceStore()
    alone, padded = store.get(model, TEXT, "In Rome?"), store.get(model, TEXT, "In Rome?", 40)
    n = len(alone.tokens)
    assert padded.tokens == alone.tokens + ["[PAD]"] * (40 - n)
    assert padded["attention_mask"].tolist() == [1.0] * n + [0.0] * (40 - n)
    for layer in range(model.config.num_hidden_layers):
        own = f"encoder.layer.{layer}.attention.self"
        assert (padded[f"{own}.scores"][..., n:] == LOWEST).all() and (padded[f"{own}.probs"][..., n:] == 0).all()
        assert np.array_equal(padded[f"{own}.scores"][..., :n], padded[f"{own}.scaled"][..., :n])
        output = f"encoder.layer.{layer}.output.LayerNorm"
        np.testing.assert_allclose(padded[output][:n], alone[output], atol=2e-5)
    np.testing.assert_allclose(padded["cls.predictions.probs"][:n], alone["cls.predictions.probs"], atol=2e-5)


def test_padding_and_hiding_together_are_what_the_library_computes(bundled):
    """Against Hugging Face's own model, fed the same ids and attention mask."""
    trace = bv.run(bundled, "When in Rome", pad_to=9, masked=[3])
    assert trace.tokens == ["[CLS]", "when", "in", "[MASK]", "[SEP]", *["[PAD]"] * 4]
    oracle = BertForPreTraining.from_pretrained(BUNDLED_FOLDER, dtype=torch.float32, attn_implementation="eager")
    with torch.inference_mode():
        output = oracle.bert(
            torch.tensor([[101, 2043, 1999, 103, 102, 0, 0, 0, 0]]),
            attention_mask=torch.tensor([[1, 1, 1, 1, 1, 0, 0, 0, 0]]),
        )
    last = f"encoder.layer.{bundled.config.num_hidden_layers - 1}.output.LayerNorm"
    np.testing.assert_allclose(trace[last], output.last_hidden_state[0].numpy(), atol=1e-5)
