"""The documents' formulas in plain NumPy, written from the documents: head by head, as each prints them."""

import math

import numpy as np
from safetensors.numpy import load_file


class Weights:
    """A checkpoint file's tensors in float64, as stored, matrices (out, in); `w("3.output.dense")` is in layer 3."""

    def __init__(self, folder):
        tensors = load_file(folder / "model.safetensors")
        self.tensors = {name.removeprefix("bert."): tensor.astype(np.float64) for name, tensor in tensors.items()}
        words = self.tensors["embeddings.word_embeddings.weight"]
        self.tensors.setdefault("cls.predictions.decoder.weight", words)
        self.tensors.setdefault("cls.predictions.decoder.bias", self.tensors.get("cls.predictions.bias"))

    def __call__(self, path):
        return self.tensors[f"encoder.layer.{path}" if path[0].isdigit() else path]

    def linear(self, path):
        """Matrix as (in, out) and bias."""
        return self(f"{path}.weight").T, self(f"{path}.bias")


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


gelu = np.vectorize(lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2)  # x times the normal distribution's CDF
ACTIVATIONS = {
    "gelu": gelu,
    "gelu_new": lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "relu": lambda x: np.maximum(0, x),
}


def layer_norm(at, x, gamma, beta, epsilon):
    """LayerNorm and its parts, by address."""
    mean, variance = x.mean(-1), ((x - x.mean(-1, keepdims=True)) ** 2).mean(-1)
    normal = (x - mean[:, None]) / np.sqrt(variance[:, None] + epsilon)
    return {f"{at}.mean": mean, f"{at}.variance": variance, f"{at}.normalized": normal, at: gamma * normal + beta}


def norm_of(w, at, x, path, epsilon):
    return layer_norm(at, x, w(f"{path}.weight"), w(f"{path}.bias"), epsilon)


def attention(at, q, k, v):
    """Attention head by head, from (head, token, component)."""
    products = np.stack([q_h @ k_h.T for q_h, k_h in zip(q, k, strict=True)])
    scaled = products / math.sqrt(q.shape[-1])
    probs = softmax(scaled)
    heads = np.stack([a_h @ v_h for a_h, v_h in zip(probs, v, strict=True)])
    return {
        f"{at}query": q,
        f"{at}key": k,
        f"{at}value": v,
        f"{at}products": products,
        f"{at}scaled": scaled,
        f"{at}probs": probs,
        f"{at}heads": heads,
        f"{at}context": np.concatenate(list(heads), -1),
    }


def projected(w, layer, x, heads, biased):
    """Q, K and V, one matrix a head: the head's columns of the checkpoint's matrix."""
    for name in ("query", "key", "value"):
        matrix, bias = w.linear(f"{layer}.attention.self.{name}")
        columns = np.split(matrix, heads, axis=1), np.split(bias, heads)
        yield np.stack([x @ w_h + (b_h if biased else 0) for w_h, b_h in zip(*columns, strict=True)])


def feed_forward(w, layer, x, activation, at):
    (w1, b1), (w2, b2) = w.linear(f"{layer}.intermediate.dense"), w.linear(f"{layer}.output.dense")
    before = x @ w1 + b1
    after = activation(before)
    return {
        f"{at}intermediate.dense": before,
        f"{at}intermediate.activation": after,
        f"{at}output.dense": after @ w2 + b2,
    }


def forward_pass_note(w, trace):
    config, ids = trace.model.config, trace["input_ids"]
    epsilon = config.layer_norm_eps
    T, P = w("embeddings.word_embeddings.weight")[ids], w("embeddings.position_embeddings.weight")[: len(ids)]
    Z = X = T + P
    seen = {
        "embeddings.word_embeddings": T,
        "embeddings.position_embeddings": P,
        "embeddings.sum": X,
        "encoder.input": X,
    }
    for i in range(config.num_hidden_layers):
        at = f"encoder.layer.{i}."
        seen |= attention(f"{at}attention.self.", *projected(w, i, Z, config.num_attention_heads, biased=False))
        seen[f"{at}attention.output.residual"] = first = X + seen[f"{at}attention.self.context"]
        seen |= norm_of(w, f"{at}attention.output.LayerNorm", first, f"{i}.attention.output.LayerNorm", epsilon)
        seen |= feed_forward(w, i, seen[f"{at}attention.output.LayerNorm"], lambda x: np.maximum(0, x), at)
        seen[f"{at}output.residual"] = second = X + seen[f"{at}output.dense"]
        seen |= norm_of(w, f"{at}output.LayerNorm", second, f"{i}.output.LayerNorm", epsilon)
        Z = seen[f"{at}output.LayerNorm"]
    return seen | classes(w, Z) if "pooler" in trace.model.heads else seen


def classes(w, Z):
    """tanh(W^final Z[0, :]) and the softmax, with the column on the right as the note has it."""
    dense = w("pooler.dense.weight") @ Z[0, :]
    seen = {"pooler.dense": dense, "pooler.activation": np.tanh(dense)}
    path = next((p for p in ("classifier", "cls.seq_relationship") if f"{p}.weight" in w.tensors), None)
    if path:
        logits = w(f"{path}.weight") @ np.tanh(dense) + w(f"{path}.bias")
        seen |= {path: logits, f"{path}.probs": softmax(logits)}
    return seen


def notebook(w, trace):
    config, ids = trace.model.config, trace["input_ids"]
    word, pos, seg = (
        w(f"embeddings.{name}.weight")[rows]
        for name, rows in (
            ("word_embeddings", ids),
            ("position_embeddings", np.arange(len(ids))),
            ("token_type_embeddings", np.zeros_like(ids)),
        )
    )
    seen = {
        "embeddings.word_embeddings": word,
        "embeddings.position_embeddings": pos,
        "embeddings.token_type_embeddings": seg,
        "embeddings.sum": word + pos + seg,
    }
    seen |= norm_of(w, "embeddings.LayerNorm", word + pos + seg, "embeddings.LayerNorm", 1e-12)
    x = seen["embeddings.LayerNorm"]
    for i in range(config.num_hidden_layers):
        at = f"encoder.layer.{i}."
        seen |= attention(f"{at}attention.self.", *projected(w, i, x, config.num_attention_heads, biased=True))
        matrix, bias = w.linear(f"{i}.attention.output.dense")
        seen[f"{at}attention.output.dense"] = seen[f"{at}attention.self.context"] @ matrix + bias
        seen[f"{at}attention.output.residual"] = first = seen[f"{at}attention.output.dense"] + x
        if i == 0:
            seen |= notebook_layer(w, i, first, "single_layer.", 1e-5)
        seen |= notebook_layer(w, i, first, at, 1e-12)
        x = seen[f"{at}output.LayerNorm"]
    return seen | language_model(w, x) if "masked language model" in trace.model.heads else seen


def notebook_layer(w, i, residual, at, epsilon):
    """What follows the first residual sum; the first LayerNorm has its own epsilon in cell 46."""
    seen = norm_of(w, f"{at}attention.output.LayerNorm", residual, f"{i}.attention.output.LayerNorm", epsilon)
    y = seen[f"{at}attention.output.LayerNorm"]
    seen |= feed_forward(w, i, y, gelu, at)
    seen[f"{at}output.residual"] = seen[f"{at}output.dense"] + y
    return seen | norm_of(w, f"{at}output.LayerNorm", seen[f"{at}output.residual"], f"{i}.output.LayerNorm", 1e-12)


def language_model(w, x):
    at = "cls.predictions."
    matrix, bias = w.linear(f"{at}transform.dense")
    dense = x @ matrix + bias
    seen = {f"{at}transform.dense": dense, f"{at}transform.activation": gelu(dense)}
    seen |= norm_of(w, f"{at}transform.LayerNorm", gelu(dense), f"{at}transform.LayerNorm", 1e-12)
    matrix, bias = w.linear(f"{at}decoder")
    logits = seen[f"{at}transform.LayerNorm"] @ matrix + bias
    return seen | {f"{at}decoder": logits, f"{at}argmax": logits.argmax(-1)}


def definition(w, trace):
    """With tokens as columns, as the definition has them; turned into rows only to be compared."""
    config, ids = trace.model.config, trace["input_ids"]
    one = np.ones((1, len(ids)))
    W_e, W_p = w("embeddings.word_embeddings.weight").T, w("embeddings.position_embeddings.weight").T
    seen = {"embeddings.word_embeddings": W_e[:, ids], "embeddings.position_embeddings": W_p[:, : len(ids)]}
    seen["embeddings.sum"] = X = W_e[:, ids] + W_p[:, : len(ids)]
    for i in range(config.num_hidden_layers):
        at = f"encoder.layer.{i}."
        seen |= columns_attention(w, i, X, config.num_attention_heads, one)
        seen[f"{at}attention.output.residual"] = X = X + seen[f"{at}attention.output.dense"]
        X = colwise(seen, w, f"{at}attention.output.LayerNorm", X, config.layer_norm_eps)
        W_1, b_1 = w(f"{at}intermediate.dense.weight"), w(f"{at}intermediate.dense.bias")[:, None]
        W_2, b_2 = w(f"{at}output.dense.weight"), w(f"{at}output.dense.bias")[:, None]
        seen[f"{at}intermediate.dense"] = W_1 @ X + b_1 @ one
        seen[f"{at}intermediate.activation"] = G = gelu(W_1 @ X + b_1 @ one)
        seen[f"{at}output.dense"] = W_2 @ G + b_2 @ one
        seen[f"{at}output.residual"] = X = X + W_2 @ G + b_2 @ one
        X = colwise(seen, w, f"{at}output.LayerNorm", X, config.layer_norm_eps)
    if "masked language model" in trace.model.heads:
        at = "cls.predictions."
        seen[f"{at}transform.dense"] = X = (
            w(f"{at}transform.dense.weight") @ X + w(f"{at}transform.dense.bias")[:, None]
        )
        seen[f"{at}transform.activation"] = X = gelu(X)
        X = colwise(seen, w, f"{at}transform.LayerNorm", X, config.layer_norm_eps)
        seen[f"{at}decoder"] = w(f"{at}decoder.weight") @ X
        seen[f"{at}probs"] = np.exp(seen[f"{at}decoder"]) / np.exp(seen[f"{at}decoder"]).sum(0)
    return {address: array.swapaxes(-1, -2) if array.ndim > 1 else array for address, array in seen.items()}


def columns_attention(w, i, X, heads, one):
    """Attention with columns: the softmax of K^T Q runs down each column, and V stands on the left."""
    at = f"encoder.layer.{i}.attention."
    Q, K, V = (
        np.stack(np.split(w(f"{at}self.{name}.weight") @ X + w(f"{at}self.{name}.bias")[:, None] @ one, heads))
        for name in ("query", "key", "value")
    )
    products = K.swapaxes(-1, -2) @ Q
    scaled = products / math.sqrt(Q.shape[1])
    probs = np.exp(scaled) / np.exp(scaled).sum(-2, keepdims=True)
    context = np.concatenate(list(V @ probs), 0)
    return {
        f"{at}self.query": Q,
        f"{at}self.key": K,
        f"{at}self.value": V,
        f"{at}self.products": products,
        f"{at}self.scaled": scaled,
        f"{at}self.probs": probs,
        f"{at}self.heads": V @ probs,
        f"{at}self.context": context,
        f"{at}output.dense": w(f"{at}output.dense.weight") @ context + w(f"{at}output.dense.bias")[:, None] @ one,
    }


def colwise(seen, w, at, X, epsilon):
    """Records the LayerNorm of each column, and returns it."""
    parts = layer_norm(at, X.T, w(f"{at}.weight"), w(f"{at}.bias"), epsilon)
    seen |= {address: array.T for address, array in parts.items()}
    return seen[at]


def formula_post(w, trace):
    config, x = trace.model.config, trace["input_ids"]
    f1 = w("embeddings.word_embeddings.weight")[x]
    f2 = w("embeddings.position_embeddings.weight")[np.arange(len(x))]
    f3 = w("embeddings.token_type_embeddings.weight")[np.zeros_like(x)]
    seen = {
        "embeddings.word_embeddings": f1,
        "embeddings.position_embeddings": f2,
        "embeddings.token_type_embeddings": f3,
        "embeddings.sum": f1 + f2 + f3,
    }

    def f_LN(at, x, path):
        """LN with sigma as printed: the root of 1/H, times the sum of the squares."""
        H = x.shape[-1]
        mu = x.sum(-1) / H
        sigma = math.sqrt(1 / H) * ((x - mu[:, None]) ** 2).sum(-1)
        normal = (x - mu[:, None]) / np.sqrt(sigma[:, None] ** 2 + config.layer_norm_eps)
        y = w(f"{path}.weight") * normal + w(f"{path}.bias")
        seen.update({f"{at}.mean": mu, f"{at}.sigma": sigma, f"{at}.normalized": normal, at: y})
        return y

    def f_Att(i, x):
        at = f"encoder.layer.{i}.attention."
        seen.update(attention(f"{at}self.", *projected(w, i, x, config.num_attention_heads, biased=False)))
        matrix, bias = w.linear(f"{i}.attention.output.dense")
        seen[f"{at}output.dense"] = seen[f"{at}self.context"] @ matrix + bias
        return seen[f"{at}output.dense"]

    def f_E(i, x):
        at, norm = (
            f"encoder.layer.{i}.",
            lambda x: f_LN(f"{at}attention.LayerNorm", x, f"{i}.attention.output.LayerNorm"),
        )
        inside = norm(x) + f_Att(i, norm(x)) + x
        seen[f"{at}attention.output.residual"] = inside
        normal = f_LN(f"{at}intermediate.LayerNorm", inside, f"{i}.output.LayerNorm")
        seen.update(feed_forward(w, i, normal, ACTIVATIONS[config.hidden_act], at))
        seen[f"{at}output.residual"] = f_Att(i, norm(x)) + x + seen[f"{at}output.dense"]
        return seen[f"{at}output.residual"]

    hidden = f_LN("embeddings.LayerNorm", f1 + f2 + f3, "embeddings.LayerNorm")
    for i in range(config.num_hidden_layers):
        hidden = f_E(i, hidden)
    if "pooler" in trace.model.heads:
        matrix, bias = w.linear("pooler.dense")
        seen["pooler.dense"] = hidden[0] @ matrix + bias
        seen["pooler.activation"] = np.tanh(seen["pooler.dense"])
    return seen


def encoder_article(w, trace):
    config, ids = trace.model.config, trace["input_ids"]
    d = config.hidden_size
    Z = np.stack([w("embeddings.word_embeddings.weight")[number] for number in ids])
    P = np.array(
        [
            [math.cos(i / 10000 ** ((j - 1) / d)) if j % 2 else math.sin(i / 10000 ** (j / d)) for j in range(d)]
            for i in range(len(ids))
        ]
    )
    X = Z + P
    seen = {"embeddings.word_embeddings": Z, "embeddings.position_embeddings": P, "embeddings.sum": X}

    def add_and_norm(at, x, sublayer):
        if f"{at}.dropout" in trace.program.by_address:  # which numbers fall is drawn: only that is taken over
            seen[f"{at}.dropout"] = sublayer = np.where(trace[f"{at}.dropout"] == 0, 0, sublayer / 0.9)
        seen[f"{at}.residual"] = x + sublayer
        seen.update(norm_of(w, f"{at}.LayerNorm", x + sublayer, f"{at}.LayerNorm", config.layer_norm_eps))
        return seen[f"{at}.LayerNorm"]

    for i in range(config.num_hidden_layers):
        at = f"encoder.layer.{i}."
        seen |= attention(f"{at}attention.self.", *projected(w, i, X, config.num_attention_heads, biased=False))
        W_O, _ = w.linear(f"{i}.attention.output.dense")
        seen[f"{at}attention.output.dense"] = seen[f"{at}attention.self.context"] @ W_O
        y = add_and_norm(f"{at}attention.output", X, seen[f"{at}attention.output.dense"])
        seen |= feed_forward(w, i, y, lambda x: np.maximum(0, x), at)
        X = add_and_norm(f"{at}output", y, seen[f"{at}output.dense"])
    return seen


TRANSCRIBED = {
    "forward-pass-note": forward_pass_note,
    "notebook": notebook,
    "definition": definition,
    "formula-post": formula_post,
    "encoder-article": encoder_article,
    "encoder-article-dropout": encoder_article,
}
