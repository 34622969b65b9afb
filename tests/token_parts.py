"""What each token carries to a logit of BERT, in plain NumPy, a line a formula."""

import math

import numpy as np

SLOPES = {  # a(z)/z by the activation's name
    "gelu": np.vectorize(lambda z: 0.5 * (1 + math.erf(z / math.sqrt(2)))),
    "gelu_new": np.vectorize(lambda z: 0.5 * (1 + math.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))),
    "relu": lambda z: (z > 0) * 1.0,
}


def transcribe_parts(trace, token, word):
    """(source,) the parts of a logit, that of the biases last, from the weights and the attention weights."""
    w = {name: tensor.double().numpy() for name, tensor in trace.model.parameters.items()}
    config, n = trace.model.config, len(trace.tokens)
    slope = SLOPES[config.hidden_act]
    x = trace["embeddings.LayerNorm"].astype(np.float64)
    parts = np.zeros((n, n + 1, x.shape[1]))
    parts[range(n), range(n)] = x

    def dense(parts, name):
        parts = parts @ w[f"{name}.weight"]
        parts[..., -1, :] += w[f"{name}.bias"]
        return parts

    def norm(parts, name):
        whole = parts.sum(axis=-2)
        sigma = np.sqrt(whole.var(axis=-1) + config.layer_norm_eps)[..., None, None]
        parts = (parts - parts.mean(axis=-1, keepdims=True)) / sigma * w[f"{name}.weight"]
        parts[..., -1, :] += w[f"{name}.bias"]
        return parts

    for layer in range(config.num_hidden_layers):
        at = f"encoder.layer.{layer}"
        weights, value = trace[f"{at}.attention.self.probs"], dense(parts, f"{at}.attention.self.value")
        heads = np.split(value, config.num_attention_heads, axis=-1)
        mixed = [np.einsum("qk,ksd->qsd", a, v) for a, v in zip(weights, heads, strict=True)]
        context = dense(np.concatenate(mixed, axis=-1), f"{at}.attention.output.dense")
        parts = norm(parts + context, f"{at}.attention.output.LayerNorm")
        inner = dense(parts, f"{at}.intermediate.dense")
        inner *= slope(inner.sum(axis=1))[:, None]
        parts = norm(parts + dense(inner, f"{at}.output.dense"), f"{at}.output.LayerNorm")
    head = dense(parts[token], "cls.predictions.transform.dense")
    head = norm(head * slope(head.sum(axis=0)), "cls.predictions.transform.LayerNorm")
    return dense(head, "cls.predictions.decoder")[:, word]
