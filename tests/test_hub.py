"""Loading by a Hugging Face id, from a hub on this machine that behaves as well or as badly as told."""

import pickle
import shutil
import threading
import time
from pathlib import Path

import pytest
import torch
from huggingface_hub import constants

import bertviz_core as bv
from bertviz_core.checkpoint import hub, known
from bertviz_core.checkpoint.shelf import ModelShelf
from tests.factory import random_checkpoint
from tests.fake_hub import COMMIT, MODEL, FakeHub


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory):
    """A checkpoint of some 400 kB beside files that nobody needs."""
    folder = random_checkpoint(tmp_path_factory.mktemp("checkpoint"), vocab_size=3000)
    for name in (
        "README.md",
        "pytorch_model.bin",
        "model.fp16.safetensors",
        "tokenization_evil.py",
        "onnx/x.safetensors",
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("not wanted")
    return folder


@pytest.fixture
def served(checkpoint, tmp_path, monkeypatch):
    """The hub with a copy of the checkpoint, and an empty cache; a download may stand still for two seconds only."""
    monkeypatch.setattr(hub, "SILENCE_S", 2.0)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    shutil.copytree(checkpoint, tmp_path / "served")
    with FakeHub(tmp_path / "served") as server:
        monkeypatch.setattr(constants, "ENDPOINT", server.url)
        yield server


def shard(folder):
    """The same checkpoint with its weights over several files."""
    from transformers import BertForPreTraining

    model = BertForPreTraining.from_pretrained(folder)
    (folder / "model.safetensors").unlink()
    model.save_pretrained(folder, max_shard_size="40KB")
    return sorted(path.name for path in folder.glob("model-*.safetensors"))


def snapshot() -> Path:
    return Path(constants.HF_HUB_CACHE, f"models--{MODEL.replace('/', '--')}", "snapshots", COMMIT)


def refusal(name=MODEL) -> str:
    """The text of the one error, which must come soon."""
    start = time.monotonic()
    with pytest.raises(bv.CheckpointError) as caught:
        bv.load_model(name)
    assert time.monotonic() - start < 10
    text = str(caught.value)
    assert "Traceback" not in text
    assert "\n" not in text
    return text


def same(one, other):
    return one.parameters.keys() == other.parameters.keys() and all(
        torch.equal(one.parameters[address], other.parameters[address]) for address in one.parameters
    )


def test_a_model_is_downloaded_once_and_then_needs_no_hub(served, checkpoint):
    model = bv.load_model(MODEL)
    assert (model.name, model.revision) == (MODEL, COMMIT)
    assert same(model, bv.load_model(checkpoint))
    assert {path.name for path in snapshot().iterdir()} == {
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
        "vocab.txt",
    }
    served.stop()
    assert same(bv.load_model(MODEL), model)


@pytest.mark.parametrize("revision", [COMMIT, "v1"])
def test_a_model_is_pinned_to_a_revision(served, checkpoint, revision):
    model = bv.load_model(MODEL, revision=revision)
    assert model.revision == COMMIT and same(model, bv.load_model(checkpoint))
    assert any(f"/revision/{revision}" in asked for asked in served.requests)
    asked = len(served.requests)
    assert same(bv.load_model(MODEL, revision=revision), model) and len(served.requests) == asked


def test_a_pickle_is_read_with_the_revision_that_it_was_made_with(served, monkeypatch):
    """Where the cache has no other revision, and there is no hub to ask for the newest one."""
    packed = pickle.dumps(bv.run(bv.load_model(MODEL, revision=COMMIT), "the"))
    served.stop()
    monkeypatch.setattr(known, "_KNOWN", {})
    with pytest.raises(bv.CheckpointError):
        bv.load_model(MODEL)
    assert pickle.loads(packed).model.revision == COMMIT


@pytest.mark.parametrize("revision", ["no-such", "", "../..", "a b"])
def test_a_revision_that_there_is_not_is_refused(served, revision):
    with pytest.raises(bv.CheckpointError, match=r"no such revision|what answers there"):
        bv.load_model(MODEL, revision=revision)
    with pytest.raises(bv.CheckpointError, match="is here as files, of which there is no revision"):
        bv.load_model(revision=revision)


def test_a_revision_is_a_text():
    with pytest.raises(bv.ArgumentError, match="A revision must be a text"):
        bv.load_model(MODEL, revision=7)


def test_a_cached_model_asks_nothing(served):
    bv.load_model(MODEL)
    asked = len(served.requests)
    bv.load_model(MODEL)
    assert len(served.requests) == asked


def test_a_model_in_several_files(served, checkpoint):
    assert len(shard(served.folder)) > 2
    assert same(bv.load_model(MODEL), bv.load_model(checkpoint))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("trouble", "text"),
    [
        ((401, "RepoNotFound"), "no public model 'tester/tiny'"),
        ((404, "RepoNotFound"), "Check the spelling"),
        ((403, "GatedRepo"), "granted access"),
        ((403, ""), "hf auth login"),
        ((401, ""), "hf auth login"),
        ((429, ""), "answered 429"),
        ((503, ""), "Try again later"),
        ((200, "not a hub"), "what answers there is not the Hugging Face hub"),
        ("silent", "has sent nothing for 2 seconds"),
        ("silent files", "has sent nothing for 2 seconds"),
    ],
    ids=str,
)
def test_trouble_is_told_at_once_and_the_next_attempt_works(served, trouble, text):
    served.trouble = trouble
    assert text in refusal()
    served.trouble = ""
    assert bv.load_model(MODEL).revision == COMMIT


def test_a_connection_that_breaks_once_is_taken_up_where_it_was(served, checkpoint):
    served.trouble = "cut once"
    assert same(bv.load_model(MODEL), bv.load_model(checkpoint))
    assert any(request.startswith("resumed at") for request in served.requests)


@pytest.mark.rare
def test_a_download_that_is_given_up_leaves_nothing_behind(served, checkpoint):
    served.trouble = "cut"
    assert "Check the network" in refusal()
    assert not list(Path(constants.HF_HUB_CACHE).rglob("*.incomplete"))
    served.trouble = ""
    assert same(bv.load_model(MODEL), bv.load_model(checkpoint))


def test_a_hub_that_dies_in_the_middle_of_a_file(served):
    served.trouble = "cut"
    dying = threading.Thread(target=lambda: (wait_for(served, "GET", "model.safetensors"), served.stop()))
    dying.start()
    assert "network" in refusal()
    dying.join()


def wait_for(server, method, ending):
    while not any(request.startswith(method) and request.endswith(ending) for request in server.requests):
        time.sleep(0.01)


@pytest.mark.rare
def test_a_slow_line_is_not_a_dead_one(served, checkpoint):
    served.trouble = "drip"
    start = time.monotonic()
    assert same(bv.load_model(MODEL), bv.load_model(checkpoint))
    assert time.monotonic() - start > 2 * hub.SILENCE_S


def test_two_at_once(served):
    loaded = []
    threads = [threading.Thread(target=lambda: loaded.append(bv.load_model(MODEL))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert same(*loaded)


def test_connection_refused(served):
    served.stop()
    text = refusal()
    assert "could not be reached (ConnectError)" in text
    assert "bundled model" in text


def test_offline_by_setting(served, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert "HF_HUB_OFFLINE" in refusal()
    assert served.requests == []


def test_a_cache_that_cannot_be_written(served, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "file"))
    assert "could not be stored" in refusal()


def test_a_download_process_that_crashes(served, tmp_path, monkeypatch):
    script = tmp_path / "crash.py"
    script.write_text("raise SystemExit(3)")
    monkeypatch.setattr(hub, "_DOWNLOAD", script)
    assert "broke off (exit code 3)" in refusal()


@pytest.mark.parametrize(
    ("gone", "text"),
    [
        (["*.safetensors"], "no safetensors file"),
        (["config.json"], "has no config.json"),
        (["tokenizer.json", "vocab.txt"], "has no tokenizer.json or vocab.txt"),
    ],
    ids=str,
)
def test_a_repository_that_lacks_a_file_is_refused_before_anything_is_fetched(served, gone, text):
    for pattern in gone:
        for file in served.folder.glob(pattern):
            file.unlink()
    assert text in refusal()
    assert not any("resolve" in request for request in served.requests)


def test_a_model_above_the_limit_is_refused_before_anything_is_fetched(served):
    served.sizes["model.safetensors"] = 3_400_000_000
    assert "is 3.4 GB; the limit here is 3.0 GB" in refusal()
    assert not any("resolve" in request for request in served.requests)


def test_the_limit_can_be_set(served, monkeypatch):
    monkeypatch.setenv("BERTVIZ_MAX_MODEL_GB", "0.00001")
    assert "the limit here is 0.0 GB" in refusal() and not any("resolve" in request for request in served.requests)
    monkeypatch.setenv("BERTVIZ_MAX_MODEL_GB", "many")
    assert "BERTVIZ_MAX_MODEL_GB is 'many', but takes a positive number" in refusal()


def test_who_sends_without_an_end_is_not_listened_to_for_long(served, monkeypatch):
    """Sizes are announced; what was sent filled the disk, whatever had been announced."""
    monkeypatch.setenv("BERTVIZ_MAX_MODEL_GB", "0.002")
    served.trouble = "endless"
    assert "more than was announced" in refusal()
    assert not list(Path(constants.HF_HUB_CACHE).rglob("*.incomplete"))
    served.trouble = ""
    assert bv.load_model(MODEL).revision == COMMIT


@pytest.mark.rare
def test_who_waits_for_a_download_may_leave_and_it_goes_on(served, checkpoint):
    """A page that waited for one could not be left until it had ended."""

    class LeftError(Exception):
        pass

    def leave():
        if any(request.startswith("GET") and request.endswith("model.safetensors") for request in served.requests):
            raise LeftError

    shelf = ModelShelf()
    served.trouble = "drip"
    with pytest.raises(LeftError):
        shelf.get(MODEL, leave)
    assert shelf.find(MODEL) is None
    assert same(shelf.get(MODEL), bv.load_model(checkpoint))
    assert sum(request.startswith("GET") and "safetensors" in request for request in served.requests) == 1


def test_files_that_are_not_fetched_do_not_count_towards_the_limit(served):
    served.sizes["pytorch_model.bin"] = served.sizes["model.fp16.safetensors"] = 9_000_000_000
    assert bv.load_model(MODEL).revision == COMMIT


@pytest.mark.parametrize("lost", ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"])
def test_half_a_snapshot_is_not_taken_for_a_whole_one(served, lost):
    bv.load_model(MODEL)
    (snapshot() / lost).unlink()
    with_hub, served.trouble = served.trouble, (503, "")
    assert "answered 503" in refusal()
    served.trouble = with_hub
    assert bv.load_model(MODEL).revision == COMMIT
    assert (snapshot() / lost).is_file()


def test_half_of_the_shards_are_not_taken_for_all(served):
    shards = shard(served.folder)
    whole = bv.load_model(MODEL)
    for lost in shards[1::2]:
        (snapshot() / lost).unlink()
    served.trouble = (503, "")
    assert "answered 503" in refusal()
    served.trouble = ""
    assert same(bv.load_model(MODEL), whole)


def test_half_a_snapshot_made_by_another_program(served, checkpoint):
    """Without the listing of the repository that our own download leaves beside it."""
    snapshot().mkdir(parents=True)
    refs = snapshot().parents[1] / "refs"
    refs.mkdir()
    (refs / "main").write_text(COMMIT)
    for file in ("config.json", "vocab.txt"):
        shutil.copy(checkpoint / file, snapshot())
    served.trouble = (503, "")
    assert "answered 503" in refusal()
    served.trouble = ""
    assert same(bv.load_model(MODEL), bv.load_model(checkpoint))
