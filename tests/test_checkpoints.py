"""Checkpoints as they are found in the wild, each against Hugging Face's own load of the same files."""

import json
import pickle

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    BertForMaskedLM,
    BertForPreTraining,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
)

import bertviz_core as bv
from tests.factory import KINDS, random_checkpoint

TEXT = "The cat sat on the [MASK]."
MLM, POOLER, NEXT, CLASSES, TOKENS, ANSWERS = (
    "masked language model", "pooler", "next sentence", "classifier", "token classifier", "question answering",
)  # fmt: skip
LAST = "encoder.layer.1.output.LayerNorm"
DECODER = "cls.predictions.decoder"
GENERATOR = torch.Generator().manual_seed(7)
MATRIX, BIAS, OTHER_BIAS = (torch.randn(shape, generator=GENERATOR) for shape in ((101, 24), (101,), (101,)))


def edited(folder, edit=None, **config):
    """The checkpoint with its tensors (a dict) as `edit` leaves them and with these config entries."""
    file = folder / "model.safetensors"
    tensors = load_file(file)
    if edit:
        tensors = edit(tensors) or tensors
    file.unlink()  # the tensors just read may be views of it
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, file, {"format": "pt"})
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**settings, **config}))
    return folder


@torch.no_grad()
def hugging_face(folder, kind):
    """The outputs of Hugging Face's own model for TEXT, loaded from the same files to float32."""
    model = kind.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    ids = torch.tensor([bv.load_model(folder).tokenizer.encode(TEXT).ids])
    return model(ids, output_hidden_states=True)


def agree(trace, address, output):
    expected = output[0].numpy()
    np.testing.assert_allclose(trace[address], expected, rtol=0, atol=1e-5 * max(1, np.abs(expected).max()))


def without_prefix(tensors):
    return {name.removeprefix("bert."): tensor for name, tensor in tensors.items()}


def with_prefix(tensors):
    return {f"bert.{name}": tensor for name, tensor in tensors.items()}


def old_names(tensors):
    def old(name):
        return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")

    assert any(old(name) != name for name in tensors)
    return {old(name): tensor for name, tensor in tensors.items()}


def with_buffers(tensors):
    ids = torch.arange(64)[None]
    return {**tensors, "bert.embeddings.position_ids": ids, "bert.embeddings.token_type_ids": torch.zeros_like(ids)}


def stored_as(dtype):
    return lambda tensors: {name: tensor.to(dtype) for name, tensor in tensors.items()}


def mixed(tensors):
    dtypes = (torch.float16, torch.float32, torch.bfloat16)
    return {name: tensor.to(dtypes[i % 3]) for i, (name, tensor) in enumerate(tensors.items())}


@pytest.mark.parametrize(
    "edit",
    [
        None,
        old_names,
        with_buffers,
        stored_as(torch.float16),
        stored_as(torch.bfloat16),
        stored_as(torch.float64),
        mixed,
    ],
    ids=["as saved", "gamma and beta", "extra buffers", "float16", "bfloat16", "float64", "mixed"],
)
def test_a_file_in_any_guise_gives_the_same_outputs(tmp_path, edit):
    folder = edited(random_checkpoint(tmp_path), edit)
    model = bv.load_model(folder)
    assert {tensor.dtype for tensor in model.parameters.values()} == {torch.float32}
    trace, expected = bv.run(model, TEXT), hugging_face(folder, BertForPreTraining)
    agree(trace, DECODER, expected.prediction_logits)
    agree(trace, LAST, expected.hidden_states[-1])
    agree(trace, "cls.seq_relationship", expected.seq_relationship_logits)


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"base", "base-without-pooler"}))
def test_a_file_without_the_prefix_holds_the_same_parameters(tmp_path, kind):
    with_it = bv.load_model(random_checkpoint(tmp_path / "with", kind=kind))
    without = bv.load_model(edited(random_checkpoint(tmp_path / "without", kind=kind), without_prefix))
    assert with_it.heads == without.heads
    assert with_it.parameters.keys() == without.parameters.keys()
    for address, tensor in with_it.parameters.items():
        torch.testing.assert_close(without.parameters[address], tensor, rtol=0, atol=0)


@pytest.mark.parametrize("edit", [None, with_prefix], ids=["without prefix", "with prefix"])
def test_a_bare_encoder(tmp_path, edit):
    folder = edited(random_checkpoint(tmp_path, kind="base"), edit)
    trace, expected = bv.run(bv.load_model(folder), TEXT), hugging_face(folder, BertModel)
    agree(trace, LAST, expected.last_hidden_state)
    agree(trace, "pooler.activation", expected.pooler_output)


def test_weights_in_several_files(tmp_path):
    folder = random_checkpoint(tmp_path)
    BertForPreTraining.from_pretrained(folder).save_pretrained(folder, max_shard_size="20KB")
    (folder / "model.safetensors").unlink(missing_ok=True)
    assert len(list(folder.glob("model-*.safetensors"))) > 2
    agree(bv.run(bv.load_model(folder), TEXT), DECODER, hugging_face(folder, BertForPreTraining).prediction_logits)


def decoder(**stored):
    """An edit that leaves only these tensors of the decoder in the file."""

    def edit(tensors):
        kept = {name: tensor for name, tensor in tensors.items() if name not in DECODER_NAMES.values()}
        return {**kept, **{DECODER_NAMES[name]: tensor for name, tensor in stored.items()}}

    return edit


DECODER_NAMES = {"matrix": f"{DECODER}.weight", "bias": f"{DECODER}.bias", "head_bias": "cls.predictions.bias"}


@pytest.mark.parametrize("tie", [True, False], ids=["tied by config", "untied by config"])
@pytest.mark.parametrize(
    "stored",
    [
        {"head_bias": BIAS},
        {"bias": BIAS},
        {"head_bias": BIAS, "bias": OTHER_BIAS},
        {"head_bias": BIAS, "matrix": MATRIX},
        {"bias": BIAS, "matrix": MATRIX},
        {"head_bias": BIAS, "bias": OTHER_BIAS, "matrix": MATRIX},
        {},
    ],
    ids=lambda stored: " ".join(stored) or "nothing",
)
def test_the_decoder_is_tied_just_where_hugging_face_ties_it(tmp_path, stored, tie):
    """And where Hugging Face would fill in numbers of its own, the checkpoint is refused."""
    folder = edited(random_checkpoint(tmp_path, kind="masked-lm"), decoder(**stored), tie_word_embeddings=tie)
    _, report = BertForMaskedLM.from_pretrained(folder, output_loading_info=True)
    invented = report["missing_keys"] & {f"{DECODER}.weight", f"{DECODER}.bias"}
    if invented:
        with pytest.raises(bv.CheckpointError, match="lacks") as caught:
            bv.load_model(folder)
        assert all(name in str(caught.value) for name in invented & {f"{DECODER}.weight"})
    else:
        agree(bv.run(bv.load_model(folder), TEXT), DECODER, hugging_face(folder, BertForMaskedLM).logits)


def twice(tensors):
    return {**tensors, f"{DECODER}.weight": tensors["bert.embeddings.word_embeddings.weight"].clone()}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("edit", [None, twice], ids=["once in the file", "twice in the file"])
def test_a_tied_matrix_is_held_once(tmp_path, edit, dtype):
    folder = edited(random_checkpoint(tmp_path, kind="masked-lm"), edit)
    model = bv.load_model(edited(folder, stored_as(dtype)))
    words, matrix = (model.parameters[f"{name}.weight"] for name in ("embeddings.word_embeddings", DECODER))
    assert words.data_ptr() == matrix.data_ptr()
    assert model.parameter_count == BertForMaskedLM.from_pretrained(folder).num_parameters()
    assert model.nbytes == 4 * model.parameter_count


@pytest.mark.parametrize(
    ("kind", "heads"),
    [
        ("pretraining", (MLM, POOLER, NEXT)),
        ("masked-lm", (MLM,)),
        ("base", (POOLER,)),
        ("base-without-pooler", ()),
        ("sequence-classification", (POOLER, CLASSES)),
        ("token-classification", (TOKENS,)),
        ("question-answering", (ANSWERS,)),
    ],
)
def test_the_heads_are_those_in_the_file(tmp_path, kind, heads):
    model = bv.load_model(random_checkpoint(tmp_path, kind=kind))
    assert model.heads == heads
    assert model.unused == ()
    assert set(model.absent_heads) == {MLM, POOLER, NEXT, CLASSES, ANSWERS} - {
        CLASSES if head == TOKENS else head for head in heads
    }


def test_a_token_classifier_that_kept_the_pooler_still_labels_tokens(tmp_path):
    def add_pooler(tensors):
        return {
            **tensors,
            "bert.pooler.dense.weight": MATRIX[:24, :24].clone(),
            "bert.pooler.dense.bias": BIAS[:24].clone(),
        }

    folder = edited(random_checkpoint(tmp_path, kind="token-classification", num_labels=5), add_pooler)
    model = bv.load_model(folder)
    assert model.heads == (POOLER, TOKENS)
    trace = bv.run(model, TEXT)
    assert trace.dims("classifier") == ("token", "label")
    agree(trace, "classifier", hugging_face(folder, BertForTokenClassification).logits)


def test_what_bert_does_not_read_is_listed_as_unused(tmp_path):
    extra = {"span_outputs.weight": torch.zeros(2, 24), "bert.embeddings.position_ids": torch.arange(64)[None]}
    model = bv.load_model(edited(random_checkpoint(tmp_path), lambda tensors: {**tensors, **extra}))
    assert set(model.unused) == {"span_outputs.weight", "embeddings.position_ids"}


def test_the_encoder_wins_over_another_tensor_of_its_short_name(tmp_path):
    def add_stranger(tensors):
        return {"pooler.dense.bias": torch.full((24,), 9.0), **tensors}

    folder = edited(random_checkpoint(tmp_path), add_stranger)
    assert not (bv.load_model(folder).parameters["pooler.dense.bias"] == 9).any()


@pytest.mark.parametrize(
    ("config", "labels", "probs"),
    [
        ({"num_labels": 3}, ("LABEL_0", "LABEL_1", "LABEL_2"), "softmax"),
        ({"id2label": {"0": "bad", "1": "good"}}, ("bad", "good"), "softmax"),
        ({"num_labels": 3, "problem_type": "multi_label_classification"}, ("LABEL_0", "LABEL_1", "LABEL_2"), "sigmoid"),
        ({"num_labels": 3, "problem_type": "regression"}, ("LABEL_0", "LABEL_1", "LABEL_2"), None),
        ({"num_labels": 1}, ("LABEL_0",), None),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("kind", "oracle"),
    [("sequence-classification", BertForSequenceClassification), ("token-classification", BertForTokenClassification)],
)
def test_classes_and_what_their_scores_become(tmp_path, kind, oracle, config, labels, probs):
    folder = random_checkpoint(tmp_path, kind=kind, **config)
    model = bv.load_model(folder)
    trace = bv.run(model, TEXT)
    assert model.labels == labels
    logits = hugging_face(folder, oracle).logits
    agree(trace, "classifier", logits)
    assert ("classifier.probs" in trace.addresses) == (probs is not None)
    if probs:
        agree(trace, "classifier.probs", logits.sigmoid() if probs == "sigmoid" else logits.softmax(-1))


def test_classes_without_a_name_are_numbered(tmp_path):
    folder = edited(random_checkpoint(tmp_path, kind="sequence-classification", num_labels=3), id2label={"1": "good"})
    assert bv.load_model(folder).labels == ("LABEL_0", "good", "LABEL_2")


class Evil:
    """A pickle that leaves a mark when it is loaded."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return type(self.mark).touch, (self.mark,)


def booby_trapped(folder, mark):
    """Everything through which a checkpoint could have its own code run."""
    for name in ("evil.py", "modeling_evil.py", "tokenization_evil.py", "configuration_evil.py", "setup.py"):
        (folder / name).write_text(f"import pathlib\npathlib.Path({str(mark)!r}).touch()\nclass Evil: pass\n")
    for name in ("pytorch_model.bin", "model.pt", "training_args.bin"):
        (folder / name).write_bytes(pickle.dumps(Evil(mark)))
    auto = {"AutoConfig": "evil.Evil", "AutoModel": "evil.Evil", "AutoTokenizer": ["evil.Evil", "evil.Evil"]}
    for name, more in (("config.json", {}), ("tokenizer_config.json", {"tokenizer_class": "Evil"})):
        settings = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps({**settings, **more, "auto_map": auto, "trust_remote_code": True}))
    return folder


def test_no_code_of_a_checkpoint_is_run(tmp_path):
    mark = tmp_path / "mark"
    pickle.loads(pickle.dumps(Evil(mark)))
    assert mark.exists(), "the trap itself must work"
    mark.unlink()
    folder = booby_trapped(random_checkpoint(tmp_path / "model"), mark)
    assert bv.run(bv.load_model(folder), TEXT).tokens[-1] == "[SEP]"
    (folder / "model.safetensors").unlink()
    with pytest.raises(bv.CheckpointError, match="is a Python pickle"):
        bv.load_model(folder)
    assert not mark.exists()
