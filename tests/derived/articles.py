"""The page about the documents."""

import math
import re

import numpy as np

import bertviz_core as bv
from bertviz_core.documents import DOCUMENTS, examples
from tests.derived.reading import find_numbers
from tests.derived.truth import (
    Bars,
    Scene,
    Truth,
    best,
    cosine,
    length,
    points,
    softmax,
    truth,
)
from tests.slips import expect_numbers, list_printed, write_printed

WORDS = examples.WORDS
NUMBERS = {document.program: document.number for document in DOCUMENTS}
TITLES = {"bert": "BERT as released"} | {one.program: f"{one.name} ({one.number})" for one in DOCUMENTS}
OWN_HEAD = ("bert", "notebook", "definition")  # documents that go up to the vocabulary
ALONE = {  # what each does otherwise than BERT
    "forward-pass-note": ("no-segment", "no-embedding-norm", "no-bias", "relu", "no-output-matrix",
                          "embedding-in-sums"),
    "definition": ("no-segment", "no-embedding-norm", "no-unembedding-bias"),
    "formula-post": ("no-bias", "early-root", "norm-first", "third-term"),
}  # fmt: skip


def run_document(s: Scene, name: str):
    """This sentence as a document has it."""
    if name == "bert":
        return s.trace
    view = s.shown.view
    return bv.run(s.trace.model, view.text, view.pair, pad_to=len(s.trace.tokens), program=name)


def read_layers(s: Scene, name: str) -> np.ndarray:
    """What every layer of a document hands on, (layer, token, hidden)."""
    leaf, trace = "residual" if name == "formula-post" else "LayerNorm", run_document(s, name)
    found = np.array([trace[f"encoder.layer.{i}.output.{leaf}"] for i in s.layers], dtype=np.float64)
    pads = trace.encoding.mask.index(1)  # before the text, in one document
    return np.concatenate([found[:, pads:], found[:, :pads]], axis=1)


def choose_documents(s: Scene) -> tuple[str, str]:
    return s.asked.get("document", "forward-pass-note"), s.asked.get("beside", "bert")


def measure_documents(s: Scene) -> dict[str, list]:
    """The table of distances."""
    right, left = choose_documents(s)
    runs = {name: read_layers(s, name) for name in {"bert", right, left}}
    pairs = {NUMBERS[right]: ("bert", right)}
    if left != "bert":
        pairs |= {NUMBERS[left]: ("bert", left), f"{NUMBERS[right]} and {NUMBERS[left]}": (left, right)}
    columns = {}
    for name, (one, other) in pairs.items():
        turned = np.array(
            [[cosine(a, b) for a, b in zip(x, y, strict=True)] for x, y in zip(runs[one], runs[other], strict=True)]
        )
        apart = [float(np.abs(x - y).max()) for x, y in zip(runs[one], runs[other], strict=True)]
        columns |= {
            f"{name}: cosine": list(turned[:, s.token]),
            f"{name}: lowest of all tokens": list(turned.min(axis=1)),
            f"{name}: largest difference": apart,
        }
    return columns


def turn_from_bert(s: Scene, layers: np.ndarray) -> list[float]:
    """The cosine of the chosen token's vector with BERT's, after every layer."""
    return [cosine(x[s.token], y[s.token]) for x, y in zip(read_layers(s, "bert"), layers, strict=True)]


@truth("documents", "document-cosines")
def distances(s: Scene) -> Truth:
    """A line for each of them; the last one drawn is that of the chosen document."""
    right = choose_documents(s)[0]
    lines = {name: turn_from_bert(s, read_layers(s, name)) for name in NUMBERS}
    short = {name: TITLES[name].split(" (")[0].split()[-1] for name in NUMBERS}
    drawn = [points(short[name], y=lines[name]) for name in sorted(NUMBERS, key=lambda name: name == right)]
    return Truth(drawn, np.array(list(lines.values())).T)


@truth("documents", "Distance after each layer")
def layers(s: Scene) -> Truth:
    return Truth(tables=[measure_documents(s)], rows=s.stages[1:])


def read_answer(s: Scene, name: str) -> tuple[str, float]:
    """The likeliest word of a document at the chosen token, by BERT's head where it has none of its own."""
    if name in OWN_HEAD:
        scores = run_document(s, name)[f"cls.predictions.decoder[token={s.token}]"].astype(np.float64)
    else:
        scores = s.read_words(read_layers(s, name)[-1, s.token][None])[0]
    top = int(scores.argmax())
    return f"“{s.word(top)}”", softmax(scores)[top]


@truth("documents", "The documents, each run as written")
def five(s: Scene) -> Truth:
    """The last layer's cosine, and the answer."""
    turned = [turn_from_bert(s, read_layers(s, name))[-1] for name in NUMBERS]
    rows = [TITLES[name].split(" (")[0] for name in NUMBERS]
    return Truth(
        tables=[{"cosine −0.2 to 1": turned, "its answer": [read_answer(s, name) for name in NUMBERS]}],
        rows=[f"{NUMBERS[name]}{row[0].upper()}{row[1:]}" for name, row in zip(NUMBERS, rows, strict=True)],
        may=[0],
    )


@truth("documents", "Where the * departs, step by step")
def departures(s: Scene, document: str) -> Truth:
    """BERT with each departure alone: the last layer's cosine, the answer, and what is left of BERT's own."""
    name = next(name for name, title in TITLES.items() if title.startswith(document))
    if name not in ALONE:
        return Truth()
    scores = s[f"cls.predictions.decoder[token={s.token}]"]
    own, turned, answers = int(scores.argmax()), [], []
    for departure in ALONE[name]:
        alone = bv.run(s.trace.model, s.trace.encoding, program=f"bert+{departure}")
        last = f"encoder.layer.{s.layers[-1]}.output"
        leaf = "LayerNorm" if f"{last}.LayerNorm" in alone else "residual"
        turned.append(cosine(s.states[-1][s.token], alone[f"{last}.{leaf}"][s.token].astype(np.float64)))
        probs = softmax(alone[f"cls.predictions.decoder[token={s.token}]"].astype(np.float64))
        top = int(probs.argmax())
        left = () if top == own else (f"{s.word(own)}", probs[own])
        answers.append((f"“{s.word(top)}”", probs[top], *left))
    return Truth(tables=[{"cosine, this alone": turned, f"answer {len(ALONE[name])} passes": answers}])


@truth("documents", "The note at two lengths")
def note_lengths(s: Scene) -> Truth:
    """Its words and its last vector with as many tokens as the sentence has, and with as many as the model reads."""
    view, last = s.shown.view, f"encoder.layer.{s.layers[-1]}.output.LayerNorm"
    lengths = [len(s.trace.tokens), s.config.max_position_embeddings]
    rows = [
        bv.run(s.trace.model, view.text, view.pair, pad_to=length, program="forward-pass-note")[last][s.token]
        for length in lengths
    ]
    scores = [s.read_words(row.astype(np.float64)[None])[0] for row in rows]
    return Truth(
        answers=[[(s.word(i), softmax(line)[i]) for i in best(line, 3)] for line in scores],
        told=[*(cosine(s[last][s.token], row.astype(np.float64)) for row in rows), *lengths, 512],
    )


@truth("documents", "The steps that differ")
def differing(s: Scene) -> Truth:
    """Formulas and addresses, which test_documents_page reads; of a pair, what one segment for both changes."""
    sides, told = [name for name in choose_documents(s) if name in ("notebook", "formula-post")], []
    if any(s.trace.encoding.segments) and sides:
        view = s.shown.view
        zero = bv.run(s.trace.model, view.text, view.pair, pad_to=len(s.trace.tokens), changes={"token_type_ids": 0})
        scores = [trace["cls.predictions.decoder"].astype(np.float64) for trace in (s.trace, zero)]
        changed = int((scores[0].argmax(axis=-1) != scores[1].argmax(axis=-1)).sum())
        told = [float(np.abs(scores[0] - scores[1]).max()), *([changed, len(s.trace.tokens)] if changed else [])]
    return Truth(told=told, may=[512])


def list_sums(s: Scene) -> dict[str, np.ndarray]:
    """Every sum that a LayerNorm reads, for all tokens."""
    sums = {"emb": s["embeddings.sum"]}
    for i in s.layers:
        sums[f"L{i} attention"] = s[f"encoder.layer.{i}.attention.output.residual"]
        sums[f"L{i} FFN"] = s[f"encoder.layer.{i}.output.residual"]
    return sums


@truth("documents", "slip-sigma")
def slip_sigma(s: Scene) -> Truth:
    rows = [x[s.token] for x in list_sums(s).values()]
    squares = [math.fsum((x - x.mean()) ** 2) for x in rows]
    width = s.config.hidden_size
    printed, meant = ([math.sqrt(1 / width) * q for q in squares], [math.sqrt(q / width) for q in squares])
    a, b = printed[1 + 2 * s.layer], meant[1 + 2 * s.layer]
    return Truth(
        [points("σ as printed", y=printed), points("standard deviation", y=meant)],
        np.array([printed, meant]).T,
        told=[a, b, (b / a) ** 2],
        worked=[a, b],
    )


@truth("documents", "slip-residual")
def slip_residual(s: Scene) -> Truth:
    note = run_document(s, "forward-pass-note")
    paths = ("embeddings.sum", *(f"encoder.layer.{i}.output.LayerNorm" for i in s.layers))
    x, *outputs = (note[path][s.token].astype(np.float64) for path in paths)
    first = [x, *outputs[:-1]]  # Z_0 is X
    second = [note[f"encoder.layer.{i}.attention.output.LayerNorm"][s.token].astype(np.float64) for i in s.layers]
    lines = [[cosine(x, y) for y in side] for side in (first, second)]
    lengths = [[length(y) for y in side] for side in (first, second)]
    own = lines[1][s.layer]
    told = [own, length(x), lengths[1][s.layer], *([lines[0][s.layer]] if s.layer else [])]
    return Truth(
        [points("first sum", y=lines[0]), points("second sum", y=lines[1])],
        np.array([*lines, *lengths]).T,
        told=told,
        worked=[own],
    )


@truth("documents", "slip-epsilon")
def slip_epsilon(s: Scene) -> Truth:
    found = []
    for x in (total[np.flatnonzero(s.trace.encoding.mask)] for total in list_sums(s).values()):
        flat, spread = x - x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
        found.append(float(np.abs(flat / np.sqrt(spread + 1e-5) - flat / np.sqrt(spread + 1e-12)).max()))
    own = s.own("attention.output.residual")[s.token]
    at = "encoder.layer.0."
    rows, columns = list_printed(len(s.trace.tokens), s.config.intermediate_size)
    total = s[f"{at}attention.output.residual"][rows]
    flat, spread = total - total.mean(axis=1, keepdims=True), total.var(axis=1, keepdims=True)
    gamma, beta, weight, bias = (
        s[f"{at}{path}"]
        for path in (
            "attention.output.LayerNorm.weight",
            "attention.output.LayerNorm.bias",
            "intermediate.dense.weight",
            "intermediate.dense.bias",
        )
    )
    one, other = (
        ((flat / np.sqrt(spread + epsilon) * gamma + beta) @ weight + bias)[:, columns] for epsilon in (1e-5, 1e-12)
    )
    changed = sum(a != b for a, b in zip(*map(write_printed, (one, other)), strict=True))
    return Truth(
        [points("largest change", y=found)],
        np.array(found)[:, None],
        told=[np.abs(one - other).max(), changed, one.size],
        worked=[math.sqrt(own.var() + 1e-5), math.sqrt(own.var() + 1e-12)],
    )


@truth("documents", "Slips in the *")
def slip_list(s: Scene, name: str) -> Truth:
    """The numbers measured here; whole ones stand in the words about what the document prints."""

    def run(program: str, more: int = 0):
        view = s.shown.view
        return bv.run(s.trace.model, view.text, view.pair, pad_to=len(s.trace.tokens) + more, program=program)

    (document,) = (one for one in DOCUMENTS if one.name == name)
    found = dict(expect_numbers(s.trace, s.layer, s.token, run))
    words = " ".join(text for slip in document.slips for text in (slip.where, slip.says, slip.right, slip.shows))
    whole = {int(number.value) for number in find_numbers(re.sub(r"\$.+?\$", " ", words)) if number.exact}
    count = len(s.trace.tokens)
    sizes = count, s.config.intermediate_size
    cells = [math.prod(map(len, list_printed(*sizes))), math.prod(sizes)]  # printed in In [49], and computed
    return Truth(
        told=[x for slip in document.slips for x in found.get(slip.name, ())],
        may=[*whole, s.layer, s.config.max_position_embeddings, 0, 3, count, *cells],
    )


SCORES = np.array(examples.SCORES)
PRINTED = np.array(examples.SHARES, dtype=np.float64)


@truth("documents", "slip-softmax")
def slip_softmax(s: Scene) -> Truth:
    computed = softmax(SCORES[0])
    sums = s.own("attention.self.probs")[s.head].sum(axis=-1)
    right = PRINTED[1:].sum(axis=1)
    told = [computed[0], right.min(), right.max(), 34, 1, PRINTED[0, 0], 6, 7, len(sums), sums.min(), sums.max(), 30]
    return Truth(
        [Bars(dict(zip(WORDS, PRINTED[0] / computed, strict=True)))],
        np.stack([PRINTED[0] / computed, PRINTED[0], computed], axis=1),
        told=told,
        worked=[computed[0]],
        tables=[{"printed": list(PRINTED[0]), "computed": list(computed)}],
        rows=list(WORDS),
    )


@truth("documents", "page")
def relations(s: Scene) -> Truth:
    """How many entries stand in each relation, as listed; and how far every shared tensor is apart."""
    right, left = choose_documents(s)
    one, other = run_document(s, left), run_document(s, right)
    page = "\n".join(s.shown.find("documents", "page").texts)
    signs = re.findall(r"\*\*([=≠−+]) (?:same|different|missing|extra)\*\*", page)
    entries = re.findall(r"\*\*[=≠] \w+\*\* &ensp; `([\w.]+)`[^\n]*\n *:small\[([^\n]*)\]", page)
    apart = {address: find_numbers(text) for address, text in entries}
    told = []
    for address, (number,) in {address: numbers for address, numbers in apart.items() if numbers}.items():
        between = np.abs(one[address].astype(np.float64) - other[address])
        for axis, name in enumerate(one.dims(address)):
            between = between.take(one.encoding.real, axis) if name in ("token", "query", "key") else between
        told.append(float(between.max()))
        assert number.tells(told[-1]), (address, number)
    assert len(told) > 5
    sizes = [512, 12, 64, 768]  # of the note's input, and those that the notebook writes out
    return Truth(told=[*(signs.count(sign) for sign in "=≠−+"), *told], may=sizes)
