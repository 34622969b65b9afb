"""What the recipe says of a model on held-out text, prompts and facts, and what it refuses to measure."""

import json

import pytest

from tests.factory import random_checkpoint
from tests.recipe import command, make_ground
from training.__main__ import main
from training.run import MODEL

pytestmark = pytest.mark.rare  # of scripts that are run for a new bundled model only


@pytest.fixture(scope="module")
def ground(tmp_path_factory):
    return make_ground(tmp_path_factory.mktemp("training"))


def evaluate(ground, capsys, *words):
    prompts = ground / "prompts.txt"
    prompts.write_text("# where\nthe cat sat by the [MASK]. | mat\nthe bird sat by the [MASK]. | tree\n")
    status = main(
        ["evaluate", *map(str, words), str(ground / "corpus.txt"), "--prompts", str(prompts), "--pair-length", "40"]
    )
    return status, capsys.readouterr()


def test_the_evaluation_shows_old_and_new_side_by_side(ground, capsys):
    new, old = ground / "whole" / MODEL, ground / "start"
    status, said = evaluate(ground, capsys, "--held-out", 5, "--against", old, new)
    assert status == 0
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in said.out.splitlines() if line]
    assert rows[0] == ["held-out documents", "cases", "start", MODEL, "difference"]
    table = {row[0]: row[1:] for row in rows}
    for name in ("singles", "pairs", "singles, [MASK] alone", "source: stories", "source: other"):
        _, before, after, change = table[f"masked pieces right, {name}"]
        before, after = (float(share.removesuffix(" %")) for share in (before, after))
        assert after > before + 20 and abs(float(change) - (after - before)) < 0.11
    assert float(table["loss, singles"][2]) < float(table["loss, singles"][1])
    by_source = [int(row[0]) for name, row in table.items() if name.startswith("next sentence right, source: ")]
    assert sum(by_source) == int(table["next sentence right"][0]) > 0 and len(by_source) >= 2
    assert table["prompts answered first"][0] == "2"
    assert table["the cat sat by the [MASK]."][0] == "mat"
    kinds = [int(table[f"masked pieces right, source: stories, {kind}"][0]) for kind in ("singles", "pairs")]
    assert sum(kinds) == int(table["masked pieces right, source: stories"][0].replace(",", ""))
    for name in ("singles", "pairs"):
        cases = [table[f"{what}, {name}, [MASK] alone"][0] for what in ("first word copied", "right word a copy")]
        assert cases == [table[f"masked pieces right, {name}, [MASK] alone"][0]] * 2
    assert evaluate(ground, capsys, "--held-out", 5, "--against", old, new)[1].out == said.out


def test_the_evaluation_asks_the_facts(ground, capsys):
    new, old = ground / "whole" / MODEL, ground / "start"
    status, said = evaluate(ground, capsys, "--held-out", 5, "--against", old, new, "--facts", ground / "facts")
    assert status == 0
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in said.out.splitlines()]
    table = {row[0]: row[1:] for row in rows if row[0].startswith("facts ")}
    assert table["facts trained, sentences held out: first"][0] == "2"
    assert table["facts trained, sentences held out: first, opposite"][0] == "2"
    assert table["facts held out, sentences trained: in the first 5"][0] == "1"
    assert table["facts held out, sentences held out: first"][0] == "1"
    _, before, after, _ = table["facts trained, sentences held out: in the first 5"]
    assert (before, after) == ("0.0 %", "100.0 %")


def test_a_model_is_not_measured_on_what_it_was_trained_on(ground, capsys):
    status, said = evaluate(ground, capsys, "--held-out", 6, ground / "whole" / MODEL)
    assert status == 2 and "--split 0 --held-out 5" in said.err


@pytest.mark.parametrize(
    ("words", "said"),
    [(("--held-out", 0), "--held-out is 0"), (("--threads", 0), "--threads is 0"),
     (("--held-out", 5, "--pair-length", 100), "64 tokens at most"),
     (("--held-out", 5, "--pair-length", 40, "--prompts", "/nowhere"), "/nowhere")],
)  # fmt: skip
def test_what_cannot_be_measured_is_said(ground, capsys, words, said):
    assert main(["evaluate", str(ground / "start"), str(ground / "corpus.txt"), *map(str, words)]) == 2
    assert said in capsys.readouterr().err


def test_a_model_without_its_heads_is_trained_and_not_measured(ground, tmp_path, capsys):
    random_checkpoint(tmp_path / "base", kind="base-without-pooler")
    for file in ("vocab.txt", "tokenizer.json"):
        (tmp_path / "base" / file).write_bytes((ground / "start" / file).read_bytes())
    status, said = evaluate(ground, capsys, "--held-out", 5, tmp_path / "base")
    assert status == 2 and "lacks bert.pooler" in said.err
    words = [*command(ground, tmp_path / "out", "--steps", 12), "--start", str(tmp_path / "base")]
    assert main(words) == 0
    record = json.loads((tmp_path / "out" / MODEL / "training.json").read_text())
    assert any(name.startswith("cls.predictions") for name in record["made_anew"])
