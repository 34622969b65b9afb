"""The exported notebook: it is one, runs alone, gives every tensor of the trace, and notices what is wrong."""

import base64
import json
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.utils._python_dispatch import TorchDispatchMode

import bertviz_core as bv
from bertviz_core.checkpoint.hub import BUNDLED_FOLDER
from bertviz_core.export.carried import measure_distance, take_marks
from bertviz_core.programs import DOCUMENT_PROGRAMS
from tests.factory import random_checkpoint
from tests.latex import balanced
from tests.test_script import assert_same

pytestmark = pytest.mark.xdist_group("notebooks")  # written and run once, for all that read them
PAIR = ("The cat sat on the mat.", "Playing in Rome?")

# Runs the code cells of notebooks, each in a namespace of its own as a kernel does, and saves the tensors they leave.
RUNNER = """
import json, sys
from safetensors.torch import save_file
for path in sys.argv[1:]:
    space = {"__name__": "__main__"}
    for cell in json.load(open(path))["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), cell["id"], "exec"), space)
    tensors = {address: record[0].contiguous().clone() for address, record in space["recorded"].items()}
    save_file(tensors, path + ".safetensors")
"""


@pytest.fixture(autouse=True)
def prints():
    """The notebook settles how PyTorch prints: in a kernel of its own, and not for the tests that run after it here."""
    yield
    torch.set_printoptions(profile="default")


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    """One file, several files, and another kind of head; all sizes differ."""
    made = tmp_path_factory.mktemp("notebooks")
    whole = random_checkpoint(made / "whole", hidden_act="gelu_new", seed=4)
    split = random_checkpoint(made / "split", kind="masked-lm", tie_word_embeddings=False, seed=5)
    tensors = list(load_file(split / "model.safetensors").items())
    (split / "model.safetensors").unlink()
    names = {}
    for i in range(3):
        part = f"model-{i}.safetensors"
        save_file(dict(tensors[i::3]), split / part)
        names |= dict.fromkeys(dict(tensors[i::3]), part)
    (split / "model.safetensors.index.json").write_text(json.dumps({"weight_map": names}), encoding="utf-8")
    return {"whole": whole, "split": split, "tokens": random_checkpoint(made / "tokens", kind="token-classification")}


@pytest.fixture(scope="module")
def traces(rome, checkpoints):
    """What is exported: BERT as it comes, with padding, split over files, changed, and as each document writes it."""
    models = {name: bv.load_model(folder) for name, folder in checkpoints.items()}
    changes = {
        "input_ids[token=1]": 9,
        "position_ids[token=2]": 5,
        "encoder.layer.0.attention.self.probs[head=1]": 0.0,
        "encoder.layer.0.output.residual": "no-residual",
        "encoder.layer.1.intermediate.activation": "relu",
    }
    return {
        "rome": rome,
        "padded pair": bv.run(models["whole"], *PAIR, pad_to=20),
        "several files": bv.run(models["split"], "the [MASK] sat"),
        "classes of tokens": bv.run(models["tokens"], "a"),
        "changed": bv.run(models["whole"], "the cat", changes=changes),
        "double": bv.run(bv.load_model(checkpoints["whole"], dtype=torch.float64), *PAIR, pad_to=20),
        **{name: bv.run(models["whole"], *PAIR, program=name) for name in DOCUMENT_PROGRAMS},
    }


@pytest.fixture(scope="module")
def notebooks(traces):
    return {name: json.loads(bv.write_ipynb(trace)) for name, trace in traces.items()}


@pytest.fixture(scope="module")
def outcome(notebooks, tmp_path_factory):
    """All notebooks run by a Python that cannot import this project: what was printed, and the tensors by address."""
    folder = tmp_path_factory.mktemp("run")
    paths = [folder / f"{name}.ipynb" for name in notebooks]
    for path, notebook in zip(paths, notebooks.values(), strict=True):
        path.write_text(json.dumps(notebook), encoding="utf-8")
    command = [sys.executable, "-I", "-c", RUNNER, *map(str, paths)]
    settings = {"cwd": folder, "env": {"OMP_NUM_THREADS": "1"}, "timeout": 120}
    done = subprocess.run(command, **settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, {path.stem: load_file(f"{path}.safetensors") for path in paths}


def cells(notebook, kind):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == kind]


def source(notebook):
    """The text of all code cells, as it is run."""
    return "\n".join("".join(cell["source"]) for cell in cells(notebook, "code"))


def test_it_gives_every_recorded_tensor(traces, outcome):
    _, computed = outcome
    for name, trace in traces.items():
        assert set(computed[name]) == set(trace.addresses)
        for address, tensor in computed[name].items():
            if name == "double":
                np.testing.assert_allclose(tensor.numpy(), trace[address], rtol=1e-9, atol=1e-12, err_msg=address)
            else:
                assert_same(tensor, trace[address], address)


def test_its_last_cell_says_how_many_tensors_and_numbers_were_compared(traces, outcome):
    said = re.findall(r"All (\d+) tensors, ([\d,]+) numbers, are as recorded\.", outcome[0])
    held = [(len(t.addresses), sum(t[address].size for address in t.addresses)) for t in traces.values()]
    assert [(int(tensors), int(numbers.replace(",", ""))) for tensors, numbers in said] == held


def test_it_is_a_notebook_of_format_4_5(notebooks):
    for notebook in notebooks.values():
        assert set(notebook) == {"nbformat", "nbformat_minor", "metadata", "cells"}
        assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
        assert set(notebook["metadata"]["kernelspec"]) >= {"name", "display_name"}
        assert notebook["metadata"]["language_info"]["name"] == "python"
        ids = [cell["id"] for cell in notebook["cells"]]
        assert len(set(ids)) == len(ids) and all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in ids)
        for cell in notebook["cells"]:
            assert_valid(cell)


def assert_valid(cell):
    """What nbformat asks of a cell."""
    common = {"id", "cell_type", "metadata", "source"}
    assert isinstance(cell["metadata"], dict)
    lines = cell["source"]
    assert lines and all(line.endswith("\n") for line in lines[:-1]) and not lines[-1].endswith("\n")
    if cell["cell_type"] == "markdown":
        assert set(cell) == common
    else:
        assert cell["cell_type"] == "code" and set(cell) == common | {"execution_count", "outputs"}
        assert cell["execution_count"] is None and cell["outputs"] == []


def test_every_step_has_its_formula_and_its_line_in_the_order_of_the_pass(traces, notebooks):
    for name, trace in traces.items():
        steps = trace.program.steps
        prose = "\n".join("".join(cell["source"]) for cell in cells(notebooks[name], "markdown"))
        assert re.findall(r"^\$\$(.+)\$\$$", prose, re.MULTILINE) == [step.latex for step in steps]
        assert all(step.meaning in prose and step.source in prose and step.choice in prose for step in steps)
        places = [source(notebooks[name]).index(f"\n{step.code}  # {step.address} (") for step in steps]
        assert places == sorted(places)


def test_a_formula_stands_right_above_the_cell_with_its_code(traces, notebooks):
    for name, trace in traces.items():
        texts = ["".join(cell["source"]) for cell in notebooks[name]["cells"]]
        for step in trace.program.steps:
            (above,) = [i for i, text in enumerate(texts) if f"$${step.latex}$$" in text]
            assert f"{step.code}  # {step.address}" in texts[above + 1]


def test_headings_follow_the_pass_layer_by_layer(notebooks):
    prose = "\n".join("".join(cell["source"]) for cell in cells(notebooks["rome"], "markdown"))
    layer = ["Query, key, value", "Attention", "Attention output", "Add & Norm", "Feed-forward", "Add & Norm"]
    assert re.findall(r"^##+ (.+)$", prose, re.MULTILINE) == [
        "The checkpoint",
        "The input",
        "Embeddings",
        *(heading for i in range(6) for heading in (f"Layer {i}", *layer)),
        "Predictions",
        "Sentence",
        "Are these the recorded numbers?",
    ]
    assert all(balanced(formula) for formula in re.findall(r"\$\$(.+)\$\$", prose))


def run(code):
    """The variables that a notebook's code leaves, run in this process."""
    space = {"__name__": "__main__"}
    exec(compile(code, "notebook", "exec"), space)
    return space


MISTAKES = {  # what is written, what somebody made of it, and the tensor that is the first to differ
    "another GELU": ('gelu(F_0, approximate="tanh")', "gelu(F_0)", "encoder.layer.0.intermediate.activation"),
    "another epsilon": ("var_U_1 + 1e-12", "var_U_1 + 1e-3", "encoder.layer.1.attention.output.LayerNorm.normalized"),
    "keys for queries": ("R_1 = Q_1 @ K_1.mT", "R_1 = K_1 @ Q_1.mT", "encoder.layer.1.attention.self.products"),
    "no scaling": ("math.sqrt(8)", "1.0", "encoder.layer.0.attention.self.scaled"),
    "a padding token seen": ("attention_mask) *", "attention_mask) * 0 *", "encoder.layer.0.attention.self.scores"),
    "one token less": ("X_2[0]", "X_2[1]", "pooler.dense"),
    "another shape": ("p = X_2[0]", "p = X_2[:1]", "pooler.dense"),
}


@pytest.mark.parametrize(("written", "wrong", "address"), MISTAKES.values(), ids=MISTAKES)
def test_its_last_cell_names_the_first_tensor_that_differs(notebooks, capsys, written, wrong, address):
    code = source(notebooks["padded pair"])
    assert written in code
    with pytest.raises(AssertionError, match=rf"tensors differ from the recorded ones, first {re.escape(address)}$"):
        run(code.replace(written, wrong))
    assert "as recorded" not in capsys.readouterr().out


def test_its_last_cell_names_the_tensor_that_is_farthest_from_the_recorded_one(notebooks, capsys):
    recorded = run(source(notebooks["padded pair"]))["recorded"]
    off = {address: measure_distance(*record) for address, record in recorded.items()}
    farthest = max(off, key=off.get)
    assert off[farthest] > min(off.values())
    assert f"The largest difference is {off[farthest]:.1e}, in {farthest}." in capsys.readouterr().out


@pytest.mark.parametrize("shape", [(7, 5, 13), (64,), (3, 700, 1100)])
def test_marks_are_the_weighted_means_of_runs_of_equal_length(shape):
    numbers = np.random.default_rng(0).normal(size=shape)
    length = int(np.ceil(numbers.size / 64))
    runs = [numbers.ravel()[start : start + length] for start in range(0, numbers.size, length)]
    weights = 1 + np.modf(np.arange(length) * 0.6180339887)[0]
    means, sizes = take_marks(torch.from_numpy(numbers))
    for found, expected in ((means, runs), (sizes, map(np.abs, runs))):
        sums = [run @ weights[: len(run)] / length for run in expected]
        np.testing.assert_allclose(found, sums, rtol=1e-9, atol=1e-15)
    assert len(runs) <= 64


def test_marks_of_few_numbers_are_these_numbers_and_masked_ones_do_not_drown_them():
    numbers = torch.tensor([0.5, torch.finfo(torch.float32).min, -2.0])
    means, sizes = take_marks(numbers)
    assert means.tolist() == [0.5, -1.0, -2.0] and sizes.tolist() == [0.5, 1.0, 2.0]


def test_marks_take_few_passes_over_the_numbers():
    """A pass over 512 tokens has 100 million of them, and who saves a file after it waits for that."""
    made = [0]

    class Count(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            out = func(*args, **(kwargs or {}))
            made[0] += out.numel() if isinstance(out, torch.Tensor) and not out._is_view() else 0
            return out

    numbers = torch.linspace(-1, 1, 64 * 10_000).view(640, 1000)
    with Count():
        take_marks(numbers)
    assert made[0] < 7 * numbers.numel()  # padded, made precise, and of both the sizes


def test_a_tensor_of_another_shape_is_as_far_away_as_can_be():
    means = base64.b64encode(take_marks(torch.ones(6))[0].float().numpy().tobytes()).decode()
    assert measure_distance(torch.ones(2, 3), (2, 3), means) == 0
    for shape in ((3, 2), (6,), (2, 3, 1)):
        assert measure_distance(torch.ones(2, 3), shape, means) == np.inf


@pytest.mark.parametrize("text", ["東京 is [MASK].", "new\nline\u2028here # '''", "$$x$$ <b>*_ \x85 \\N{BULLET}"])
def test_any_text_leaves_the_notebook_whole(bundled, text):
    trace = bv.run(bundled, text)
    written = bv.write_ipynb(trace)
    assert written.isascii()
    code = source(json.loads(written))
    compile(code, "notebook", "exec")
    line = next(line for line in code.splitlines() if line.startswith("tokens = "))
    assert eval(line.removeprefix("tokens = ")) == trace.tokens


def first_cell(trace, name, **where):
    (found,) = [
        cell for cell in cells(json.loads(bv.write_ipynb(trace, **where)), "code") if name in "".join(cell["source"])
    ]
    return "".join(found["source"])


def test_weights_can_be_named(rome):
    assert "files = ['a \"b\"/model.safetensors']" in first_cell(rome, "def read", weights='a "b"/model.safetensors')


def test_on_another_machine_it_reads_the_file_beside_it_or_says_that_it_is_missing(checkpoints, tmp_path, monkeypatch):
    away = tmp_path / "moved"
    checkpoints["whole"].rename(away)
    try:
        model = bv.load_model(away)
        notebook = json.loads(bv.write_ipynb(bv.run(model, "the cat")))
    finally:
        away.rename(checkpoints["whole"])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        AssertionError, match=r"Put model\.safetensors, the weights of the model .*, beside this notebook"
    ):
        run(source(notebook))
    (tmp_path / "model.safetensors").symlink_to(checkpoints["whole"] / "model.safetensors")
    assert "probs" in run(source(notebook))


def test_a_model_of_the_hub_is_fetched_from_there_in_the_same_revision(rome, monkeypatch):
    model = replace(rome.model, name="google-bert/bert-base-uncased", revision="abc123")
    trace = bv.run(model, "the cat")
    code = first_cell(trace, "def read")
    asked = {}

    def download(name, **options):
        asked[name] = options
        return str(BUNDLED_FOLDER)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    space = run(source(json.loads(bv.write_ipynb(trace))))
    assert asked == {model.name: {"revision": "abc123", "allow_patterns": "*.safetensors"}}
    assert space["folder"] == BUNDLED_FOLDER and "folder.is_dir()" not in code
