"""Exports of a pass whose words, changes and names were written to break them: they stay one program, and it runs."""

import ast
import json
import shutil

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.tracing.changes import list_changes, read_changes
from bertviz_core.tracing.planning import check_changes
from tests.factory import VOCABULARY, random_checkpoint
from tests.test_notebook_export import source
from tests.test_script import executed

BREAKS = ("\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029")
PLANTED = "raise SystemExit"
TEXTS = (
    *(f"the{line}{PLANTED}{line}cat" for line in BREAKS), "'''the\"\"\" \\", "\\' + x", "\\N{BULLET} \\u000a",
    "{the} %s", "\0the", "`the` $x$ <b>", "\u202ethe",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A checkpoint whose words are lines of code."""
    folder = random_checkpoint(tmp_path_factory.mktemp("exports"))
    (folder / "vocab.txt").unlink()
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    words = {"rome": f"\n{PLANTED}\n", "do": "'''\"\"\"\\", "as": "\u2028\x0c\x85\r"}
    assert words.keys() <= set(VOCABULARY)
    vocabulary = tokenizer["model"]["vocab"]
    tokenizer["model"]["vocab"] = {words.get(word, word): place for word, place in vocabulary.items()}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    return folder


def check(trace, folder, run=False):
    """That both exports compile and hold no statement but those of a harmless pass."""
    script, notebook = bv.write_script(trace), source(json.loads(bv.write_ipynb(trace)))
    for code in (script, notebook):
        compile(code, "export", "exec")
        assert not any(isinstance(node, ast.Raise) for node in ast.walk(ast.parse(code)))
        assert "\0" not in code
    if run:
        known = executed(bv.write_script(trace, str(folder / "model.safetensors")))
        last = trace.program.steps[-1]
        np.testing.assert_allclose(known[last.output.variable].numpy(), trace[last.address], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_no_text_becomes_code(folder, text):
    check(bv.run(bv.load_model(folder), text, text), folder)


def test_no_word_of_a_vocabulary_becomes_code(folder):
    model = bv.load_model(folder)
    ids = [model.tokenizer.vocabulary.index(word) for word in model.tokenizer.vocabulary if not word.isprintable()]
    trace = bv.run(model, "the cat sat", changes={f"input_ids[token={1 + i}]": row for i, row in enumerate(ids)})
    assert len(ids) == 2 and not set(trace.tokens) <= set(VOCABULARY)
    check(trace, folder, run=True)


@pytest.mark.parametrize("line", BREAKS, ids=ascii)
def test_no_change_of_a_link_becomes_code(folder, line):
    """Space is allowed around the parts of an address, and some spaces break lines."""
    address = f"embeddings.sum[token=1,{line}hidden=2]"
    model = bv.load_model(folder)
    plain = bv.run(model, "the cat")
    for changes in ({address: 1.0}, check_changes(plain.layout, plain.encoding, read_changes(f"{address}:1"))[0]):
        trace = plain.with_changes(changes)
        assert list_changes(trace.changes) == ["embeddings.sum[token=1,hidden=2]:1"]
        check(trace, folder, run=line == "\n")


@pytest.mark.parametrize("word", ["\n1e-5", "1e-5\u2028", "1e-5\n" + PLANTED, "١", "1_0", " 1"], ids=ascii)
def test_no_rule_of_a_link_becomes_code(folder, word):
    with pytest.raises(bv.InputError, match="epsilon must be a number above 0"):
        bv.run(bv.load_model(folder), "the", changes={"embeddings.LayerNorm.normalized": f"epsilon={word}"})


def test_no_address_that_cannot_be_read_travels_on(folder):
    plain = bv.run(bv.load_model(folder), "the cat")
    asked = read_changes(f"embeddings.sum\n{PLANTED}:1~embeddings.sum[token=1\n{PLANTED}]:1~embeddings.sum:0")
    good, wrong = check_changes(plain.layout, plain.encoding, asked)
    assert list(map(str, good)) == ["embeddings.sum"] and len(wrong) == 2


@pytest.mark.parametrize("name", [f"a\n{PLANTED}", "it's \"'''\"", "back\\slash\\", "new\u2028line\x0cx"], ids=ascii)
def test_no_name_of_a_model_becomes_code(folder, tmp_path, name):
    odd = shutil.copytree(folder, tmp_path / name)
    trace = bv.run(bv.load_model(odd), "the cat")
    check(trace, odd, run=True)
    code = source(json.loads(bv.write_ipynb(trace)))
    assert repr(str(odd)) in code
