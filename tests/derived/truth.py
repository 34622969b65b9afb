"""What a panel should show, and how that is compared with what it does show."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from transformers import (
    AutoTokenizer,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)

from bertviz_core.checkpoint.hub import BUNDLED_FOLDER
from tests.derived.reading import Panel, Shown

_KINDS = {
    model.__name__: model
    for model in (
        BertForPreTraining,
        BertForSequenceClassification,
        BertForTokenClassification,
        BertForQuestionAnswering,
    )
}


def assert_near(found, expected, why: object) -> None:
    """Equal but for what single precision rounds; where one is not a number, so is the other."""
    expected = np.asarray(expected, dtype=np.float64)
    size = float(np.abs(expected[np.isfinite(expected)]).max(initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=4e-6 * size, err_msg=str(why))


@dataclass(frozen=True)
class Map:
    """A heat map that draws a part of a matrix, or every few of its rows and columns."""

    matrix: np.ndarray

    def check(self, panel: Panel, trace: Mapping, why: object) -> None:
        z = trace["z"]
        rows, columns = (slice(int(trace.get(f"{side}0", 0)), None, int(trace.get(f"d{side}", 1))) for side in "yx")
        assert_near(z, self.matrix[rows, columns][: z.shape[0], : z.shape[1]], why)


@dataclass(frozen=True)
class Blocks:
    """A heat map of the blocks of a matrix: every cell stands over the middle of its block."""

    values: np.ndarray
    height: int
    width: int

    def check(self, panel: Panel, trace: Mapping, why: object) -> None:
        assert_near(trace["z"], self.values, why)
        drawn = [trace[side] for side in ("x0", "dx", "y0", "dy")]
        assert drawn == [(self.width - 1) / 2, self.width, (self.height - 1) / 2, self.height], why


@dataclass(frozen=True)
class Rows:
    """A heat map whose rows have names: exactly these, in this order."""

    rows: Mapping[str, np.ndarray]

    def check(self, panel: Panel, trace: Mapping, why: object) -> None:
        assert panel.labels == list(self.rows), why
        assert_near(trace["z"], np.stack(list(self.rows.values())), why)


@dataclass(frozen=True)
class Bars:
    """Bars whose names stand beside them: exactly these, in this order."""

    bars: Mapping[str, float]

    def check(self, panel: Panel, trace: Mapping, why: object) -> None:
        assert panel.labels == list(self.bars), why
        assert_near(trace["x"], list(self.bars.values()), why)
        assert list(trace["y"]) == list(range(len(self.bars))), why


@dataclass(frozen=True)
class Points:
    """Points, bars or a line by their coordinates; name: what the legend calls them, if anything."""

    sides: Mapping[str, Sequence]
    name: str = ""

    def check(self, panel: Panel, trace: Mapping, why: object) -> None:
        assert trace.get("name", "") == self.name or not self.name, why
        for side, expected in self.sides.items():
            if isinstance(expected[0], str):
                assert list(trace[side]) == list(expected), (why, side)
            else:
                assert_near(trace[side], expected, (why, side))


ELSEWHERE = object()  # part of a chart that has a test of its own: test_explain_page


def points(name: str = "", **sides: Sequence) -> Points:
    return Points(sides, name)


@dataclass(frozen=True)
class Truth:
    """What a panel should show.

    drawn: the chart, part by part; held: the download; told: the numbers in its texts; worked: where each of its
    worked formulas ends; tables, frames: columns by name, in the order of the tables; answers: words with numbers;
    rows: the first table's; spans: first and last of what is drawn of an axis; may: whole numbers that texts may name.
    """

    drawn: Sequence = ()
    held: np.ndarray | None = None
    told: Sequence[float] = ()
    worked: Sequence[float] = ()
    tables: Sequence[Mapping[str, Sequence]] = ()
    frames: Sequence[Mapping[str, Sequence]] = ()
    answers: Sequence[Sequence[tuple[str, float]]] = ()
    rows: Sequence[str] = ()
    spans: Sequence[tuple[int, int]] = ()
    may: Sequence[int] = ()


@dataclass
class Scene:
    """One input as all pages show it, with the recorded tensors in double precision."""

    shown: Shown
    asked: Mapping[str, str]
    measured: dict = field(default_factory=dict)  # numbers of heads, each worked out once

    @property
    def trace(self):
        return self.shown.trace

    @property
    def config(self):
        return self.trace.model.config

    @property
    def layer(self) -> int:
        return self.shown.view.chosen.layer

    @property
    def head(self) -> int:
        return self.shown.view.chosen.head

    @property
    def token(self) -> int:
        return self.shown.view.chosen.token

    @property
    def key(self) -> int:
        """The key token that is worked out: of the words but the token itself that with the largest weight, if that is
        an even share at least; else the one with the largest weight."""
        row, special = (
            self.own("attention.self.probs")[self.head, self.token],
            self.trace.model.tokenizer.special_tokens,
        )
        words = [i for i, text in enumerate(self.trace.tokens) if text not in special and i != self.token]
        most = max(words, key=lambda i: (row[i], -i), default=None)
        fair = most is not None and row[most] >= 1 / sum(self.trace.encoding.mask)
        return int(self.asked.get("key_token", most if fair else row.argmax()))

    @property
    def layers(self) -> range:
        return range(self.config.num_hidden_layers)

    @property
    def names(self) -> list[str]:
        return [f"{i} {token}" for i, token in enumerate(self.trace.tokens)]

    @property
    def apart(self) -> list[str]:
        """Tokens by their texts, with their positions where the text is there again, and where tokens are many."""
        tokens = self.trace.tokens
        return [
            f"{i} {token}" if len(tokens) >= 30 or tokens.count(token) > 1 else token for i, token in enumerate(tokens)
        ]

    @property
    def real(self) -> list[int]:
        """The tokens that count: all but padding."""
        return [i for i, seen in enumerate(self.trace.encoding.mask) if seen]

    @property
    def listed(self) -> list[int]:
        """The tokens that are listed: those that count, and the chosen one."""
        return sorted({*self.real, self.token})

    @property
    def stages(self) -> list[str]:
        return ["emb", *(f"L{i}" for i in self.layers)]

    def __getitem__(self, address: str) -> np.ndarray:
        return np.array(self.trace[address], dtype=np.float64)

    def own(self, leaf: str) -> np.ndarray:
        """A tensor of the chosen layer."""
        return self[f"encoder.layer.{self.layer}.{leaf}"]

    def word(self, i: int) -> str:
        """An entry of the vocabulary, by its id where it has no name."""
        return self.trace.model.tokenizer.token(i) or f"id {i}"

    def saved(self, i: int) -> str:
        """The same in a table that can be saved: in quotes where a spreadsheet would take it for a formula."""
        word = self.word(i)
        return f"“{word}”" if word[0] in "=+-@" else word

    @cached_property
    def states(self) -> np.ndarray:
        """The tokens' vectors before the first layer and after every layer, (stage, token, hidden)."""
        after = [self[f"encoder.layer.{i}.output.LayerNorm"] for i in self.layers]
        return np.stack([self["embeddings.LayerNorm"], *after])

    @cached_property
    def hf(self):
        """Hugging Face's model of the same checkpoint."""
        name = self.trace.model.name
        kind = _KINDS[self.config.architectures[0]] if name != "bundled" else BertForPreTraining
        folder = BUNDLED_FOLDER if name == "bundled" else name
        return kind.from_pretrained(folder, dtype=torch.float32).eval()

    @cached_property
    def hf_run(self):
        """Hugging Face's pass over the same input, with the hidden states."""
        return self.run_hf()

    @torch.inference_mode()
    def run_hf(self):
        read = self.trace.encoding
        given = {"input_ids": read.ids, "token_type_ids": read.segments, "attention_mask": read.mask}
        return self.hf(**{name: torch.tensor([row]) for name, row in given.items()}, output_hidden_states=True)

    @cached_property
    def hf_tokenizer(self):
        """Hugging Face's tokenizer of the same checkpoint."""
        name = self.trace.model.name
        return AutoTokenizer.from_pretrained(BUNDLED_FOLDER if name == "bundled" else name)

    @torch.inference_mode()
    def read_words(self, vectors) -> np.ndarray:
        """What Hugging Face's language model head gives vectors (row, hidden): scores (row, vocab)."""
        rows = torch.as_tensor(np.asarray(vectors), dtype=torch.float32)
        return self.hf.cls.predictions(rows).double().numpy()

    @property
    def known(self) -> set[int]:
        """Whole numbers that any text may name: the chosen place, the sizes, and what has no digits to get wrong."""
        sizes = (
            self.config.num_hidden_layers,
            self.config.num_attention_heads,
            self.config.hidden_size,
            self.config.head_dim,
            self.config.intermediate_size,
            self.config.vocab_size,
            self.config.max_position_embeddings,
        )
        return {-1, 0, 1, 2, 10, self.layer, self.head, self.token, self.key, len(self.trace.tokens), *sizes}


TRUTHS: dict[tuple[str, str], Callable[..., Truth]] = {}


def truth(page: str, name: str):
    """Registers how to calculate what a panel shows; * in its name stands for what is passed on."""

    def keep(function):
        TRUTHS[page, name] = function
        return function

    return keep


def find_truth(scene: Scene, page: str, name: str) -> Truth | None:
    """What a panel should show, calculated; nothing where nobody knows it."""
    for (own, pattern), work in TRUTHS.items():
        found = re.fullmatch(re.escape(pattern).replace(r"\*", "(.*)"), name)
        if own == page and found:
            return work(scene, *found.groups())
    return None


def softmax(scores) -> np.ndarray:
    """Along the last axis, in double precision."""
    powers = np.exp(np.asarray(scores, dtype=np.float64) - np.max(scores, axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def length(x) -> float:
    return math.sqrt(math.fsum(float(a) ** 2 for a in x))


def moments(x, epsilon: float) -> list[float]:
    """Mean and variance of a vector, and what a LayerNorm divides it by."""
    variance = float(np.mean((x - x.mean()) ** 2))
    return [float(x.mean()), variance, math.sqrt(variance + epsilon)]


def cosine(x, y) -> float:
    return math.fsum(float(a) * float(b) for a, b in zip(x, y, strict=True)) / (length(x) * length(y))


def cosines(rows) -> np.ndarray:
    """Between every two rows."""
    rows = np.asarray(rows, dtype=np.float64)
    sizes = np.sqrt((rows * rows).sum(axis=1))
    return (rows @ rows.T) / sizes[:, None] / sizes[None, :]


def best(values, k: int) -> list[int]:
    """The places of the k largest, largest first."""
    return sorted(range(len(values)), key=lambda i: (-values[i], i))[:k]


def strongest(values) -> int:
    return int(np.abs(values).argmax())


def choose_some(sizes, k: int, also: Sequence[int]) -> list[int]:
    """All of a row, or where it has more than k + 1 its k largest and those asked for, in the row's order."""
    return list(range(len(sizes))) if len(sizes) <= k + 1 else sorted({*best(sizes, k), *also})


def window(center: int, size: int, total: int) -> range:
    """`size` neighbours around a place."""
    start = max(0, min(center - size // 2, total - size))
    return range(start, min(start + size, total))
