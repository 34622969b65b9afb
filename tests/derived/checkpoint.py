"""The pages about what was there before the sentence: tokenizer, parameters, axes."""

import itertools
import math
import re
from collections import Counter

import numpy as np

from bertviz_core.documents.names import SOURCES, find_names
from bertviz_core.formula.stages import Stage
from tests.derived.truth import Bars, Blocks, Map, Scene, Truth, points, softmax, truth

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def read_vocabulary(s: Scene) -> list[str]:
    return [s.trace.model.tokenizer.vocabulary[i] for i in range(s.config.vocab_size)]


def sort_entry(entry: str) -> str:
    if not entry:
        return "rows without an entry"
    if entry in SPECIAL:
        return "special tokens"
    if re.fullmatch(r"\[unused\d+\]", entry):
        return "placeholders"
    return "pieces" if entry.startswith("##") else "whole words and signs"


@truth("tokenization", "vocabulary-census")
def census(s: Scene) -> Truth:
    kinds = Counter(map(sort_entry, read_vocabulary(s)))
    order = ("whole words and signs", "pieces", "special tokens", "placeholders", "rows without an entry")
    found = {kind: kinds[kind] for kind in order if kinds[kind]}
    return Truth([Bars(found)], np.array([list(found.values())]), worked=[s.config.vocab_size])


@truth("tokenization", "The sentence, cut into tokens")
def cut_into_tokens(s: Scene) -> Truth:
    """Its numbers stand in no table: test_inputs_page reads them."""
    return Truth()


@truth("tokenization", "The search for the longest piece: “*”")
def longest_piece(s: Scene, word: str) -> Truth:
    """The word is the scene's with most pieces, or an example; its candidates are counted by taking letters off."""
    known, start, rejected, found = set(read_vocabulary(s)), 0, 0, 0
    while start < len(word):
        tries = [("##" if start else "") + word[start:end] for end in range(len(word), start, -1)]
        fits = next((i for i, piece in enumerate(tries) if piece in known), None)
        rejected += len(tries) if fits is None else fits
        if fits is None:
            break
        found, start = found + 1, len(word) - fits
    return Truth(told=[rejected + found, rejected, found])


@truth("tokenization", "page")
def tokens(s: Scene) -> Truth:
    read, view = s.trace.encoding, s.shown.view
    size, count = len(view.typed), len(read)
    columns = {
        "input_ids": list(read.ids),
        "position_ids": list(range(count)),
        "token_type_ids": list(read.segments),
        "attention_mask": [1] * size + [0] * (count - size),
    }
    tables, told = [columns], []
    if count > size:
        scaled, probs = (s.own(f"attention.self.{leaf}")[s.head, s.token] for leaf in ("scaled", "probs"))
        lowest = float(np.finfo(np.float32).min)
        shares = softmax(np.where(np.arange(count) < size, scaled, -np.inf))
        most = int(shares.argmax())
        tables.append(
            {
                "attention_mask": [1, 0, None],
                "scaled score": [scaled[most], scaled[size], None],
                "masked score": [scaled[most], scaled[size] + lowest, None],
                "attention weight": [shares[most], 0.0, float(probs[size:].sum())],
            }
        )
    return Truth(told=told, tables=tables)


def count_parameters(s: Scene) -> dict[str, int]:
    """How many numbers each part of Hugging Face's model holds, a tied one once."""
    sums: dict[str, int] = {}
    for name, parameter in s.hf.named_parameters():
        layer = re.search(r"encoder\.layer\.(\d+)\.", name)
        heads = {
            "cls.predictions": "masked language model",
            "cls.seq_relationship": "next sentence",
            "bert.pooler": "pooler",
            "classifier": "classifier",
        }
        part = f"layer {layer[1]}" if layer else next((v for k, v in heads.items() if name.startswith(k)), "embeddings")
        sums[part] = sums.get(part, 0) + parameter.numel()
    return sums


def read_tensor(s: Scene) -> np.ndarray:
    """The tensor that is asked for."""
    return s[s.asked.get("tensor", "embeddings.word_embeddings.weight")]


GROUPS = {
    "attention": r"encoder\.layer\.\d+\.attention\.(self|output\.dense)",
    "LayerNorm": r"encoder\.layer\.\d+\.(attention\.)?output\.LayerNorm",
    "feed-forward": r"encoder\.layer\.\d+\.(intermediate|output)\.dense",
    "embeddings": r"embeddings", "masked language model": r"cls\.predictions", "next sentence": r"cls\.seq",
    "pooler": r"pooler", "classifier": r"classifier",
}  # fmt: skip
TILES = {
    "embeddings": ("word_embeddings", "position_embeddings", "token_type_embeddings", "embeddings.LayerNorm"),
    "feed-forward": (r"intermediate", r"\d\.output\.dense"),
    "attention": (r"self\.query", r"self\.key", r"self\.value", r"attention\.output\.dense"),
}


def list_sizes(s: Scene) -> dict[str, int]:
    """How many numbers each of Hugging Face's tensors holds, a tied one once."""
    return {name.removeprefix("bert."): tensor.numel() for name, tensor in s.hf.named_parameters()}


@truth("parameters", "parameter-areas")
def areas(s: Scene) -> Truth:
    """Columns as wide as their share of all, tiles as high as their share of the column."""
    sizes = list_sizes(s)
    total = sum(sizes.values())
    groups = {group: sum(n for name, n in sizes.items() if re.match(mark, name)) for group, mark in GROUPS.items()}
    table = s.shown.find("parameters", "parameter-areas").tables[0]
    *parts, whole = table.rows
    assert sorted(parts) == sorted(group for group, count in groups.items() if count) and whole == "all"
    held = [
        [
            sum(n for name, n in sizes.items() if re.match(GROUPS[group], name) and re.search(mark, name))
            for mark in marks
        ]
        for group, marks in TILES.items()
    ]
    held.append([groups[group] for group in parts if group not in TILES])
    x, width, base, y = [], [], [], []
    for column in held:
        start = (x[-1] + width[-1]) if x else 0.0
        for i, count in enumerate(column):
            x.append(start)
            width.append(sum(column) / total)
            base.append(sum(column[:i]) / sum(column))
            y.append(count / sum(column))
    return Truth(
        [points(x=x, width=width, base=base, y=y)],
        tables=[
            {
                "numbers": [*(groups[row] for row in parts), total],
                "from sizes": [*(write_sizes(s, GROUPS[row]) for row in parts), ""],
            }
        ],
    )


def write_sizes(s: Scene, mark: str) -> str:
    """The sizes of Hugging Face's tensors of a group, multiplied, those that are alike together, largest sum first."""
    held = s.hf.named_parameters()
    shapes = [tuple(sorted(p.shape, reverse=True)) for n, p in held if re.match(mark, n.removeprefix("bert."))]
    counted = [(shapes.count(shape), *shape) for shape in set(shapes)]
    texts = [(-math.prod(sizes), "·".join(f"{size:,}" for size in sizes[sizes[0] == 1 :])) for sizes in counted]
    return " + ".join(text for _, text in sorted(texts))


@truth("parameters", "Parts and config.json")
def parts(s: Scene) -> Truth:
    sums = count_parameters(s)
    total = sum(sums.values())
    shown = s.shown.find("parameters", "Parts and config.json").tables[0].rows
    assert sorted(shown) == sorted(sums)
    sums = {part: sums[part] for part in shown}
    shares = [100 * count / total for count in sums.values()]
    told = [total, len(list_sizes(s)), 4 * total]
    return Truth(told=told, tables=[{"numbers": list(sums.values()), "% of all": shares}], rows=list(sums))


def list_told(s: Scene) -> list[float]:
    """What is said of the chosen tensor: how many numbers it has, its share of all, its shape here and in the file."""
    tensor, total = read_tensor(s), sum(list_sizes(s).values())
    stored = read_stored(s, s.asked.get("tensor", "embeddings.word_embeddings.weight"))
    turned = list(stored) if stored != tensor.shape else []
    return [tensor.size, tensor.size / total, *tensor.shape, *turned]


def read_stored(s: Scene, address: str) -> tuple[int, ...]:
    """A tensor's shape as Hugging Face has it, which is the file's."""
    state = s.hf.state_dict()
    return tuple(state[address if address in state else f"bert.{address}"].shape)


@truth("parameters", "page")
def all_tensors(s: Scene) -> Truth:
    total = sum(list_sizes(s).values())
    program = s.trace.model.program.parameters
    seen, sizes, counted, shapes, stored, tied = {}, [], [], [], [], []
    for address in [symbol.address for symbol in program]:
        values = s.trace.model.parameters[address]
        first = seen.setdefault(values.data_ptr(), address)
        sizes.append(values.numel())
        counted.append(100 * values.numel() / total if first == address else 0)
        tied.append("" if first == address else first)
        shapes.append(
            " × ".join(f"{axis} {size:,}" for axis, size in zip(s.trace.dims(address), values.shape, strict=True))
        )
        stored.append(" × ".join(f"{size:,}" for size in read_stored(s, address)))
    return Truth(
        frames=[{"shape": shapes, "in the file": stored, "numbers": sizes, "% of all": counted, "tied to": tied}]
    )


@truth("parameters", "sizes-*")
def sizes(s: Scene, name: str) -> Truth:
    values = s[name].ravel()
    low, high = values.min(), values.max()
    width = (high - low) / 80
    places = np.minimum(((values - low) / width).astype(int), 79)
    counts = [int((places == i).sum()) for i in range(80)]
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((values - mean) ** 2) / len(values))
    zeros = int((values == 0).sum())
    bars = points(x=[low + (i + 0.5) * width for i in range(80)], y=counts)
    return Truth([bars], np.array(counts)[:, None], told=[low, high, zeros, len(values), 80], worked=[deviation, mean])


@truth("parameters", "blocks-*")
def blocks(s: Scene, name: str) -> Truth:
    matrix = np.atleast_2d(s[name])
    if matrix.size <= 12_000:
        return Truth([Blocks(matrix, 1, 1)], matrix)
    rows, columns = (96, 128) if len(matrix) > 1 else (1, 12_000)
    height, width = (math.ceil(size / most) for size, most in zip(matrix.shape, (rows, columns), strict=True))
    found = np.array(
        [
            [math.sqrt(np.mean(matrix[i : i + height, j : j + width] ** 2)) for j in range(0, matrix.shape[1], width)]
            for i in range(0, len(matrix), height)
        ]
    )
    return Truth([Blocks(found, height, width)], found, told=[height, width], worked=[found[0, 0]])


@truth("parameters", "*")
def numbers(s: Scene, name: str) -> Truth:
    matrix = np.atleast_2d(s[name.removeprefix("numbers-")])
    axes = ["", *s.trace.dims(name.removeprefix("numbers-"))][-2:]
    asked = [
        int(s.asked.get("entry-row", find_word(s)) if axis == "vocab" else s.asked.get(side, 0))
        for side, axis in zip(("row", "column"), axes, strict=True)
    ]
    row, column = (max(0, min(*each)) for each in zip(asked, (len(matrix) - 16, matrix.shape[1] - 32), strict=True))
    part = matrix[row : row + 16, column : column + 32]
    return Truth([Map(matrix)], part, told=list_told(s), worked=[part[0, 0]])


def find_word(s: Scene) -> int:
    """The id at which a window of the vocabulary's entries opens: the chosen token's, or that of the first word."""
    marks = {"[CLS]", "[SEP]", "[MASK]", "[PAD]", "[UNK]"}
    words = [i for i, text in enumerate(s.trace.tokens) if text not in marks]
    return s.trace.encoding.ids[s.token if s.token in words or not words else words[0]]


@truth("formulas", "step-counts")
def count_numbers(s: Scene) -> Truth:
    """Every step's numbers in this pass, those of a layer as often as there are layers."""
    shown = [a for a in s.trace.addresses if ".layer." not in a or f".layer.{s.layer}." in a]
    sizes = {a: math.prod(s.trace.shape(a)) for a in shown}
    inside = [a for a in shown if ".layer." in a]
    counts = [sizes[a] * (len(s.layers) if a in inside else 1) for a in shown]
    found = [s.trace.program.stages[a] for a in shown]
    rows = [0, *itertools.accumulate(int(one != other) for one, other in itertools.pairwise(found))]
    base = [sum(counts[j] for j in range(i) if rows[j] == rows[i]) for i in range(len(rows))]
    return Truth([points(x=counts, y=rows, base=base)])


@truth("notation", "names-shares")
def shares_of_names(s: Scene) -> Truth:
    """By stage, the quantities that are read or computed there first, and how many of them a source names."""
    program, stages = s.trace.program, {}
    for address, stage in program.stages.items():
        if ".layer." not in address or f".layer.{s.layer}." in address:
            stages.setdefault(stage, []).append(find_names(address))
    rows = [stages[stage] for stage in Stage if stage in stages]
    found = [[sum(bool(getattr(names, source)) for names in held) / len(held) for source in SOURCES] for held in rows]
    return Truth([Map(np.array(found))], np.array(found))


@truth("notation", "* elsewhere")
def one_quantity(s: Scene, title: str) -> Truth:
    """Names alone, and how many there are."""
    names = find_names(f"encoder.layer.{s.layer}.attention.self.query")
    count = sum(bool(getattr(names, source)) for source in SOURCES)
    assert title == f"Query: {count} names"
    return Truth(told=[count])


@truth("notation", "* in formulas")
def glossary(s: Scene, group: str) -> Truth:
    """The shape beside every address, and the length beside every axis."""
    said = "\n".join(s.shown.find("notation", f"{group} in formulas").texts)
    shapes = re.findall(r"`([\w.]+)` \(([^)]*)\)", said)
    lengths = re.findall(r"`(\w+)` = ([\d,]+)(?:</span>)* \|", said)
    assert shapes or lengths or group.startswith("Heads")
    for address, shape in shapes:
        sides = zip(s.trace.dims(address), s.trace.shape(address), strict=True)
        assert shape == " × ".join(f"{axis} {size}" for axis, size in sides), address
    labels = s.shown.find("notation", "axis-lengths")
    known = dict(zip(labels.labels, labels.traces[0]["x"], strict=True))
    assert all(float(size.replace(",", "")) == known[axis] for axis, size in lengths)
    return Truth()


@truth("notation", "* in code")
def names_in_code(_: Scene, __: str) -> Truth:
    """Names alone."""
    return Truth()


@truth("notation", "axis-lengths")
def axes(s: Scene) -> Truth:
    n, config = len(s.trace.tokens), s.config
    found = {
        "token": n,
        "query": n,
        "key": n,
        "head": config.num_attention_heads,
        "head_dim": config.head_dim,
        "hidden": config.hidden_size,
        "concat": config.hidden_size,
        "intermediate": config.intermediate_size,
        "transform": config.hidden_size,
        "vocab": config.vocab_size,
        "position": config.max_position_embeddings,
        "segment": config.type_vocab_size,
        "pooled": config.hidden_size,
        "relation": 2,
    }
    drawn = s.shown.find("notation", "axis-lengths").labels
    assert sorted(drawn) == sorted(found)
    return Truth(
        [Bars({name: found[name] for name in drawn})],
        np.array([[found[name] for name in drawn]]),
        worked=[config.num_attention_heads * config.head_dim],
    )
