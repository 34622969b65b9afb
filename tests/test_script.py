"""The code beside the formulas: line by line on the trace's tensors, and as one plain script."""

import ast
import builtins
import math

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import bertviz_core as bv
from bertviz_core.checkpoint.hub import BUNDLED_FOLDER
from tests.factory import random_checkpoint

PAIR = ("The cat sat on the mat.", "Playing in Rome?")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Checkpoints as they are met: with and without `bert.`, tied and untied, and with the oldest names."""
    made = tmp_path_factory.mktemp("script")
    folders = {
        "bundled": BUNDLED_FOLDER,
        "prefix, tied decoder": random_checkpoint(made / "tied", hidden_act="gelu_new"),
        "prefix, own decoder": random_checkpoint(made / "untied", kind="masked-lm", tie_word_embeddings=False),
        "no prefix": random_checkpoint(made / "base", kind="base", hidden_act="relu"),
        "token classifier": random_checkpoint(made / "token", kind="token-classification", num_labels=5),
        "question answering": random_checkpoint(made / "answers", kind="question-answering"),
        "gamma and beta": random_checkpoint(made / "old", seed=3),
    }
    old = folders["gamma and beta"] / "model.safetensors"
    names = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    save_file({renamed(name, names): tensor for name, tensor in load_file(old).items()}, old)
    return folders


def renamed(name, names):
    for new, old in names.items():
        name = name.replace(new, old)
    return name


@pytest.fixture(
    scope="module",
    params=[
        "bundled",
        "prefix, tied decoder",
        "prefix, own decoder",
        "no prefix",
        "token classifier",
        "question answering",
        "gamma and beta",
    ],
)
def case(request, folders):
    folder = folders[request.param]
    return folder, bv.run(bv.load_model(folder), *PAIR, pad_to=20)


def tensors(trace):
    """Everything that code can read, by variable, as a script would have it."""
    program = trace.program
    return {leaf.variable: torch.tensor(trace[leaf.address]) for leaf in program.leaves.values()}


def test_the_checkpoints_are_what_they_are_called(folders):
    names = {name: set(load_file(folder / "model.safetensors")) for name, folder in folders.items()}
    decoder, words = "cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"
    assert words in names["prefix, tied decoder"] and decoder not in names["prefix, tied decoder"]
    assert words in names["prefix, own decoder"] and decoder in names["prefix, own decoder"]
    assert words not in names["no prefix"]
    assert "bert.embeddings.LayerNorm.gamma" in names["gamma and beta"]


def test_each_line_gives_the_recorded_tensor(case):
    _, trace = case
    known = {"torch": torch, "math": math, **tensors(trace)}
    for step in trace.program.steps:
        exec(step.code, known)
        assert_same(known[step.output.variable], trace[step.address], step.address)
        known[step.output.variable] = torch.tensor(trace[step.address])


def test_the_whole_script_gives_every_recorded_tensor(case):
    folder, trace = case
    known = executed(bv.write_script(trace, str(folder / "model.safetensors")))
    for step in trace.program.steps:
        assert_same(known[step.output.variable], trace[step.address], step.address)


def assert_same(tensor, recorded, address):
    """Equal up to the order in which a matrix product adds, which depends on how the matrix lies in memory."""
    expected = torch.int64 if address.endswith("argmax") else torch.float32
    assert tensor.dtype == expected and tuple(tensor.shape) == recorded.shape, address
    scale = max(1.0, float(np.abs(recorded[np.abs(recorded) < 1e30]).max()))
    np.testing.assert_allclose(tensor.numpy(), recorded, rtol=1e-6, atol=2e-6 * scale, err_msg=address)


def executed(source):
    """The variables of a script that may import torch, safetensors and math, and nothing else."""

    def only(name, *rest):
        assert name.split(".")[0] in {"torch", "safetensors", "math"}, name
        return __import__(name, *rest)

    variables = {"__builtins__": {**vars(builtins), "__import__": only}}
    exec(compile(source, "script", "exec"), variables)
    return variables


def test_a_script_imports_only_what_it_says(rome):
    source = ast.parse(bv.write_script(rome))
    imported = [node for node in ast.walk(source) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [ast.unparse(node) for node in imported] == [
        "import math",
        "import torch",
        "from safetensors.torch import load_file",
    ]


def test_a_script_names_every_address_with_its_shape_beside_its_line(rome):
    lines = bv.write_script(rome).splitlines()
    for step in rome.program.steps:
        shape = ", ".join(f"{axis} {size}" for axis, size in zip(step.dims, rome[step.address].shape, strict=True))
        assert f"{step.code}  # {step.address} ({shape})" in lines


@pytest.mark.parametrize("path", ["a b/model.safetensors", 'it\'s "here".safetensors', "C:\\new\\model.safetensors"])
def test_a_path_is_written_so_that_python_reads_it_back(rome, path):
    calls = [node for node in ast.walk(ast.parse(bv.write_script(rome, path))) if isinstance(node, ast.Call)]
    (read,) = [call for call in calls if ast.unparse(call.func) == "read"]
    assert ast.literal_eval(read.args[0]) == path


@pytest.mark.parametrize("text", ["東京 is [MASK].", "new\nline\u2028here # '''", "\\u0041 \\N{BULLET} \x85 end"])
def test_any_text_leaves_the_script_whole(bundled, text):
    trace = bv.run(bundled, text)
    source = bv.write_script(trace)
    assert source.isascii()
    assert f"torch.tensor({list(trace.encoding.ids)})" in source
    compile(source, "script", "exec")


def test_a_script_in_double_precision_gives_the_trace_in_double_precision(folders):
    folder = folders["prefix, own decoder"]
    trace = bv.run(bv.load_model(folder, dtype=torch.float64), *PAIR, pad_to=20)
    known = executed(bv.write_script(trace, str(folder / "model.safetensors")))
    for step in trace.program.steps:
        tensor = known[step.output.variable]
        assert tensor.dtype == torch.float64
        np.testing.assert_allclose(tensor.numpy(), trace[step.address], rtol=1e-9, atol=1e-12, err_msg=step.address)


def test_a_script_of_a_changed_pass_makes_the_same_changes(folders):
    folder = folders["no prefix"]
    model = bv.load_model(folder)
    row = np.linspace(-1, 1, model.config.hidden_size)
    changes = {
        "encoder.layer.0.attention.self.probs[head=1]": 0.0,
        "encoder.layer.0.output.LayerNorm[token=2]": row,
        "encoder.layer.1.attention.self.context": 0.25,
        "encoder.layer.0.attention.self.probs[head=0]": "uniform",
        "encoder.layer.1.output.dense[token=1]": "scale=0.3",
        "input_ids[token=3]": 11,
        "position_ids[token=1]": 7,
        "token_type_ids[token=2]": 1,
        "attention_mask[token=4]": 0,
        "encoder.layer.0.intermediate.activation": "gelu",
        "encoder.layer.0.attention.output.residual": "no-residual",
        "encoder.layer.1.output.LayerNorm.normalized": "epsilon=0.5",
    }
    trace, plain = bv.run(model, *PAIR, changes=changes), bv.run(model, *PAIR)
    known = executed(bv.write_script(trace, str(folder / "model.safetensors")))
    for step in trace.program.steps:
        assert_same(known[step.output.variable], trace[step.address], step.address)
    last = trace.addresses[-1]
    assert np.abs(trace[last] - plain[last]).max() > 1e-3
    skipped = bv.run(model, *PAIR, changes={"encoder.layer.1.output.LayerNorm": "skip"})
    known = executed(bv.write_script(skipped, str(folder / "model.safetensors")))
    assert_same(known["X_2"], skipped["encoder.layer.0.output.LayerNorm"], "skip")


def test_tensors_with_the_encoders_names_but_no_prefix_do_not_replace_its_own(folders, tmp_path):
    folder = folders["prefix, tied decoder"]
    stored = load_file(folder / "model.safetensors")
    strangers = {"pooler.dense.weight": torch.zeros(2, 2), "zz.embeddings.word_embeddings.weight.old": torch.zeros(1)}
    save_file({**stored, **strangers}, tmp_path / "model.safetensors")
    trace = bv.run(bv.load_model(folder), *PAIR)
    known = executed(bv.write_script(trace, str(tmp_path / "model.safetensors")))
    last = trace.program.steps[-1]
    assert_same(known[last.output.variable], trace[last.address], last.address)


def test_what_is_put_into_a_copy_leaves_alone_what_was_copied(folders):
    """A sum without its residual is its other summand."""
    model, total = bv.load_model(folders["no prefix"]), "encoder.layer.0.attention.output.residual"
    trace = bv.run(model, *PAIR, changes={total: "no-residual", f"{total}[token=2,hidden=3]": 7.0})
    known = executed(bv.write_script(trace, str(folders["no prefix"] / "model.safetensors")))
    assert trace[total][2, 3] == 7 != trace["encoder.layer.0.attention.output.dense"][2, 3]
    for step in trace.program.steps:
        assert_same(known[step.output.variable], trace[step.address], step.address)


def test_a_script_says_what_was_changed(rome):
    changes = {"encoder.layer.0.attention.self.probs[head=1]": 0.0}
    lines = bv.write_script(rome.with_changes(changes)).splitlines()
    assert [line for line in lines if line.startswith("# changed: ")] == [
        "# changed: encoder.layer.0.attention.self.probs[head=1]:0"
    ]
