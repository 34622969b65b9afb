"""The numbers that show the documents' slips, from the documents' text in plain NumPy."""

import math

import numpy as np

SELF = "encoder.layer.{}.attention.self.{}"
PADS = 3  # the encoder article's


def cosine(x, y):
    return float(x @ y / math.sqrt(x @ x) / math.sqrt(y @ y))


def expect_numbers(trace, layer, token, run):
    """The numbers of every slip that has any on this input: its name and them.

    run: a document's program over the same input, `more` padding tokens after it, as arrays by address.
    """
    config, tokens, vocabulary = trace.model.config, trace.tokens, trace.model.tokenizer.vocabulary
    d, n = config.hidden_size, len(tokens)

    def at(leaf, of=layer):
        return trace[f"encoder.layer.{of}.{leaf}"].astype(np.float64)

    if config.num_hidden_layers > 1:
        note, later = run("forward-pass-note"), layer or 1
        yield (
            "residual-x",
            [
                cosine(
                    note["embeddings.sum"][token].astype(float),
                    note[f"encoder.layer.{later - 1}.output.LayerNorm"][token].astype(float),
                )
            ],
        )
        yield "no-index", [cosine(*(at("attention.self.query.weight", i).ravel() for i in (0, 1)))]
    yield (
        "always-full",
        [
            config.max_position_embeddings - tokens.index("[PAD]")
            if "[PAD]" in tokens
            else config.max_position_embeddings - n
        ],
    )
    extreme = np.full(d, -1.0)
    extreme[0] = 1.0
    yield "softmax-of-tanh", [float((np.exp(extreme) / np.exp(extreme).sum()).max())]
    yield "bpe", [len([entry for entry in vocabulary if entry[:2] == "##"])]
    yield "twelve-twice", [n]
    x = at("attention.output.residual", 0)
    printed = [
        (
            (x - x.mean(1, keepdims=True))
            / np.sqrt(x.var(1, keepdims=True) + epsilon)
            * at("attention.output.LayerNorm.weight", 0)
            + at("attention.output.LayerNorm.bias", 0)
        )
        @ at("intermediate.dense.weight", 0)
        for epsilon in (1e-5, 1e-12)
    ]
    yield "epsilon", [float(np.abs(printed[0] - printed[1]).max())]
    yield "sampling", [d, config.intermediate_size]
    if "cls.predictions.decoder" in trace:
        yield from expect_probabilities(trace, token)
    yield "size-of-k", [math.sqrt(d) / math.sqrt(d // config.num_attention_heads)]
    row = at("attention.output.residual")[token]
    squares = float(((row - row.mean()) ** 2).sum())
    yield "sigma", [math.sqrt(1 / d) * squares, math.sqrt(squares / d)]
    yield "only-activation", [d, config.intermediate_size]
    yield "third-term", expect_third_term(run("formula-post"), layer, token)
    scales = [at(f"{leaf}LayerNorm.weight") for leaf in ("attention.output.", "output.")]
    yield "one-norm", [float(np.abs(scales[0] - scales[1]).max())]
    yield "x-twice", [n, n * d]
    yield "first-token", [n]
    yield "pads-first", [math.sin(0), math.sin(3)]
    if n + PADS <= config.max_position_embeddings:
        real = [i for i, word in enumerate(tokens) if word != "[PAD]"]
        probs = run("encoder-article", PADS)[SELF.format(layer, "probs")].astype(np.float64)
        yield "unmasked-pads", [float(probs[:, real, n:].sum(-1).mean())]
    line = [78.49, 43.29, 1.2, 41.74, 91.43, 74.47]
    yield "softmax-entry", [math.exp(line[0]) / sum(map(math.exp, line))]


def expect_probabilities(trace, token):
    def softmax(scores):
        return np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()

    column = softmax(trace[f"cls.predictions.decoder[token={token}]"].astype(np.float64))
    yield "missing-i", [float(column.max()), float(column.min())]
    if "[MASK]" in trace.tokens:
        hidden = softmax(trace[f"cls.predictions.decoder[token={trace.tokens.index('[MASK]')}]"].astype(np.float64))
        yield "typed-mask", [-math.log(hidden[trace.model.tokenizer.vocabulary.index("[MASK]")])]


def expect_third_term(post, layer, token):
    """The lengths of f_LN(x), and of attention's output plus x, in the post's own pass."""
    own = {
        leaf: post[f"encoder.layer.{layer}.{leaf}"][token].astype(np.float64)
        for leaf in ("attention.LayerNorm", "attention.output.dense")
    }
    x = post[f"encoder.layer.{layer - 1}.output.residual" if layer else "embeddings.LayerNorm"][token]
    return [
        float(np.linalg.norm(own["attention.LayerNorm"])),
        float(np.linalg.norm(own["attention.output.dense"] + x.astype(np.float64))),
    ]
