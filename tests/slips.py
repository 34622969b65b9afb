"""The numbers that show the documents' slips, from the documents' text in plain NumPy."""

import math

import numpy as np

SELF = "encoder.layer.{}.attention.self.{}"
PADS = 3  # the encoder article's


def cosine(x, y):
    return float(x @ y / math.sqrt(x @ x) / math.sqrt(y @ y))


def list_printed(*sizes):
    """The places of each axis that PyTorch prints of a tensor: all of few numbers, else three at each end."""
    if math.prod(sizes) <= 1000:
        return [list(range(n)) for n in sizes]
    return [sorted({*range(n)[:3], *range(n)[-3:]}) for n in sizes]


def write_printed(x):
    """Numbers as PyTorch prints them, in single precision: with four decimals, or all as powers of ten."""
    x = x.astype(np.float32).astype(np.float64)
    sizes = np.abs(x[x != 0])
    powers = sizes.max() > 1000 * sizes.min() or sizes.max() > 1e8 or sizes.min() < 1e-4
    return [f"{each:.4e}" if powers else f"{each:.4f}" for each in x.ravel()]


def expect_numbers(trace, layer, token, run):
    """The numbers of every slip that has any on this input: its name and them.

    run: a document's program over the same input with `more` padding tokens, as arrays by address.
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
    longest = config.max_position_embeddings
    full = run("forward-pass-note", longest - n)
    last = f"encoder.layer.{config.num_hidden_layers - 1}.output.LayerNorm"
    own = trace[last][token].astype(np.float64)
    yield (
        "always-full",
        [
            longest - tokens.index("[PAD]") if "[PAD]" in tokens else longest - n,
            *(cosine(own, one[last][token].astype(float)) for one in (run("forward-pass-note"), full)),
        ],
    )
    extreme = np.full(d, -1.0)
    extreme[0] = 1.0
    shares = np.exp(extreme) / np.exp(extreme).sum()
    yield "softmax-of-tanh", [float(shares.max()), float(shares.max() / shares.min())]
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
    change = np.abs(printed[0] - printed[1])
    rows, columns = list_printed(*change.shape)
    yield "epsilon", [float(change[rows][:, columns].max()), float(change.max())]
    yield "sampling", [d, config.intermediate_size]
    yield from expect_of_the_notebook(trace, token)
    if "cls.predictions.decoder" in trace:
        yield from expect_probabilities(trace, token, run("definition"))
    yield "size-of-k", [math.sqrt(d) / math.sqrt(d // config.num_attention_heads)]
    row = at("attention.output.residual")[token]
    squares = float(((row - row.mean()) ** 2).sum())
    yield "sigma", [math.sqrt(1 / d) * squares, math.sqrt(squares / d)]
    yield "only-activation", [d, config.intermediate_size]
    yield "third-term", expect_third_term(run("formula-post"), layer, token)
    first = run("formula-post")[last.replace("LayerNorm", "residual")][0].astype(np.float64)
    normal = (first - first.mean()) / math.sqrt(((first - first.mean()) ** 2).mean() + config.layer_norm_eps)
    yield "final-norm", [math.sqrt((first**2).sum()), math.sqrt((normal**2).sum())]
    scales = [at(f"{leaf}LayerNorm.weight") for leaf in ("attention.output.", "output.")]
    yield "one-norm", [float(np.abs(scales[0] - scales[1]).max())]
    yield "x-twice", [n, n * d]
    yield "first-token", [n]
    yield from expect_of_the_article(trace, layer, run)


def expect_of_the_article(trace, layer, run):
    config, tokens, n = trace.model.config, trace.tokens, len(trace.tokens)
    yield "pads-first", [math.sin(0), math.sin(3)]
    if n + PADS <= config.max_position_embeddings:
        pads = tokens.count("[PAD]") + PADS  # all before the text
        probs = run("encoder-article", PADS)[SELF.format(layer, "probs")].astype(np.float64)
        yield "unmasked-pads", [float(probs[:, pads:, :pads].sum(-1).mean())]
    products = run("encoder-article")[SELF.format(layer, "products")].ravel().tolist()
    yield "longer-greater", [len([x for x in products if x < 0]), len(products)]
    yield "positive-numbers", [1, 6]  # of 0.1, 0, 0.06, 0.1, 0.6, 0.14
    line = [78.49, 43.29, 1.2, 41.74, 91.43, 74.47]
    yield "softmax-entry", [math.exp(line[0]) / sum(map(math.exp, line))]


def expect_of_the_notebook(trace, token):
    config = trace.model.config
    d, f = config.hidden_size, config.intermediate_size
    yield "typed-epsilon", [config.layer_norm_eps]
    once = trace[SELF.format(0, "context")].astype(np.float64)
    flat = [x for column in zip(*once.tolist(), strict=True) for x in column]  # transposed, and read row by row
    yield "run-twice", [cosine(once[token], np.array(flat[token * d : (token + 1) * d]))]
    yield "first-matrix", [f, d]
    step = 1e-6
    slopes = [(1 + math.erf(side * step / math.sqrt(2))) / 2 for side in (-1, 1)]  # GELU(x) / x
    yield "continuous", [0, 1, *slopes]
    dense = d * d + d
    yield "layer-told", [dense + f * d + d, 4 * dense + 2 * d + d * f + f + f * d + d + 2 * d]
    if "cls.predictions.decoder" in trace:
        yield "bias-twice", [max(map(abs, trace["cls.predictions.decoder.bias"].tolist()))]


def expect_probabilities(trace, token, definition):
    def softmax(scores):
        return np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()

    both = [one["cls.predictions.decoder"].astype(np.float64) for one in (definition, trace)]
    columns = [softmax(scores[token]) for scores in both]
    yield "missing-i", [float(end(column)) for column in columns for end in (np.max, np.min)]
    if "[MASK]" in trace.tokens:
        place, mask = trace.tokens.index("[MASK]"), trace.model.tokenizer.vocabulary.index("[MASK]")
        yield "typed-mask", [-math.log(softmax(scores[place])[mask]) for scores in both]


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
