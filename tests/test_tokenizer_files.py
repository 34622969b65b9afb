"""Tokenizer files as they are met: segments as the reference reads them, and vocabularies without a special token."""

import json
import shutil

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer, BertForPreTraining, BertTokenizer

import bertviz_core as bv
from bertviz_core.ui.frame.preparation import prepare
from tests.factory import VOCABULARY, random_checkpoint

PAIR = ("the cat sat", "on the mat")


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return random_checkpoint(tmp_path_factory.mktemp("files"), vocab_size=len(VOCABULARY))


def template(first, second):
    """A post-processor with these types of the two texts."""
    cls, sep = ({"id": name, "ids": [i], "tokens": [name]} for name, i in (("[CLS]", 2), ("[SEP]", 3)))

    def part(kind, name, segment):
        return {kind: {"id": name, "type_id": segment}}

    one = [part("SpecialToken", "[CLS]", first), part("Sequence", "A", first), part("SpecialToken", "[SEP]", first)]
    two = [part("Sequence", "B", second), part("SpecialToken", "[SEP]", second)]
    return {
        "type": "TemplateProcessing",
        "single": one,
        "pair": [*one, *two],
        "special_tokens": {"[CLS]": cls, "[SEP]": sep},
    }


ENDS = {"sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}
POSTS = {
    "none": None,
    "BERT's": {"type": "BertProcessing", **ENDS},
    "RoBERTa's": {"type": "RobertaProcessing", **ENDS, "trim_offsets": True, "add_prefix_space": False},
    "0 and 1": template(0, 1),
    "all 0": template(0, 0),
    "1 and 0": template(1, 0),
}


@pytest.mark.parametrize("names", [None, ["input_ids", "token_type_ids", "attention_mask"]], ids=["unnamed", "named"])
@pytest.mark.parametrize("kind", ["BertTokenizer", "PreTrainedTokenizerFast"])
@pytest.mark.parametrize("post", POSTS.values(), ids=POSTS)
def test_ids_and_segments_are_those_that_the_reference_runs_with(good, tmp_path, post, kind, names):
    folder = shutil.copytree(good, tmp_path / "model", ignore=shutil.ignore_patterns("vocab.txt"))
    state = json.loads((folder / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps({**state, "post_processor": post}))
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    more = {"model_input_names": names} if names else {}
    (folder / "tokenizer_config.json").write_text(json.dumps({**settings, "tokenizer_class": kind, **more}))
    reference, model = AutoTokenizer.from_pretrained(str(folder)), bv.load_model(folder)
    oracle = BertForPreTraining.from_pretrained(folder).eval()
    for text, pair in (PAIR, (PAIR[0], None)):
        read = reference(text, pair, return_tensors="pt")
        trace = bv.run(model, text, pair)
        assert trace.encoding.ids == tuple(read["input_ids"][0].tolist())
        if "token_type_ids" in read:
            assert trace.encoding.segments == tuple(read["token_type_ids"][0].tolist())
        with torch.inference_mode():
            expected = oracle(**read).prediction_logits[0].numpy()
        np.testing.assert_allclose(trace["cls.predictions.decoder"], expected, rtol=1e-4, atol=1e-4)


def test_who_types_a_pair_reads_that_the_tokenizer_names_no_segments(good, tmp_path):
    folder = shutil.copytree(good, tmp_path / "model")
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps({**settings, "model_input_names": ["input_ids"]}))
    for place, said in ((folder, ["segment 0"]), (good, [])):
        model = bv.load_model(place)
        remarks = prepare(model, model.tokenizer.encode(*PAIR), " ".join(PAIR), "", "", PAIR[1]).remarks
        assert [word for word in ["segment 0"] if any(word in remark for remark in remarks)] == said
    assert not prepare(model, model.tokenizer.encode(PAIR[0]), PAIR[0], "", "").remarks


def without(token, folder, file):
    """The vocabulary in one of its two files, without a token; the model has one row less."""
    entries = [entry for entry in VOCABULARY if entry != token]
    if file == "vocab.txt":
        (folder / "tokenizer.json").unlink()
        (folder / "vocab.txt").write_text("\n".join(entries) + "\n", encoding="utf-8")
        return entries
    (folder / "vocab.txt").unlink(missing_ok=True)
    state = json.loads((folder / "tokenizer.json").read_text())
    state["model"]["vocab"] = rows = {entry: i for i, entry in enumerate(entries)}
    state["added_tokens"] = [
        {**added, "id": rows[added["content"]]} for added in state["added_tokens"] if added["content"] != token
    ]
    (folder / "tokenizer.json").write_text(json.dumps(state))
    return entries


@pytest.mark.parametrize("rows", [-1, 0], ids=["a row for each entry", "a row more"])
@pytest.mark.parametrize("file", ["vocab.txt", "tokenizer.json"])
def test_a_vocabulary_without_a_mask_token_loads_and_says_so(tmp_path, file, rows):
    folder = random_checkpoint(tmp_path / "model", vocab_size=len(VOCABULARY) + rows)
    entries = without("[MASK]", folder, file)
    model = bv.load_model(folder)
    assert model.tokenizer.mask_id is None and model.tokenizer.vocabulary[: len(entries)] == tuple(entries)
    trace = bv.run(model, "the [MASK] cat", pad_to=16)
    assert max(trace.encoding.ids) < len(entries) and "[MASK]" not in trace.tokens
    assert model.tokenizer.maskable(trace.encoding) == ()
    said = prepare(model, trace.encoding, "the cat", "", "2").remarks
    assert said == ("This checkpoint has no mask token; no token is masked.",)
    with pytest.raises(bv.InputError, match="no mask token"):
        bv.run(model, "the cat", masked=[1])


@pytest.mark.parametrize("file", ["vocab.txt", "tokenizer.json"])
def test_a_vocabulary_without_padding_loads(tmp_path, file):
    folder = random_checkpoint(tmp_path / "model", vocab_size=len(VOCABULARY) - 1)
    without("[PAD]", folder, file)
    trace = bv.run(bv.load_model(folder), "the cat", pad_to=8)
    assert trace.encoding.mask == (1, 1, 1, 1, 0, 0, 0, 0) and max(trace.encoding.ids) < len(VOCABULARY) - 1


def test_a_vocabulary_of_special_tokens_alone_is_refused(tmp_path):
    """What the library writes for a list of words that it was given under a name that it no longer reads."""
    folder = random_checkpoint(tmp_path / "model", vocab_size=len(VOCABULARY))
    words = folder / "vocab.txt"
    BertTokenizer(vocab_file=str(words)).save_pretrained(folder)
    words.unlink()
    assert len(AutoTokenizer.from_pretrained(folder)) == 5 < len(VOCABULARY)
    with pytest.raises(bv.CheckpointError, match=r"no word, so all text would be \[UNK\]\. .*BertTokenizer\(vocab="):
        bv.load_model(folder)


def test_files_of_two_models_are_still_told(tmp_path):
    folder = random_checkpoint(tmp_path / "model", vocab_size=len(VOCABULARY) - 2)
    without("[MASK]", folder, "vocab.txt")
    with pytest.raises(bv.CheckpointError, match=f"up to token id {len(VOCABULARY) - 2}, .* files of two models"):
        bv.load_model(folder)


ENDLESS = {"type": "Split", "pattern": {"Regex": r"(a+)+b"}, "behavior": "Isolated", "invert": False}
GIVE_UP = {
    "an expression that takes for ever": {"pre_tokenizer": ENDLESS},
    "no unknown token": {
        "model": {"type": "Unigram", "unk_id": None, "vocab": [["[UNK]", 0.0], ["b", 0.0]]},
        "pre_tokenizer": None,
        "normalizer": None,
    },
}


@pytest.mark.parametrize("parts", GIVE_UP.values(), ids=GIVE_UP)
def test_rules_that_come_to_nothing_are_refused_in_words(good, tmp_path, parts):
    """The library gives up with what is not even an Exception where its Rust part does."""
    folder = shutil.copytree(good, tmp_path / "model")
    for file, more in (
        ("tokenizer.json", parts),
        ("tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast"}),
    ):
        (folder / file).write_text(json.dumps({**json.loads((folder / file).read_text()), **more}))
    tokenizer = bv.load_model(folder).tokenizer
    for read in (tokenizer.encode, tokenizer.pieces, tokenizer.locate):
        with pytest.raises(bv.CheckpointError, match=r"tokenizer cannot read this text .*Choose another model"):
            read("a" * 50)
