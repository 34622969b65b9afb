"""BERT in plain NumPy, with a switch for each single thing that a document does otherwise."""

import numpy as np

from tests.documents import ACTIVATIONS, Weights, attention, layer_norm, projected, softmax


class Departed:
    """A pass of a checkpoint's folder over a text's ids, with these departures."""

    def __init__(self, folder, config, *names):
        self.w, self.config, self.names = Weights(folder), config, set(names)

    def __contains__(self, name):
        return name in self.names

    def norm(self, x, path):
        gamma, beta = self.w(f"{path}.weight"), self.w(f"{path}.bias")
        if "early-root" not in self:
            return layer_norm("x", x, gamma, beta, self.config.layer_norm_eps)["x"]
        centered = x - x.mean(-1, keepdims=True)
        deviation = np.sqrt(1 / x.shape[-1]) * (centered**2).sum(-1, keepdims=True)
        return gamma * centered / np.sqrt(deviation**2 + self.config.layer_norm_eps) + beta

    def embed(self, ids):
        w, (count, size) = self.w, (len(ids), self.config.hidden_size)
        positions = w("embeddings.position_embeddings.weight")[:count]
        if "sinusoids" in self:
            angles = np.arange(count)[:, None] / 10_000 ** (np.arange(0, size, 2) / size)
            positions = np.stack([np.sin(angles), np.cos(angles)], -1).reshape(count, size)
        total = w("embeddings.word_embeddings.weight")[ids] + positions
        if "no-segment" not in self:
            total = total + w("embeddings.token_type_embeddings.weight")[0]
        return total if "no-embedding-norm" in self else self.norm(total, "embeddings.LayerNorm")

    def attend(self, layer, x):
        heads = list(projected(self.w, layer, x, self.config.num_attention_heads, "no-bias" not in self))
        context = attention("", *heads)["context"]
        matrix, bias = self.w.linear(f"{layer}.attention.output.dense")
        if "no-output-matrix" in self:
            return context
        return context @ matrix + (0 if "no-output-bias" in self else bias)

    def feed(self, layer, x):
        (w1, b1), (w2, b2) = (self.w.linear(f"{layer}.{name}.dense") for name in ("intermediate", "output"))
        return ACTIVATIONS["relu" if "relu" in self else "gelu"](x @ w1 + b1) @ w2 + b2

    def encode(self, ids):
        """The vectors after the last layer."""
        start = x = self.embed(ids)
        for layer in range(self.config.num_hidden_layers):
            norms = f"encoder.layer.{layer}.attention.output.LayerNorm", f"encoder.layer.{layer}.output.LayerNorm"
            first = "norm-first" in self
            added = self.attend(layer, self.norm(x, norms[0]) if first else x)
            kept = start if "embedding-in-sums" in self else x
            total = added + kept + (self.norm(x, norms[0]) if "third-term" in self else 0)
            middle = total if first else self.norm(total, norms[0])
            added = self.feed(layer, self.norm(middle, norms[1]) if first else middle)
            total = added + (start if "embedding-in-sums" in self else middle)
            x = total if first else self.norm(total, norms[1])
        return x

    def predict(self, ids, token):
        """The probability of each entry of the vocabulary at a token."""
        matrix, bias = self.w.linear("cls.predictions.transform.dense")
        x = ACTIVATIONS["gelu"](self.encode(ids)[token : token + 1] @ matrix + bias)
        x = self.norm_of_head(x)
        logits = x @ self.w("cls.predictions.decoder.weight").T
        return softmax(logits + (0 if "no-unembedding-bias" in self else self.w("cls.predictions.decoder.bias")))[0]

    def norm_of_head(self, x):
        """The LM head's own LayerNorm, which no document departs from."""
        path = "cls.predictions.transform.LayerNorm"
        return layer_norm("x", x, self.w(f"{path}.weight"), self.w(f"{path}.bias"), self.config.layer_norm_eps)["x"]
