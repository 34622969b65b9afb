"""Every recorded tensor against Hugging Face's own model; what that model does not show, against its definition."""

import re

import numpy as np
import pytest
import torch
import transformers
from transformers import AutoConfig

import bertviz_core as bv
from bertviz_core.checkpoint.hub import BUNDLED_FOLDER
from bertviz_core.programs.config import ACTIVATIONS
from tests.factory import KINDS, random_checkpoint

PAIR = ("The cat sat on the mat.", "Playing in Rome, as romans do?")
LONG = "the cat sat " * 170  # with [CLS] and [SEP]: 512 tokens

# kind, input (text, pair, pad_to), config. All sizes of one case differ, so that no two axes can be mistaken.
CASES = {
    "gelu, 1 layer, pair, every pretraining head": ("pretraining", (*PAIR, None), {
        "hidden_act": "gelu", "num_hidden_layers": 1, "hidden_size": 30, "num_attention_heads": 5,
        "intermediate_size": 44, "max_position_embeddings": 40}),
    "gelu_new, 5 layers, padding, untied decoder": ("masked-lm", (PAIR[0], None, 19), {
        "hidden_act": "gelu_new", "num_hidden_layers": 5, "hidden_size": 21, "num_attention_heads": 3,
        "intermediate_size": 50, "max_position_embeddings": 48, "tie_word_embeddings": False}),
    "relu, pair and padding, pooler only, 3 segments": ("base", (*PAIR, 31), {
        "hidden_act": "relu", "num_hidden_layers": 4, "hidden_size": 40, "num_attention_heads": 5,
        "intermediate_size": 27, "max_position_embeddings": 64, "type_vocab_size": 3, "layer_norm_eps": 1e-3}),
    "gelu_new, sequence classifier with 7 labels": ("sequence-classification", (*PAIR, None), {
        "hidden_act": "gelu_new", "num_hidden_layers": 3, "hidden_size": 45, "num_attention_heads": 5,
        "intermediate_size": 33, "max_position_embeddings": 50, "num_labels": 7}),
    "gelu, token classifier with 4 labels, padding": ("token-classification", (PAIR[0], None, 13), {
        "hidden_act": "gelu", "num_hidden_layers": 5, "hidden_size": 24, "num_attention_heads": 3,
        "intermediate_size": 55, "max_position_embeddings": 37, "num_labels": 4}),
    "gelu, question answering, pair and padding": ("question-answering", (*PAIR, 33), {
        "hidden_act": "gelu", "num_hidden_layers": 2, "hidden_size": 36, "num_attention_heads": 4,
        "intermediate_size": 29, "max_position_embeddings": 45, "type_vocab_size": 3}),
    "gelu_new, question answering, 3 layers": ("question-answering", (*PAIR, None), {
        "hidden_act": "gelu_new", "num_hidden_layers": 3, "hidden_size": 35, "num_attention_heads": 5,
        "intermediate_size": 61, "max_position_embeddings": 52, "layer_norm_eps": 1e-6}),
    "relu, 512 tokens, no head": ("base-without-pooler", (LONG, None, None), {
        "hidden_act": "relu", "num_hidden_layers": 3, "hidden_size": 22, "num_attention_heads": 2,
        "intermediate_size": 70, "max_position_embeddings": 600, "type_vocab_size": 1}),
    "gelu_pytorch_tanh, one neuron, padding": ("pretraining", (PAIR[1], None, 23), {
        "hidden_act": "gelu_pytorch_tanh", "num_hidden_layers": 3, "hidden_size": 28, "num_attention_heads": 4,
        "intermediate_size": 1, "max_position_embeddings": 41, "layer_norm_eps": 1e-5}),
}  # fmt: skip
TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5}
MASKED = 1e30  # a score beyond this was pushed there by the padding mask

# What a module puts out, where its address is not its own name; and what goes into it.
OUTPUTS = {
    "intermediate.intermediate_act_fn": "intermediate.activation",
    "cls.predictions.transform.transform_act_fn": "cls.predictions.transform.activation",
}
PROJECTIONS = ("attention.self.query", "attention.self.key", "attention.self.value")
INPUTS = {
    "embeddings.LayerNorm": "embeddings.sum",
    "attention.output.dense": "attention.self.context",
    "attention.output.LayerNorm": "attention.output.residual",
    "output.LayerNorm": "output.residual",
}
LOGITS = {"cls.predictions.probs": "cls.predictions.decoder"}
UNSEEN = {
    r".+\.attention\.self\.(products|scaled|scores)": "local to the attention function",
    r".+\.LayerNorm\.(mean|variance|normalized)": "inside the LayerNorm kernel",
    r"(cls\.predictions|cls\.seq_relationship|classifier)\.probs": "the model stops at the logits",
    r"qa_outputs\.((start|end)\.probs|spans)": "the model stops at the logits",
}


@pytest.fixture(scope="module", params=CASES)
def checkpoint(request, tmp_path_factory):
    kind, text, config = CASES[request.param]
    return random_checkpoint(tmp_path_factory.mktemp("case"), kind=kind, seed=len(request.param), **config), text


@pytest.fixture(scope="module", params=TOLERANCE, ids=str)
def run(request, checkpoint):
    """A trace, and what Hugging Face computed for the same ids."""
    folder, (text, pair, pad_to) = checkpoint
    trace = bv.run(bv.load_model(folder, dtype=request.param), text, pair, pad_to=pad_to)
    return trace, observed(folder, trace)


@pytest.fixture(scope="module", params=TOLERANCE, ids=str)
def bundled_run(request):
    trace = bv.run(bv.load_model(dtype=request.param), *PAIR, pad_to=24)
    return trace, observed(BUNDLED_FOLDER, trace)


def observed(folder, trace) -> dict[str, np.ndarray]:
    """Everything that Hugging Face's model shows of the same pass, under our addresses, without the batch axis."""
    config = AutoConfig.from_pretrained(folder)
    oracle = getattr(transformers, config.architectures[0])
    headless = {"add_pooling_layer": False} if oracle is transformers.BertModel and not trace.model.heads else {}
    model = oracle.from_pretrained(folder, attn_implementation="eager", dtype=trace.model.dtype, **headless)
    seen: dict[str, np.ndarray] = {}
    for name, module in model.named_modules():
        module.register_forward_hook(_recorder(seen, name.removeprefix("bert."), config.num_attention_heads))
    with torch.no_grad():
        answered = model.eval()(
            input_ids=torch.tensor([trace.encoding.ids]),
            token_type_ids=torch.tensor([trace.encoding.segments]),
            attention_mask=torch.tensor([trace.encoding.mask]),
        )
    for bound in ("start", "end"):
        if f"{bound}_logits" in answered:
            seen[f"qa_outputs.{bound}"] = answered[f"{bound}_logits"][0].numpy()
    return seen


def _recorder(seen, path, heads):
    layer, leaf = re.fullmatch(r"(encoder\.layer\.\d+\.)?(.*)", path).groups(default="")

    def hook(module, inputs, output):
        if leaf in INPUTS:
            seen[layer + INPUTS[leaf]] = inputs[0][0].numpy()
        if leaf == "attention.self":
            seen[f"{path}.probs"] = output[1][0].numpy()
        elif leaf in PROJECTIONS:
            seen[path] = output[0].unflatten(-1, (heads, -1)).transpose(0, 1).numpy()
        elif isinstance(output, torch.Tensor):
            seen[layer + OUTPUTS.get(leaf, leaf)] = output[0].numpy()

    return hook


def test_every_tensor_equals_hugging_face(run):
    assert_parity(*run)


def test_every_tensor_of_the_bundled_model_equals_hugging_face(bundled_run):
    assert_parity(*bundled_run)


def assert_parity(trace, seen):
    unseen = [address for address in trace.addresses if address not in seen]
    assert [address for address in unseen if not any(re.fullmatch(leaf, address) for leaf in UNSEEN)] == []
    tolerance = TOLERANCE[trace.model.dtype]
    for address in set(trace.addresses) - set(unseen):
        assert_close(trace[address], seen[address], tolerance, address)


def assert_close(actual, expected, tolerance, address):
    """Equal to `tolerance` on the scale of the tensor's own largest number, or of 1 where that is less."""
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * scale, err_msg=address)


def test_what_hugging_face_does_not_show_equals_its_definition(run):
    assert_definitions(run[0])


def test_what_the_bundled_model_does_not_show_equals_its_definition(bundled_run):
    assert_definitions(bundled_run[0])


def assert_definitions(trace):
    """Each formula in plain numpy, from tensors that were compared with Hugging Face."""
    tolerance = TOLERANCE[trace.model.dtype]
    defined = {}
    for layer in range(trace.model.config.num_hidden_layers):
        defined |= attention_definitions(trace, f"encoder.layer.{layer}.")
    for address in trace.addresses:
        if address.endswith("LayerNorm"):
            defined |= norm_definitions(trace, address)
        if address.endswith(".probs") and "attention" not in address:
            defined[address] = softmax(trace[LOGITS.get(address, address.removesuffix(".probs"))].astype(np.float64))
    if "qa_outputs.spans" in trace.addresses:
        start, end = (trace[f"qa_outputs.{bound}"].astype(np.float64) for bound in ("start", "end"))
        defined["qa_outputs.spans"] = np.add.outer(start, end)
    assert {a for a in trace.addresses if any(re.fullmatch(leaf, a) for leaf in UNSEEN)} <= set(defined)
    for address, expected in defined.items():
        visible = np.abs(expected) < MASKED
        assert_close(trace[address][visible], expected[visible], tolerance, address)
        assert (trace[address][~visible] < -MASKED).all()


def attention_definitions(trace, layer):
    """Products, scaled and masked scores, attention, and both residual sums of one layer."""
    at = f"{layer}attention.self."
    query, key = trace[f"{at}query"].astype(np.float64), trace[f"{at}key"].astype(np.float64)
    products = np.einsum("hqd,hkd->hqk", query, key)
    scaled = products / query.shape[-1] ** 0.5
    scores = np.where(np.array(trace.encoding.mask, dtype=bool), scaled, -np.inf)
    number = int(layer.split(".")[2])
    before = f"encoder.layer.{number - 1}.output.LayerNorm" if number else "embeddings.LayerNorm"
    return {
        f"{at}products": products,
        f"{at}scaled": scaled,
        f"{at}scores": scores,
        f"{at}probs": softmax(scores),
        f"{layer}attention.output.residual": trace[before] + trace[f"{layer}attention.output.dense"],
        f"{layer}output.residual": trace[f"{layer}attention.output.LayerNorm"] + trace[f"{layer}output.dense"],
    }


def norm_definitions(trace, address):
    """Mean, variance and normalized, from what goes into a LayerNorm."""
    path, _, _ = address.rpartition(".")
    x = trace[f"{path}.{'sum' if path == 'embeddings' else 'activation' if 'cls' in path else 'residual'}"]
    x = x.astype(np.float64)
    mean, variance = x.mean(-1), x.var(-1)
    deviation = np.sqrt(variance + trace.model.config.layer_norm_eps)
    return {
        f"{address}.mean": mean,
        f"{address}.variance": variance,
        f"{address}.normalized": (x - mean[:, None]) / deviation[:, None],
    }


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def test_probabilities_sum_to_one_and_padding_gets_none(run):
    trace, _ = run
    padding = ~np.array(trace.encoding.mask, dtype=bool)
    for address in trace.addresses:
        if address.endswith(".probs"):
            probs = trace[address].astype(np.float64)
            np.testing.assert_allclose(probs.sum(-1), 1, rtol=0, atol=1e-6, err_msg=address)
            assert (probs >= 0).all()
            if "attention" in address:
                assert (probs[..., padding] == 0).all(), address


def test_normalized_rows_have_mean_0_and_variance_1(run):
    trace, _ = run
    epsilon = trace.model.config.layer_norm_eps
    for address in trace.addresses:
        if address.endswith(".normalized"):
            rows = trace[address].astype(np.float64)
            variance = trace[address.replace("normalized", "variance")].astype(np.float64)
            np.testing.assert_allclose(rows.mean(-1), 0, atol=1e-6, err_msg=address)
            np.testing.assert_allclose(rows.var(-1), variance / (variance + epsilon), atol=1e-5, err_msg=address)


def test_the_sizes_of_a_case_are_all_different(run):
    trace, _ = run
    config = trace.model.config
    sizes = [
        len(trace.tokens),
        config.hidden_size,
        config.head_dim,
        config.num_attention_heads,
        config.num_hidden_layers,
        config.intermediate_size,
        config.vocab_size,
        config.max_position_embeddings,
        config.type_vocab_size,
    ]
    assert len(set(sizes)) == len(sizes)


def test_the_cases_cover_what_they_are_meant_to_cover():
    configs = [config for _, _, config in CASES.values()]
    assert {kind for kind, _, _ in CASES.values()} == set(KINDS)
    assert {config["hidden_act"] for config in configs} == set(ACTIVATIONS)
    assert {1, 5} <= {config["num_hidden_layers"] for config in configs}
