"""What a step asks about: a pass, and the place in it at which the visitor looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bertviz_core.analysis.openings import open_head, open_token
from bertviz_core.analysis.predictions import PROBS
from bertviz_core.checkpoint.model import Model
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_percent
from bertviz_core.formula.texts import name_token
from bertviz_core.programs.names import SELF_ATTENTION
from bertviz_core.tracing.changes import Changes
from bertviz_core.tracing.trace import Trace, run

Runs = Callable[[Model, str], Trace]


@dataclass(frozen=True)
class Scene:
    """A pass without changes, and the layer, head and token in it that are looked at.

    runs: the pass of another sentence; by default it is run here, at once.
    """

    trace: Trace
    layer: int
    head: int
    token: int
    runs: Runs = run

    @property
    def model(self) -> Model:
        return self.trace.model

    @property
    def tokens(self) -> list[str]:
        return self.trace.tokens

    @property
    def here(self) -> str:
        """The token that is looked at, in quotation marks."""
        return self.quote(self.token)

    def quote(self, position: int) -> str:
        """A token in quotation marks, with its position where it stands elsewhere as well."""
        return name_token(self.tokens, position)

    def find_attention(self, leaf: str, **at: int) -> Address:
        """A tensor of the chosen layer's attention at the chosen head: "query", "scores", "probs" and others."""
        return SELF_ATTENTION.enter(leaf).in_layer(self.layer).fix(head=self.head, **at)

    def read_row(self, leaf: str) -> np.ndarray:
        """The chosen token's row of `find_attention`, in float64: (key), or (d_k) of queries, keys and values."""
        axis = "query" if leaf in ("products", "scaled", "scores", "probs") else "token"
        return self.trace[self.find_attention(leaf, **{axis: self.token})].astype(np.float64)

    def change(self, changes: Changes) -> Scene:
        """The same place in the pass with these changes."""
        return replace(self, trace=self.trace.with_changes(changes))

    def read(self, text: str) -> Scene:
        """Another sentence by the same model, where a page opens. Raises InputError where it cannot be run."""
        trace = self.runs(self.model, text)
        token = open_token(trace).token
        opened = open_head(trace, token)
        return replace(self, trace=trace, layer=opened.layer, head=opened.head, token=token)

    def read_shares(self, position: int | None = None) -> np.ndarray:
        """The probability of each entry of the vocabulary at a token, in float64: (vocab)."""
        token = self.token if position is None else position
        return self.trace[PROBS.fix(token=token)].astype(np.float64)

    def name_top(self, position: int | None = None) -> str:
        """The likeliest entry there."""
        return self.model.tokenizer.name(int(self.read_shares(position).argmax()))

    def tell_tops(self, count: int, position: int | None = None) -> str:
        """The likeliest entries there with their probabilities: `“people” 6.6 %, “men” 5.2 %`."""
        return ", ".join(f"“{name}” {format_percent(share)}" for name, share in self.list_tops(count, position))

    def list_tops(self, count: int, position: int | None = None) -> tuple[tuple[str, float], ...]:
        """The likeliest entries there, the likeliest first, with their probabilities."""
        shares = self.read_shares(position)
        tops = np.argsort(-shares, kind="stable")[:count]
        return tuple((self.model.tokenizer.name(int(i)), float(shares[i])) for i in tops)

    def list_repeated(self) -> tuple[int, ...]:
        """The positions of the first token of the text that stands there twice or more; none where all differ."""
        special = self.model.tokenizer.special_tokens
        counts = Counter(self.tokens)
        twice = next((each for each in self.tokens if counts[each] > 1 and each not in special), None)
        return tuple(i for i, each in enumerate(self.tokens) if each == twice)
