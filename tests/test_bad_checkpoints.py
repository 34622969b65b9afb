"""Checkpoints that cannot be run: a table of cases, each with what its one sentence must say."""

import json
import re
import shutil

import pytest
import torch
from huggingface_hub import constants
from safetensors.torch import load_file, save_file

import bertviz_core as bv
from bertviz_core.checkpoint.shelf import ModelShelf
from tests.factory import random_checkpoint

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
NO_MODEL = "neither a folder with a BERT checkpoint that this app can read nor"
WHAT_TO_DO = r"\b(Fetch|Choose|Copy|Correct|Save|Give|Check)\b"


@pytest.fixture(scope="session")
def good(tmp_path_factory):
    return random_checkpoint(tmp_path_factory.mktemp("good"), kind="sequence-classification")


@pytest.fixture
def folder(good, tmp_path):
    """A good checkpoint, to be spoilt."""
    return shutil.copytree(good, tmp_path / "model")


def refusal(name) -> str:
    with pytest.raises(bv.CheckpointError) as caught:
        bv.load_model(name)
    text = str(caught.value)
    assert re.search(WHAT_TO_DO, text), f"does not say what to do: {text}"
    assert "Traceback" not in text
    assert "\n" not in text
    assert len(text) < 500
    return text


def config(**entries):
    def spoil(folder):
        settings = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**settings, **entries}))

    return spoil


def write(name, content):
    def spoil(folder):
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    return spoil


def gone(*names):
    def spoil(folder):
        for name in names:
            (folder / name).unlink()

    return spoil


def tensors(edit):
    def spoil(folder):
        stored = {name: tensor.clone() for name, tensor in load_file(folder / WEIGHTS).items()}
        edit(stored)
        (folder / WEIGHTS).unlink()
        save_file(stored, folder / WEIGHTS)

    return spoil


def put(name, tensor):
    return tensors(lambda stored: stored.update({name: tensor}))


def cut_to(part):
    def spoil(folder):
        content = (folder / WEIGHTS).read_bytes()
        (folder / WEIGHTS).write_bytes(content[: int(part * len(content)) if part < 1 else int(part)])

    return spoil


def index(content):
    def spoil(folder):
        (folder / WEIGHTS).rename(folder / "model-00001-of-00002.safetensors")
        (folder / INDEX).write_text(content if isinstance(content, str) else json.dumps({"weight_map": content}))

    return spoil


def rules(**parts):
    def spoil(folder):
        state = json.loads((folder / "tokenizer.json").read_text())
        (folder / "tokenizer.json").write_text(json.dumps({**state, **parts}))

    return spoil


def vocabulary(without):
    def spoil(folder):
        (folder / "tokenizer.json").unlink()
        tokens = (folder / "vocab.txt").read_text().splitlines()
        (folder / "vocab.txt").write_text("\n".join(token for token in tokens if token != without))

    return spoil


def in_turn(*spoils):
    def spoil(folder):
        for step in spoils:
            step(folder)

    return spoil


WORDS = "bert.embeddings.word_embeddings.weight"
NAN = torch.full((101, 24), torch.nan)
CONFIG = {
    "missing": (gone("config.json"), NO_MODEL),
    "not JSON": (write("config.json", "{'model_type': bert}"), "config.json cannot be read as JSON"),
    "not text": (write("config.json", b"\xff\xfe\x00"), "config.json cannot be read as JSON"),
    "empty": (write("config.json", ""), "config.json cannot be read as JSON"),
    "nested without end": (write("config.json", "[" * 100_000), "config.json cannot be read as JSON"),
    "a list": (write("config.json", "[1, 2]"), "config.json is not a JSON object"),
    "a number": (write("config.json", "7"), "config.json is not a JSON object"),
    "another model": (config(model_type="roberta"), "describes a 'roberta' model"),
    "no type": (config(model_type=None), "does not say its type"),
    "a type that is no name": (config(model_type=["bert"]), "describes a ['bert'] model"),
    "relative positions": (config(position_embedding_type="relative_key"), "relative position embeddings"),
    "a decoder": (config(is_decoder=True), "is_decoder"),
    "heads that do not divide": (config(num_attention_heads=7), "24 cannot be split over 7 heads"),
    "negative layers": (
        config(num_hidden_layers=-1),
        "num_hidden_layers must be a whole number from 1 to a billion, not -1",
    ),
    "no layers": (config(num_hidden_layers=0), "num_hidden_layers must be a whole number"),
    "a string for a number": (
        config(hidden_size="24"),
        "hidden_size must be a whole number from 1 to a billion, not '24'",
    ),
    "a fraction": (config(intermediate_size=40.5), "intermediate_size must be a whole number"),
    "true for a number": (config(type_vocab_size=True), "type_vocab_size must be a whole number"),
    "a list for a number": (config(vocab_size=[101]), "vocab_size must be a whole number"),
    "a decoder or not, as a number": (config(is_decoder=0), "config.json cannot be read (Validation error for field"),
    "labels in a list": (config(id2label=[]), "config.json cannot be read ('list' object has no attribute"),
    "unknown activation": (config(hidden_act="swoosh"), "activation 'swoosh'"),
    "activation that is no name": (config(hidden_act={"gelu": 1}), "is not supported"),
    "epsilon 0": (config(layer_norm_eps=0), "layer_norm_eps must be a positive number, not 0"),
    "epsilon as a string": (config(layer_norm_eps="1e-12"), "layer_norm_eps must be a positive number"),
    "epsilon infinite": (config(layer_norm_eps=float("inf")), "layer_norm_eps must be a positive number"),
    "epsilon not a number": (config(layer_norm_eps=float("nan")), "layer_norm_eps must be a positive number"),
    "epsilon true": (config(layer_norm_eps=True), "layer_norm_eps must be a positive number"),
    "labels without numbers": (config(id2label={"one": "good"}), "id2label must map whole numbers to names"),
    "labels as a list": (config(id2label=["bad", "good"]), "id2label must map whole numbers to names"),
    "labels as a number": (config(id2label=2), "id2label must map whole numbers to names"),
    "unknown problem": (config(problem_type="guessing"), "problem_type must be one of"),
    "problem that is no name": (config(problem_type=[1]), "problem_type must be one of"),
    "tie that is no switch": (config(tie_word_embeddings="yes"), "tie_word_embeddings must be true or false"),
    "architectures as a name": (config(architectures="BertModel"), "architectures must be a list of names"),
    "a billion layers": (config(num_hidden_layers=10**9), "asks for 1000000000 layers, but the checkpoint holds 2"),
    "a billion words": (config(vocab_size=10**9), "embeddings.word_embeddings.weight has shape (101, 24)"),
    "huge width": (config(hidden_size=9 * 10**8), "has shape (101, 24); the config asks for (101, 900000000)"),
    "huge input": (config(max_position_embeddings=10**9), "embeddings.position_embeddings.weight has shape"),
    "a number of 300 digits": (config(num_hidden_layers=10**300), "from 1 to a billion, not 1000"),
}
FILES = {
    "a pickle only": (
        in_turn(gone(WEIGHTS), write("pytorch_model.bin", b"\x80")),
        "pytorch_model.bin is a Python pickle",
    ),
    "no weights": (gone(WEIGHTS), f"There is no {WEIGHTS}"),
    "zero bytes": (write(WEIGHTS, b""), f"{WEIGHTS} cannot be read"),
    "cut in the length": (cut_to(5), f"{WEIGHTS} cannot be read; it is damaged"),
    "cut in the header": (cut_to(100), f"{WEIGHTS} cannot be read; it is damaged"),
    "cut in the middle": (cut_to(0.5), f"{WEIGHTS} cannot be read; it is damaged"),
    "cut at the end": (cut_to(0.9999), f"{WEIGHTS} cannot be read; it is damaged"),
    "garbage": (write(WEIGHTS, b"garbage" * 1000), f"{WEIGHTS} cannot be read"),
    "garbage in the header": (write(WEIGHTS, (64).to_bytes(8, "little") + b"{" * 64), f"{WEIGHTS} cannot be read"),
    "a web page": (write(WEIGHTS, "<!DOCTYPE html><html>404</html>"), f"{WEIGHTS} cannot be read"),
    "a pointer to the file": (
        write(WEIGHTS, "version https://git-lfs.github.com/spec/v1\n"),
        f"{WEIGHTS} cannot be read",
    ),
    "a missing shard": (
        index({WORDS: "model-00001-of-00002.safetensors", "x": "model-00002-of-00002.safetensors"}),
        "split over 2 files, of which these are missing: model-00002-of-00002.safetensors",
    ),
    "a broken index": (index("{"), f"{INDEX} cannot be read"),
    "an index without a map": (index('{"metadata": {}}'), f"{INDEX} does not say"),
    "an index that is empty": (index({}), f"{INDEX} does not say"),
    "an index of numbers": (index({WORDS: 1}), f"{INDEX} does not say"),
    "an index of a list": (index('{"weight_map": ["model.safetensors"]}'), f"{INDEX} does not say"),
    "an index that leads away": (index({WORDS: "../good/model.safetensors"}), f"{INDEX} does not say"),
    "an index that leads to the root": (index({WORDS: "/etc/passwd"}), f"{INDEX} does not say"),
    "an index of pickles": (index({WORDS: "pytorch_model.bin"}), f"{INDEX} does not say"),
}
TENSORS = {
    "no embeddings": (tensors(lambda stored: stored.pop(WORDS)), "no embeddings.word_embeddings.weight"),
    "other names": (
        tensors(lambda stored: [stored.update({f"{name}_old": stored.pop(name)}) for name in list(stored)]),
        "it is not a BERT, or its tensors have other names",
    ),
    "a missing tensor": (
        tensors(lambda stored: stored.pop("bert.encoder.layer.1.output.dense.bias")),
        "lacks 1 of the tensors that its config asks for: encoder.layer.1.output.dense.bias",
    ),
    "half a layer": (
        tensors(lambda stored: [stored.pop(name) for name in list(stored) if ".1.attention." in name]),
        "lacks 10 of the tensors that its config asks for: encoder.layer.1.attention",
    ),
    "a wrong shape": (put("classifier.weight", torch.zeros(2, 25)), "classifier.weight has shape (2, 25); "),
    "a matrix turned": (
        put("bert.encoder.layer.0.output.dense.weight", torch.zeros(40, 24)),
        "encoder.layer.0.output.dense.weight has shape (40, 24); the config asks for (24, 40)",
    ),
    "a classifier that is a number": (put("classifier.weight", torch.zeros(())), "classifier.weight has shape ()"),
    "not a number": (put(WORDS, NAN), "embeddings.word_embeddings.weight holds numbers that are not finite"),
    "infinite": (
        put("classifier.bias", torch.tensor([0, torch.inf])),
        "classifier.bias holds numbers that are not finite",
    ),
    "too large for float32": (
        put("classifier.bias", torch.tensor([0, 1e300], dtype=torch.float64)),
        "classifier.bias holds numbers that are not finite",
    ),
    "whole numbers": (put(WORDS, torch.zeros(101, 24, dtype=torch.int8)), "is stored as torch.int8; quantized"),
}
TOKENIZER = {
    "no files": (gone("tokenizer.json", "vocab.txt"), "no tokenizer.json and no vocab.txt"),
    "not JSON": (write("tokenizer.json", '{"model": '), "tokenizer.json cannot be read"),
    "no vocabulary": (write("tokenizer.json", "{}"), "tokenizer.json has no readable vocabulary"),
    "a list": (write("tokenizer.json", "[]"), "tokenizer.json is not a JSON object"),
    "a vocabulary of numbers": (
        write("tokenizer.json", '{"model": {"vocab": [1, 2]}, "added_tokens": []}'),
        "tokenizer.json has no readable vocabulary",
    ),
    "an unknown kind": (
        write("tokenizer.json", '{"model": {"type": "Magic", "vocab": {"[UNK]": 0}}, "added_tokens": []}'),
        "The tokenizer files cannot be read",
    ),
    "a table that is none": (
        rules(normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
        "The tokenizer files cannot be read (PanicException",
    ),
    "settings not JSON": (write("tokenizer_config.json", "{"), "tokenizer_config.json cannot be read"),
    "settings a list": (write("tokenizer_config.json", "[]"), "tokenizer_config.json is not a JSON object"),
    "not text": (in_turn(gone("tokenizer.json"), write("vocab.txt", b"[UNK]\n\xff\xfe")), "vocab.txt cannot be read"),
    "empty": (in_turn(gone("tokenizer.json"), write("vocab.txt", "")), "lacks [CLS], [SEP], [UNK]"),
    "no unknown token": (vocabulary(without="[UNK]"), "The vocabulary lacks [UNK]"),
    "no class token": (vocabulary(without="[CLS]"), "The vocabulary lacks [CLS]"),
    "no separator": (vocabulary(without="[SEP]"), "The vocabulary lacks [SEP]"),
    "larger than the model": (
        in_turn(config(vocab_size=50), tensors(lambda stored: stored.update({WORDS: stored[WORDS][:50].clone()}))),
        "goes up to token id 74, but the model has only 50 embeddings",
    ),
}


@pytest.mark.parametrize(
    ("spoil", "text"),
    [
        pytest.param(*case, id=f"{family}: {name}")
        for family, cases in {"config": CONFIG, "file": FILES, "tensor": TENSORS, "tokenizer": TOKENIZER}.items()
        for name, case in cases.items()
    ],
)
def test_a_bad_checkpoint(folder, spoil, text):
    spoil(folder)
    assert text in refusal(folder)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("", "No model was named"),
        ("   ", "No model was named"),
        ("../..", NO_MODEL),
        (".", NO_MODEL),
        ("~", NO_MODEL),
        ("/", NO_MODEL),
        ("../nowhere/at/all", NO_MODEL),
        ("/nowhere/at/all", NO_MODEL),
        ("~nobody-of-this-name/model", NO_MODEL),
        ("my own model", NO_MODEL),
        ("a/b/c", NO_MODEL),
        ("a\0b", NO_MODEL),
        ("a\nb", NO_MODEL),
        ("https://huggingface.co/bert-base-uncased", NO_MODEL),
        ("bert--base", NO_MODEL),
        ("..", NO_MODEL),
        ("model.git", NO_MODEL),
        ("x" * 5000, NO_MODEL),
        ("模型", NO_MODEL),
        ("\ud800", NO_MODEL),
    ],
    ids=ascii,
)
def test_a_bad_name(name, text, tmp_path, monkeypatch):
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")  # nobody is to be asked, least of all outside
    assert text in refusal(name)


def test_a_longest_text_that_is_no_number_is_passed_over(folder):
    write("tokenizer_config.json", '{"tokenizer_class": "BertTokenizer", "model_max_length": {}}')(folder)
    assert len(bv.run(bv.load_model(str(folder)), "rome").tokens) > 2


def test_a_folder_with_spaces_and_signs_in_its_name(folder):
    odd = folder.with_name("my model (ü, 模型) %20 #1")
    folder.rename(odd)
    assert bv.load_model(odd).name == str(odd)


def test_a_link_to_nothing(folder):
    (folder / "notes.txt").symlink_to(folder / "nowhere")
    assert bv.load_model(folder).labels == ("LABEL_0", "LABEL_1")
    (folder / WEIGHTS).unlink()
    (folder / WEIGHTS).symlink_to(folder / "nowhere")
    assert f"There is no {WEIGHTS}" in refusal(folder)
    with pytest.raises(bv.CheckpointError, match=f"There is no {WEIGHTS}"):  # what pages load with looks at sizes first
        ModelShelf().get(str(folder))


@pytest.mark.parametrize(
    "name", ["config.json", INDEX, "vocab.txt", "tokenizer.json", "added_tokens.json", "chat_template.jinja"]
)
def test_a_file_of_text_that_is_longer_than_any_is_not_read(folder, name):
    """Read as JSON or as a vocabulary, it takes a multiple of its length in memory."""
    if name == INDEX:
        (folder / WEIGHTS).unlink()
    with (folder / name).open("ab") as file:
        file.truncate(21_000_000)
    assert refusal(folder).startswith(f"{name} has 21 MB")
