"""The notebook's printed numbers: whole, consistent with each other, and compared digit by digit with a model's own."""

import hashlib
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest
from torch.nn.functional import gelu, layer_norm
from transformers import BertForPreTraining

import bertviz_core as bv
from bertviz_core.analysis import facts, notebook
from bertviz_core.analysis.printed import Verdict, find_resolution, judge_print
from bertviz_core.documents import printed as data
from bertviz_core.documents.printed import (
    FACTS,
    INPUT_IDS,
    NOTE_SIZES,
    OTHERS,
    SENTENCE,
    TENSORS,
    Fact,
    PrintedTensor,
)
from bertviz_core.programs.config import BertConfig
from bertviz_core.ui.frame.site import find_page
from bertviz_core.ui.views import notebook as page
from bertviz_core.ui.views import notebook_cells
from bertviz_core.ui.views.notebook_facts import _tell_list
from tests.factory import random_checkpoint

pytestmark = pytest.mark.xdist_group("base_sized")  # most of them, and the others are quick
APP = str(Path(__file__).parent.parent / "app.py")
BY_CELL = {printed.cell: printed for printed in TENSORS}
NUMBER = r"-?\d+\.\d+(?:e[-+]\d+)?"


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("0.0136", 0.013649, Verdict.SAME),
        ("-0.0265", -0.02654, Verdict.SAME),
        ("0.0136", 0.01366, Verdict.NEAR),
        ("-9.99e-01", -0.9999976, Verdict.NEAR),
        ("0.0136", 0.013551, Verdict.SAME),
        ("0.0136", 0.013549, Verdict.NEAR),
        ("0.0136", 0.013449, Verdict.DIFFERS),
        ("72.40e-06", 2.4001e-06, Verdict.DIFFERS),
        ("-2.6957e-03", -0.00269574, Verdict.SAME),
        ("1.00e+00", 1.0, Verdict.SAME),
        ("0.0000", float("nan"), Verdict.DIFFERS),
        ("0.0000", float("inf"), Verdict.DIFFERS),
    ],
)
def test_a_verdict_is_within_the_printed_digits(text, value, expected):
    assert judge_print(text, value) is expected


def test_the_last_digit_has_a_size():
    assert [find_resolution(text) for text in ("-0.0265", "72.40e-06", "1.00e+00")] == [1e-4, 1e-8, 1e-2]


def test_every_tensor_is_whole():
    assert [printed.cell for printed in TENSORS] == ["14", "27", "30", "43", "49", "51", "57", "59", "61"]
    for printed in TENSORS:
        assert [len(row) for row in printed.digits] == [6] * 6
        for text in sum(printed.digits, ()):
            assert re.fullmatch(r"-?\d\.\d{4}(e-\d\d)?", text), (printed.cell, text)
        program = notebook_cells.write_program()
        assert program.by_address[printed.address].dims[0] == "token"
        assert find_page(program.stages[printed.address])


def test_every_digit_is_that_of_the_text():
    """The digest was made of the text itself: of the three numbers on each side of "..." in its rows."""
    rows = [" ".join(row) for printed in TENSORS for row in printed.digits]
    assert hashlib.sha256("\n".join(rows).encode()).hexdigest()[:16] == "d5b7c58aa5fc8cb0"


def test_the_names_that_are_printed_are_listed_to_the_last_whole_one():
    """Five of the embeddings, and of the first layer as many as fit before the print breaks off."""
    layer = [
        f"bert.encoder.layer.0.{module}.{leaf}"
        for module in (
            "attention.self.query",
            "attention.self.key",
            "attention.self.value",
            "attention.output.dense",
            "attention.output.LayerNorm",
            "intermediate.dense",
            "output.dense",
            "output.LayerNorm",
        )
        for leaf in ("weight", "bias")
    ]
    names = next(fact.printed for fact in FACTS if fact.cell == "8").split()
    assert len(names) == 20 and names[-1] == "bert.encoder.layer.0.output.LayerNorm.weight"
    assert names[5:] == layer[:-1] and all(name.startswith("bert.embeddings.") for name in names[:5])


def test_what_is_printed_after_gelu_is_gelu_of_what_is_printed_before():
    inputs, outputs = BY_CELL["49"], BY_CELL["51"]
    assert notebook.find_followers(inputs, outputs).all()
    x = torch.tensor(notebook.read_printed(inputs))
    np.testing.assert_allclose(notebook.compute_gelu(x.numpy()), gelu(x), atol=1e-14)
    wrong = outputs.text.replace("-2.6957e-03", "-2.6967e-03")
    found = notebook.find_followers(inputs, PrintedTensor("51", outputs.address, "", wrong))
    assert not found[0, 0] and found.sum() == 35


@pytest.fixture(scope="module")
def reprinted(base_sized):
    """The notebook's tensors as it would print them of another checkpoint: Hugging Face's numbers, PyTorch's print."""
    model = BertForPreTraining.from_pretrained(base_sized, attn_implementation="eager").eval()
    bert, found = model.bert, {}
    first, transform = bert.encoder.layer[0], model.cls.predictions.transform
    watched = {
        "14": bert.embeddings.word_embeddings,
        "30": bert.embeddings,
        "43": first.attention.output.dense,
        "57": bert.encoder.layer[11],
        "59": transform.dense,
        "61": transform,
    }
    for cell, module in watched.items():
        module.register_forward_hook(lambda m, i, out, cell=cell: found.update({cell: plain(out)}))
    bert.embeddings.LayerNorm.register_forward_hook(lambda m, given, out: found.update({"27": given[0]}))
    with torch.inference_mode():
        model(torch.tensor([INPUT_IDS]))
        norm = first.attention.output.LayerNorm
        normed = layer_norm(found["43"] + found["30"], [768], norm.weight, norm.bias)  # the notebook's slip: 1e-5
        found["49"] = first.intermediate.dense(normed)
        found["51"] = gelu(found["49"])
    return tuple(
        PrintedTensor(p.cell, p.address, p.what, as_printed(found[p.cell]), p.epsilon, p.remark) for p in TENSORS
    )


@pytest.fixture(scope="module")
def trace(base_sized):
    return bv.run(bv.load_model(base_sized), SENTENCE)


def plain(out):
    return out[0] if isinstance(out, tuple) else out


def as_printed(tensor):
    torch.set_printoptions(profile="default")  # as in the notebook, whatever was set before
    numbers = re.findall(NUMBER, str(tensor))
    assert len(numbers) == 36
    return "\n".join(" ".join(numbers[i : i + 6]) for i in range(0, 36, 6))


def opened(monkeypatch, model, printed=TENSORS, **query):
    monkeypatch.setenv("BERTVIZ_MODELS", str(model))
    for part in (page, notebook_cells):
        monkeypatch.setattr(part, "TENSORS", printed)
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update(query)
    at.run()
    at.switch_page("pages/notebook.py").run()
    assert not at.exception and not at.error
    return at


def captions(at):
    return " ".join(caption.value for caption in at.caption).replace("\\", "")


def test_the_numbers_of_the_loaded_model_are_recognized(trace, reprinted):
    assert notebook.is_base(trace.model.config) and notebook.is_sentence(trace)
    count = Counter()
    for printed in reprinted:
        comparison = notebook.compare_printed(trace, printed)
        count.update(kind for row in comparison.verdicts for kind in row)
        assert comparison.count(Verdict.DIFFERS) == 0, printed.cell
        assert comparison.largest < 1e-4
    assert count.total() == 324 and count[Verdict.SAME] > 300


def test_the_epsilon_of_cell_46_is_told_apart(trace, reprinted):
    before = next(printed for printed in reprinted if printed.cell == "49")
    theirs = notebook.compare_printed(trace, before).values
    ours = notebook.take_printed(trace[before.address])
    assert 1e-6 < np.abs(theirs - ours).max() < 1e-2
    assert np.abs(notebook.read_printed(before) - theirs).max() <= 0.51e-4


def test_the_page_compares_with_base_sizes_and_the_sentence(base_sized, reprinted, monkeypatch):
    at = opened(monkeypatch, base_sized, reprinted, text=SENTENCE, cell="57")
    assert "Of 324 printed numbers" in at.success[0].value and not at.warning
    cells = len(reprinted)
    assert at.title[0].value.endswith(f"**324** numbers in {cells} cells, **{cells}** of these beside ours")
    table = next(e.proto.body for e in at.get("html") if 'aria-label="Table by hidden"' in e.proto.body)
    digits = next(printed for printed in reprinted if printed.cell == "57").digits
    assert all(text.replace("-", "−") in table for row in digits for text in row)
    ours = at.session_state["view"].trace["encoder.layer.11.output.LayerNorm"]
    for value in ours[np.ix_(data.ROWS, data.COLUMNS)].ravel():
        assert f"{value:.6f}".replace("-", "−") in table


def test_a_wrong_digit_is_pointed_out(base_sized, reprinted, monkeypatch):
    first = reprinted[0].digits[0][0]
    wrong = first[:-2] + str((int(first[-2]) + 5) % 10) + first[-1]
    changed = PrintedTensor("14", reprinted[0].address, "", reprinted[0].text.replace(first, wrong, 1))
    at = opened(monkeypatch, base_sized, (changed, *reprinted[1:]), text=SENTENCE)
    assert "1 differs" in at.warning[0].value and not at.success
    table = next(e.proto.body for e in at.get("html") if 'aria-label="Table by hidden"' in e.proto.body)
    assert table.count("bv-chosen") == 1 and table.count("✗") == 1


def test_the_notebooks_own_numbers_are_not_those_of_a_random_model(base_sized, monkeypatch):
    at = opened(monkeypatch, base_sized, text=SENTENCE)
    assert "these are other weights" in at.warning[0].value


def test_another_sentence_is_replaced_by_a_button(base_sized, monkeypatch):
    at = opened(monkeypatch, base_sized, text="the cat sat", pad="16")
    assert "needs the sentence" in captions(at) and "the rest need the notebook’s sentence" in at.title[0].value
    assert not at.success
    at.button(key="notebook-sentence").click().run()
    assert at.session_state["text"] == SENTENCE and at.session_state["pad"] == "off"


@pytest.mark.parametrize("kind", ["pretraining", "base-without-pooler"])
def test_another_model_shows_the_printed_numbers_and_what_to_load(kind, tmp_path, monkeypatch):
    at = opened(monkeypatch, random_checkpoint(tmp_path, kind=kind), text=SENTENCE, cell="61")
    assert not at.info, "no box in Streamlit's blue"
    assert "bert-base-uncased" in captions(at) and "other models only" in captions(at)
    assert "**36** of 324 numbers follow from others printed; the rest need BERT-base" in at.title[0].value
    checks = next(e.proto.body for e in at.get("html") if "Checks of this page" in e.proto.body)
    assert ">36 of 36<" in checks and ">not yet<" in checks
    layout = json.loads(at.get("plotly_chart")[0].proto.spec)["layout"]
    written = [each["text"] for each in layout["annotations"] if each.get("yref") == "y"]
    assert written == [text.replace("-", "−") for row in BY_CELL["61"].digits for text in row]
    assert any("cls.predictions.transform.LayerNorm" in e.proto.body for e in at.get("html"))


def test_a_button_chooses_the_notebooks_model(monkeypatch):
    monkeypatch.delenv("BERTVIZ_MODELS", raising=False)
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params["text"] = "a cat"
    at.run()
    at.switch_page("pages/notebook.py").run()
    at.button(key="notebook-model").click()
    at.run()
    assert (at.session_state["model"], at.session_state["text"]) == (data.MODEL, SENTENCE)


STANDARD = BertConfig()


def test_every_size_and_setting_is_that_of_bert_base(trace):
    """Against a checkpoint of these sizes everything agrees but what only the true weights can say, and the slips."""
    found = [facts.check_fact(trace, fact) for fact in (*FACTS, *OTHERS)]
    other = {(one.fact.cell, one.fact.what) for one in found if one.ours is not None and not one.same}
    slips = {(fact.cell, fact.what) for fact in FACTS if fact.slip}
    assert other - slips == {("6", "class"), ("10", "config: architectures"), ("69", "the top predictions as one text")}
    assert slips <= other and len(slips) == 3
    unread = [one.fact.what.removeprefix("config: ") for one in found if one.ours is None]
    assert unread == [
        "dropout, after the embeddings and in attention: p",
        "dropout: inplace",
        "attention_probs_dropout_prob",
        "gradient_checkpointing",
        "hidden_dropout_prob",
        "initializer_range",
        "transformers_version",
        "use_cache",
    ]
    assert not any(hasattr(STANDARD, name) for name in unread)


def test_every_size_that_the_note_prints_is_here():
    """Read off the note line by line: each quantity with the size that stands behind it."""
    full = {
        "T": (512, 768),
        "X": (512, 768),
        "Q": (512, 64),
        "K": (512, 64),
        "V": (512, 64),
        "A": (512, 512),
        "Z_{h,l}": (512, 64),
        "Z̃, the concatenated heads": (512, 768),
        "Z̄": (512, 768),
        "Z^ffnn": (512, 3072),
        "Z^out": (512, 768),
        "Z_l": (512, 768),
    }
    parameters = {
        "W_P": (512, 768),
        "W^Q of one head": (768, 64),
        "W^K of one head": (768, 64),
        "W^V of one head": (768, 64),
        "W^ffnn": (768, 3072),
        "b^ffnn, a row": (1, 3072),
        "W^out": (3072, 768),
        "b^out, a row": (1, 768),
        "W^final": (768, 768),
    }
    found = {fact.what.removesuffix(", of a full input"): fact.printed for fact in NOTE_SIZES}
    for what, size in (full | parameters).items():
        assert found[what] == str(list(size)), what


def test_a_long_list_of_names_is_told_by_the_first_and_how_many_more_there_are():
    names = [f"encoder.layer.{i}.output.dense.weight" for i in range(9)]
    assert _tell_list(" ".join(names)) == f"{names[0]} and 8 more"
    assert _tell_list(" ".join(names[:1])) == names[0]


def test_every_detail_of_the_printed_model_is_here():
    """In [6], field by field as far as it is printed."""
    found = [(fact.what, fact.printed) for fact in FACTS if fact.cell == "6"]
    assert [printed for what, printed in found if what.startswith("padding_idx")] == ["0"]
    assert [printed for what, printed in found if what.endswith("eps")] == ["1e-12"] * 2
    assert [printed for what, printed in found if what.endswith(": bias")] == ["True"] * 4
    assert [printed for what, printed in found if "features" in what] == ["[768, 768]"] * 4
    assert {printed for what, printed in found if "affine" in what or "inplace" in what} == {"True", "False"}


def test_a_full_input_is_as_long_as_the_longest(bundled):
    trace = bv.run(bundled, "a cat")
    path = "encoder.layer.0.attention.self"
    sizes = {f"{path}.probs[head=0]": [512, 512], f"{path}.query[head=0]": [512, 32], "embeddings.sum": [512, 384]}
    for address, size in sizes.items():
        assert facts.check_fact(trace, Fact("000", "", "", f"full:{address}")).ours == str(size)
    assert facts.check_fact(trace, Fact("000", "", "", f"cut:{path}.query.weight")).ours == "[384, 32]"
    assert facts.check_fact(trace, Fact("6", "", "", f"learned:{path}.query.bias")).ours == "True"


def test_every_cell_with_output_has_its_numbers_here():
    """The cells that print something, counted by hand; 4 and 69 print texts, 7 and 2 nothing."""
    here = {fact.cell for fact in FACTS if fact.cell.isdigit()} | set(BY_CELL)
    printing = (
        "3 4 5 6 8 9 10 12 14 16 21 25 26 27 30 31 39 43 44 45 48 49 50 51 52 53 54 56 57 58 59 60 61 62 64 66 68 69"
    )
    assert set(printing.split()) | {"34"} == here
