"""The recipe of the bundled checkpoint, end to end on a small corpus: it learns, and a kill leaves no trace."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import bertviz_core as bv
from bertviz_core.programs.bert import MLM, NEXT_SENTENCE, POOLER
from tests.recipe import FACTS, STEPS, command, make_ground, steps_logged, weights, write_start
from training.__main__ import main
from training.corpus import read_documents
from training.examples import make_examples
from training.log import Pacer
from training.model import digest_file
from training.relations import make_questions, read_relations
from training.run import LOG, MODEL, STATE, Data
from training.settings import Settings
from training.vocabulary import read_vocabulary

pytestmark = pytest.mark.rare  # of scripts that are run for a new bundled model only

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def ground(tmp_path_factory):
    return make_ground(tmp_path_factory.mktemp("training"))


def test_the_loss_falls(ground):
    log = [json.loads(line) for line in (ground / "whole" / LOG).read_text(encoding="utf-8").splitlines()]
    assert [entry["step"] for entry in log] == list(range(1, STEPS + 1))
    assert [entry["kind"] for entry in log[:4]] == ["singles", "pairs", "singles", "pairs"]
    for kind in ("singles", "pairs"):
        losses = [entry["loss"] for entry in log if entry["kind"] == kind]
        assert sum(losses[-10:]) < 0.6 * sum(losses[:10])
    assert all("next" in entry for entry in log if entry["kind"] == "pairs")


def test_the_app_loads_what_comes_out(ground):
    model = bv.load_model(ground / "whole" / MODEL)
    assert set(model.heads) == {MLM, POOLER, NEXT_SENTENCE}
    assert model.unused == ()
    stored = load_file(ground / "whole" / MODEL / "model.safetensors")
    assert {tensor.dtype for tensor in stored.values()} == {torch.float16}
    begun, made = (json.loads((ground / name / "config.json").read_text()) for name in ("start", f"whole/{MODEL}"))
    assert made["hidden_dropout_prob"] == begun["hidden_dropout_prob"] > 0


def test_killed_and_started_again_it_ends_at_the_same_weights(ground):
    out = ground / "killed"
    run = subprocess.Popen(
        [sys.executable, "-m", "training", *command(ground, out)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + 60
        while steps_logged(out) < 50:  # past two kept places, and between two
            assert run.poll() is None and time.monotonic() < end
            time.sleep(0.002)
    finally:
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
    assert run.returncode == -signal.SIGKILL
    assert not (out / MODEL).exists() and (out / STATE).exists()
    (out / f"{STATE}.tmp").write_bytes(b"half")  # as a kill while a place is being kept leaves it
    assert main(command(ground, out, "--minutes", 1e-4)) == 3  # out of time: the place is kept, wherever it is
    assert steps_logged(out) < STEPS
    assert main(command(ground, out)) == 0
    assert steps_logged(out) == STEPS
    assert weights(out) == weights(ground / "whole")
    ended, whole = (load_file(each / STATE) for each in (out, ground / "whole"))
    assert ended.keys() == whole.keys() and all(torch.equal(ended[name], whole[name]) for name in whole)


def test_who_draws_the_batches_changes_nothing(ground):
    alone, ahead = ground / "alone", ground / "ahead"
    assert (
        main(command(ground, alone, "--until", 20)) == main(command(ground, ahead, "--until", 20, "--workers", 2)) == 3
    )
    one, other = (load_file(each / STATE) for each in (alone, ahead))
    assert one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def test_an_accelerator_that_is_not_there_is_refused(ground, capsys, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert main(command(ground, ground / "nowhere", "--device", "cuda")) == 2
    assert "no such accelerator" in capsys.readouterr().err
    assert not (ground / "nowhere").exists()


def test_another_seed_draws_other_batches(ground):
    out = ground / "other"
    assert main(command(ground, out, "--seed", 1, "--minutes", 1e-4)) == 3
    first, other = (json.loads((each / LOG).read_text().splitlines()[0]) for each in (ground / "whole", out))
    assert first["step"] == other["step"] == 1 and first["loss"] != other["loss"]


@pytest.mark.parametrize(
    ("option", "value"), [("--steps", 161), ("--seed", 1), ("--rate", 1e-3), ("--threads", 2), ("--split", 7)]
)
def test_it_does_not_go_on_with_other_settings(ground, capsys, option, value):
    assert main(command(ground, ground / "whole", option, value)) == 2
    said = capsys.readouterr().err
    assert f"{option} was" in said and f"now {value}" in said and "--out" in said


def test_a_run_may_be_made_shorter_on_the_way(ground, capsys):
    """And it can be made again from its record: by the first pace up to the step that stands there, then the second."""
    out, again = ground / "shorter", ground / "shorter again"
    assert main(command(ground, out, "--until", 30)) == 3
    assert steps_logged(out) == 30
    shorter = ("--steps", 60, "--repace")
    assert main(command(ground, out, *shorter, "--until", 45)) == 3
    assert main(command(ground, out, *shorter)) == 0
    record = json.loads((out / MODEL / "training.json").read_text())
    assert record["steps"] == steps_logged(out) == 60
    assert record["earlier"] == [{"steps": STEPS, "threads": 1, "until": 30}]
    log, whole = (
        [json.loads(line) for line in (each / LOG).read_text().splitlines()] for each in (out, ground / "whole")
    )
    assert log[29]["rate"] == whole[29]["rate"] and log[30]["rate"] < whole[30]["rate"] and log[-1]["rate"] > 0
    assert main(command(ground, again, "--until", 30)) == 3
    assert main(command(ground, again, *shorter)) == 0
    assert weights(again) == weights(out)
    assert main(command(ground, out, "--steps", 50, "--repace")) == 2
    assert "has done 60 already" in capsys.readouterr().err


def test_a_run_is_through_in_time_and_is_made_again_from_its_record(ground, tmp_path):
    out, again = tmp_path / "timed", tmp_path / "again"
    assert main(command(ground, out, "--save-every", 5, "--within", 1e-9)) == 0  # all time is over at once
    record = json.loads((out / MODEL / "training.json").read_text())
    assert record["steps"] == steps_logged(out) == 11  # one more than those in which the heads alone learn
    assert record["earlier"] == [{"steps": STEPS, "threads": 1, "until": 5}]
    for pace in record["earlier"]:
        words = ("--steps", pace["steps"], "--repace", "--until", pace["until"])
        assert main(command(ground, again, *words)) == 3
    assert main(command(ground, again, "--steps", record["steps"], "--repace")) == 0
    assert weights(again) == weights(out)
    assert json.loads((again / MODEL / "training.json").read_text()) == record


def test_a_run_goes_by_the_clock():
    pacer = Pacer(end=100.0, step=10, now=0.0)
    assert pacer.pace(20, 20.0) == 20 + 40  # half a step a second for 80 s
    assert pacer.pace(50, 60.0) == 50 + 30  # by the speed since then alone
    assert pacer.pace(60, 200.0) == 61  # too late: the next is the last


def test_it_does_not_go_on_with_another_corpus(ground, capsys, tmp_path):
    (tmp_path / "corpus.txt").write_text((ground / "corpus.txt").read_text() + "\na cat sat.\n", encoding="utf-8")
    words = command(ground, ground / "whole")
    words[1] = str(tmp_path / "corpus.txt")
    assert main(words) == 2
    assert "--corpus was" in capsys.readouterr().err


@pytest.mark.parametrize("damage", ["cut", "one bit", "empty"])
def test_a_damaged_place_is_not_gone_on_from(ground, tmp_path, capsys, damage):
    data = bytearray((ground / "whole" / STATE).read_bytes())
    data[-100] ^= 1
    (tmp_path / STATE).write_bytes({"cut": data[: len(data) // 2], "one bit": data, "empty": b""}[damage])
    assert main(command(ground, tmp_path)) == 2
    said = capsys.readouterr().err
    assert STATE in said and "damaged" in said and "delete it" in said


def test_it_does_not_go_on_with_other_facts(ground, capsys, tmp_path):
    (tmp_path / "words.txt").write_text(FACTS.replace("day | night", "night | day"), encoding="utf-8")
    assert main(command(ground, ground / "whole", "--facts", tmp_path)) == 2
    assert "--facts was" in capsys.readouterr().err


def test_a_sitting_begins_where_the_one_before_ended_and_its_record_tells_of_it(ground, tmp_path):
    """Its text too goes on: with --skip the first batch is the one that the other run would have read next."""
    first = ground / "whole" / MODEL
    words = command(ground, tmp_path, "--start", first, "--steps", 12, "--frozen-steps", 0, "--skip", 4 + STEPS)
    assert main(words) == 0
    record, before = (json.loads((each / "training.json").read_text()) for each in (tmp_path / MODEL, first))
    assert before["before"] == []
    assert record["before"] == [{name: value for name, value in before.items() if name != "before"}]
    assert record["start"] == digest_file(first / "model.safetensors")
    settings = Settings(steps=400, singles=16, pairs=8, pair_length=40, bucket=3)
    vocabulary = read_vocabulary(ground / "start")
    examples = make_examples(read_documents(ground / "corpus.txt"), vocabulary, 40)
    questions = make_questions(read_relations(ground / "facts"), vocabulary)
    whole, later = (Data(examples, questions, vocabulary, replace(settings, skip=skip)) for skip in (0, 151))
    for step in range(4):
        (kind, batch), (other, again) = whole.draw(151 + step), later.draw(step)
        assert kind == other and torch.equal(batch.ids, again.ids)


def test_two_runs_do_not_share_a_folder(ground, tmp_path, capsys):
    with (tmp_path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert main(command(ground, tmp_path)) == 2
    assert "Another run is at work" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--steps", "0"), "--steps is 0; it must be 1 or more"),
        (("--gloss-share", "1.5"), "--gloss-share is 1.5; it must be from 0 to 1"),
        (("--rate", "nan"), "--rate is nan"),
        (("--frozen-steps", "500"), "less than --steps"),
        (("--pair-length", "400"), "64 tokens at most"),
        (("--held-out", "1000000"), "Give a larger corpus"),
        (("--rate", "1e30", "--head-rate", "1e30", "--warm-up", "0"), "Begin anew with a lower --rate"),
    ],
)
def test_what_cannot_be_done_is_said(ground, tmp_path, capsys, words, said):
    assert main(command(ground, tmp_path / "out", *words)) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("which", ["corpus", "start", "weights"])
def test_a_file_that_cannot_be_read_is_named(ground, tmp_path, capsys, which):
    (tmp_path / "corpus.txt").write_bytes(b"\xff\xfe\xfa" if which == "corpus" else b"a cat sat.\n")
    start = write_start(tmp_path / "start") if which == "weights" else ground / "start"
    if which == "weights":
        (start / "model.safetensors").write_bytes(b"nothing")
    if which == "start":
        start = tmp_path / "nowhere"
    status = main(["run", str(tmp_path / "corpus.txt"), "--start", str(start), "--out", str(tmp_path / "out")])
    assert status == 2
    assert {"corpus": "corpus.txt", "start": "nowhere", "weights": "start"}[which] in capsys.readouterr().err
