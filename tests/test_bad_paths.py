"""Paths typed as a model's name: the answer tells nothing about what lies there."""

from huggingface_hub import constants

from tests.factory import random_checkpoint
from tests.test_bad_checkpoints import WEIGHTS, refusal


def test_who_asks_about_a_path_learns_nothing_about_what_lies_there(tmp_path):
    folder = random_checkpoint(tmp_path / "model")
    (tmp_path / "empty").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    paths = [
        folder / WEIGHTS,
        folder / "config.json",
        tmp_path / "empty",
        tmp_path / "nowhere",
        tmp_path / "loop",
        folder / WEIGHTS / "inside",
        tmp_path,
        folder / "config.json" / "..",
    ]
    assert len({refusal(path).replace(repr(str(path)), "PATH") for path in paths}) == 1
    assert str(tmp_path) not in refusal("x" * 130 + str(tmp_path))


def test_names_that_could_be_on_the_hub_are_asked_for_there_whatever_lies_here(tmp_path, monkeypatch):
    (tmp_path / "here-it-is").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    assert len({refusal(name).replace(name, "NAME") for name in ("here-it-is", "not-at-all")}) == 1
