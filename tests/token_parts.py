"""What each token carries to a logit of BERT, in plain NumPy, a line a formula."""

import math
from functools import lru_cache

import numpy as np

SLOPES = {  # a(z)/z by the activation's name
    "gelu": np.vectorize(lambda z: 0.5 * (1 + math.erf(z / math.sqrt(2)))),
    "gelu_new": np.vectorize(lambda z: 0.5 * (1 + math.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))),
    "relu": lambda z: (z > 0) * 1.0,
}


def transcribe_parts(trace, token, word):
    """(source,) the parts of a word's logit, that of the biases last, from the weights and the attention weights."""
    return transcribe(trace, f"cls.predictions.decoder[token={token},vocab={word}]")


def transcribe(trace, target):
    """(source,) the parts of a logit, whatever head gives it, that of the biases last."""
    w, config = _Weights(trace), trace.model.config
    path, _, index = target.rstrip("]").partition("[")
    at = {axis: int(i) for axis, _, i in (part.partition("=") for part in index.split(","))}
    return finish(w, config, transcribe_last(trace)[find_reader(at)], path, at)


def find_reader(at):
    """The token whose last vector a logit is read from."""
    return next((at[axis] for axis in ("token", "start", "end") if axis in at), 0)


def finish(w, config, last, path, at):
    """The parts of a logit from those of its token's last vector, (part, hidden)."""
    if path == "cls.predictions.decoder":
        head = w.dense(last, "cls.predictions.transform.dense")
        head = w.norm(head * SLOPES[config.hidden_act](head.sum(axis=0)), "cls.predictions.transform.LayerNorm")
        return w.dense(head, path, slice(at["vocab"], at["vocab"] + 1))[:, 0]
    if path in ("qa_outputs.start", "qa_outputs.end"):
        side = path.rpartition(".")[2]
        return w.dense(last, "qa_outputs")[:, int(side == "end")]
    if "token" in at:
        return w.dense(last, path)[:, at["label"]]
    pooled = w.dense(last, "pooler.dense")
    z = pooled.sum(axis=0)
    return w.dense(pooled * np.where(z == 0, 1, np.tanh(z) / z), path)[:, at.get("label", at.get("relation"))]


def transcribe_components(trace, target):
    """What the embeddings, every head (layer, head), every block (layer,) and all biases add to a logit directly."""
    w, config = _Weights(trace), trace.model.config
    path, _, index = target.rstrip("]").partition("[")
    at = {axis: int(i) for axis, _, i in (part.partition("=") for part in index.split(","))}
    layers, heads, i = config.num_hidden_layers, config.num_attention_heads, find_reader(at)
    x = trace["embeddings.LayerNorm"][i].astype(np.float64)
    parts = np.zeros((2 + layers * heads + layers, len(x)))
    parts[0] = x
    for layer in range(layers):
        here = f"encoder.layer.{layer}"
        weights = trace[f"{here}.attention.self.probs"][:, i].astype(np.float64)
        bias = w[f"{here}.attention.self.value.bias"].reshape(heads, -1)
        value = trace[f"{here}.attention.self.value"].astype(np.float64) - bias[:, None]
        rows = w[f"{here}.attention.output.dense.weight"].reshape(heads, bias.shape[1], -1)
        own = slice(1 + layer * heads, 1 + (layer + 1) * heads)
        parts[own] += np.einsum("ht,htd,hdo->ho", weights, value, rows)
        parts[-1] += np.einsum("h,hd,hdo->o", weights.sum(axis=1), bias, rows)
        parts[-1] += w[f"{here}.attention.output.dense.bias"]
        parts = w.norm(parts, f"{here}.attention.output.LayerNorm")
        active = trace[f"{here}.intermediate.activation"][i].astype(np.float64)
        parts[1 + layers * heads + layer] += active @ w[f"{here}.output.dense.weight"]
        parts[-1] += w[f"{here}.output.dense.bias"]
        parts = w.norm(parts, f"{here}.output.LayerNorm")
    found = finish(w, config, parts, path, at)
    return found[0], found[1 : 1 + layers * heads].reshape(layers, heads), found[1 + layers * heads : -1], found[-1]


class _Weights:
    """The weights in double precision, and what linear layers and LayerNorms make of parts (..., source, hidden)."""

    def __init__(self, trace):
        self._tensors, self.epsilon = trace.model.parameters, trace.model.config.layer_norm_eps

    def __getitem__(self, name):
        return self._tensors[name].double().numpy()

    def dense(self, parts, name, outputs=slice(None)):
        weight = self._tensors[f"{name}.weight"][:, outputs].double().numpy()
        made = (parts.reshape(-1, parts.shape[-1]) @ weight).reshape(*parts.shape[:-1], -1)
        made[..., -1, :] += self[f"{name}.bias"][outputs]
        return made

    def norm(self, parts, name):
        whole = parts.sum(axis=-2)
        sigma = np.sqrt(whole.var(axis=-1) + self.epsilon)[..., None, None]
        parts = (parts - parts.mean(axis=-1, keepdims=True)) / sigma * self[f"{name}.weight"]
        parts[..., -1, :] += self[f"{name}.bias"]
        return parts


@lru_cache(maxsize=2)
def transcribe_last(trace):
    """The parts after the last layer, (token, source, hidden)."""
    *_, last = transcribe_layers(trace)
    return last


def transcribe_layers(trace):
    """The parts after every layer, (token, source, hidden), first those before the first layer."""
    w, config, n = _Weights(trace), trace.model.config, len(trace.tokens)
    slope = SLOPES[config.hidden_act]
    x = trace["embeddings.LayerNorm"].astype(np.float64)
    parts = np.zeros((n, n + 1, x.shape[1]))
    parts[range(n), range(n)] = x
    yield parts
    for layer in range(config.num_hidden_layers):
        at = f"encoder.layer.{layer}"
        weights, value = trace[f"{at}.attention.self.probs"], w.dense(parts, f"{at}.attention.self.value")
        heads = np.split(value, config.num_attention_heads, axis=-1)
        mixed = [np.einsum("qk,ksd->qsd", a, v) for a, v in zip(weights, heads, strict=True)]
        context = w.dense(np.concatenate(mixed, axis=-1), f"{at}.attention.output.dense")
        parts = w.norm(parts + context, f"{at}.attention.output.LayerNorm")
        inner = w.dense(parts, f"{at}.intermediate.dense")
        inner *= slope(inner.sum(axis=1))[:, None]
        parts = w.norm(parts + w.dense(inner, f"{at}.output.dense"), f"{at}.output.LayerNorm")
        yield parts
