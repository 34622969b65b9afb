"""What the stops of the walk tell, worked out by themselves: NumPy on the recorded tensors and parameters."""

import numpy as np

from tests.derived.truth import softmax


class Plain:
    """The calculations at a place, with NumPy on the recorded tensors and parameters."""

    def __init__(self, trace, place):
        self.trace, self.token, self.head = trace, place["token"], place["head"]
        self.layer, self.component = place["layer"], place["component"]
        self.own = f"encoder.layer.{self.layer}"
        config = trace.model.config
        self.config, self.width = config, config.hidden_size // config.num_attention_heads
        q, k, v = (
            trace[f"{self.own}.attention.self.{name}"][self.head].astype(float) for name in ("query", "key", "value")
        )
        self.q, self.keys, self.values = q[self.token], k, v
        self.scores = k @ self.q / np.sqrt(self.width) + np.where(trace.encoding.mask, 0, -1e30)
        self.shares = softmax(self.scores)

    @property
    def key(self):
        """The word with the largest weight, if that is an even share; else whatever has the largest."""
        special = self.trace.model.tokenizer.special_tokens
        words = [i for i, text in enumerate(self.trace.tokens) if text not in special and i != self.token]
        best = max(words, key=lambda i: self.shares[i], default=0)
        enough = words and self.shares[best] * sum(self.trace.encoding.mask) >= 1
        return best if enough else int(self.shares.argmax())

    @property
    def channel(self):
        """The component that the sums are told at."""
        added = self.trace[f"{self.own}.attention.output.dense"][self.token]
        return int(np.abs(added[:64]).argmax()) if self.component is None else self.component

    def cut(self):
        count, padding = (self.trace.encoding.mask.count(real) for real in (1, 0))
        return [
            count,
            *([padding] if padding else []),
            self.config.vocab_size,
            *self.where(self.token),
            self.trace.encoding.ids[self.token],
            0,
            len(self.trace.tokens) - 1,
        ]

    def where(self, i):
        """A position is named where the same token stands elsewhere too."""
        return [i] if self.trace.tokens.count(self.trace.tokens[i]) > 1 else []

    def look_up(self):
        c, encoding, tables = self.channel, self.trace.encoding, "embeddings.{}.weight"
        ids = [encoding.ids[self.token], self.token, encoding.segments[self.token]]
        names = ("word_embeddings", "position_embeddings", "token_type_embeddings")
        rows = [self.trace[tables.format(name)][i].astype(float) for name, i in zip(names, ids, strict=True)]
        told = [number for row, i in zip(rows, ids, strict=True) for number in (row[c], i)]
        return [
            self.config.hidden_size,
            c,
            *self.where(self.token),
            *told,
            sum(rows)[c],
            self.normalize("embeddings.LayerNorm", sum(rows))[c],
        ]

    def normalize(self, path, x):
        spread = np.sqrt(x.var() + self.config.layer_norm_eps)
        return self.trace[f"{path}.weight"] * (x - x.mean()) / spread + self.trace[f"{path}.bias"]

    def offer(self):
        lengths = [np.linalg.norm(x) for x in (self.q, self.keys[self.key], self.values[self.key])]
        other = self.where(self.key) if self.key != self.token else []
        return [
            self.channel,
            self.config.hidden_size - 1,
            self.config.num_attention_heads,
            self.width,
            self.head,
            self.layer,
            *self.where(self.token),
            *other,
            *lengths,
        ]

    def compare(self):
        terms = self.q * self.keys[self.key]
        return [
            *self.where(self.token),
            *self.where(self.key),
            self.width,
            terms[np.abs(terms).argmax()],
            terms.sum(),
            self.width,
            terms.sum() / np.sqrt(self.width),
        ]

    def divide(self):
        return [
            self.scores.max(),
            np.exp(self.scores - self.scores.max()).sum(),
            *self.where(self.key),
            self.shares[self.key],
            *self.where(self.token),
        ]

    def collect(self):
        result = self.shares @ self.values
        c = self.followed(result)
        parts = self.shares * self.values[:, c]
        best = int(np.abs(parts).argmax())
        return [*self.where(self.token), c, self.channel, result[c], parts[best], *self.where(best)]

    def column(self):
        return self.trace[f"{self.own}.attention.output.dense.weight"][:, self.channel].astype(float)

    def followed(self, result):
        """Of the head's numbers the one that adds most to the component, be it up or down."""
        return int(np.abs(result * self.column()[self.head * self.width :][: self.width]).argmax())

    def join(self):
        heads = self.trace[f"{self.own}.attention.self.context"][self.token].astype(float)
        at = self.head * self.width + self.followed(heads[self.head * self.width :][: self.width])
        products = heads * self.column()
        bias = self.trace[f"{self.own}.attention.output.dense.bias"][self.channel]
        return [
            self.config.num_attention_heads,
            self.layer,
            self.width,
            self.config.hidden_size,
            at,
            heads[at],
            self.column()[at],
            products[at],
            self.head,
            products[self.head * self.width :][: self.width].sum(),
            self.config.num_attention_heads,
            products.sum(),
            bias,
            self.channel,
            *self.where(self.token),
            products.sum() + bias,
        ]

    def add(self):
        c, out = self.channel, f"{self.own}.attention.output"
        before = f"encoder.layer.{self.layer - 1}.output.LayerNorm" if self.layer else "embeddings.LayerNorm"
        skip = self.trace[before][self.token].astype(float)
        heads = self.trace[f"{self.own}.attention.self.context"][self.token].astype(float)
        added = heads @ self.trace[f"{out}.dense.weight"] + self.trace[f"{out}.dense.bias"]
        x = skip + added
        gamma, beta = (self.trace[f"{out}.LayerNorm.{name}"][c] for name in ("weight", "bias"))
        return [
            c,
            *self.where(self.token),
            skip[c],
            self.config.num_attention_heads,
            self.layer,
            added[c],
            x[c],
            x.mean(),
            np.sqrt(x.var() + self.config.layer_norm_eps),
            gamma,
            beta,
            self.normalize(f"{out}.LayerNorm", x)[c],
        ]

    def fire(self):
        x = self.trace[f"{self.own}.attention.output.LayerNorm"][self.token].astype(float)
        before = (
            x @ self.trace[f"{self.own}.intermediate.dense.weight"] + self.trace[f"{self.own}.intermediate.dense.bias"]
        )
        after = self.trace[f"{self.own}.intermediate.activation"][self.token]
        taken = np.where(before > 0, before - after, 0)
        named = [
            int(np.abs(after).argmax()),
            *([int(taken.argmax())] if taken.max() > 0.005 else []),
            *([int(before.argmin())] if before.min() < 0 and after[before.argmin()] > -0.005 else []),
        ]
        told = [number for i in dict.fromkeys(named) for number in (i, before[i], after[i])]
        written = (
            after.astype(float) @ self.trace[f"{self.own}.output.dense.weight"]
            + self.trace[f"{self.own}.output.dense.bias"]
        )
        c, total = self.channel, x + written
        ends = [c, written[c], x[c], total[c], self.normalize(f"{self.own}.output.LayerNorm", total)[c]]
        return [len(before), self.layer, int((before > 0).sum()), 0, *self.where(self.token), *told, *ends]

    def answer(self):
        logits = self.trace["cls.predictions.decoder"][self.token].astype(float)
        first, second = np.argsort(-logits)[:2]
        shares = softmax(logits)
        h = self.trace["cls.predictions.transform.LayerNorm"][self.token].astype(float)
        weight, bias = (self.trace[f"cls.predictions.decoder.{name}"] for name in ("weight", "bias"))
        return [
            *self.where(self.token),
            self.channel,
            self.last[self.channel],
            len(h),
            h @ weight[:, first],
            bias[first],
            logits[first],
            len(logits),
            shares[first],
            shares[second],
        ]

    @property
    def last(self):
        return self.trace[f"encoder.layer.{self.config.num_hidden_layers - 1}.output.LayerNorm"][self.token]

    def end(self):
        return [len(self.last), *self.where(self.token), self.channel, self.last[self.channel]]
