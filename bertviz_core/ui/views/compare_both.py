"""The two passes of the page: which tokens are matched, how far apart they are, and which of them is looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TypeVar

import numpy as np

from bertviz_core.analysis.compared_answers import Answers, find_answers
from bertviz_core.analysis.comparing import list_shared_stages, measure_angles, tell_answers, tell_heads
from bertviz_core.formula.address import Address
from bertviz_core.formula.texts import write_ordinal
from bertviz_core.tracing.identity import name_pass
from bertviz_core.tracing.remember import remember
from bertviz_core.tracing.taken import Pairs
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import state
from bertviz_core.ui.frame.keys import TOKEN
from bertviz_core.ui.frame.second import get_hidden, get_second
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.walk.worked_out import ACROSS

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Both:
    """Two passes beside each other. pairs: a token of the one, and that of the other which it is matched with; said:
    what the other is, in plain words; token: of the one, that somebody chose, None where nobody did."""

    one: Trace
    other: Trace
    pairs: Pairs
    said: str
    token: int | None = None

    @cached_property
    def same(self) -> bool:
        """Whether it is twice the same pass."""
        return name_pass(self.one) == name_pass(self.other)

    @cached_property
    def stages(self) -> tuple[Address, ...]:
        """Where vectors are compared: before the first layer, and after each that both models have."""
        return list_shared_stages(self.one, self.other)

    @cached_property
    def angles(self) -> np.ndarray:
        """(stage, pair) in degrees, NaN where a vector has no direction."""
        measure = partial(measure_angles, self.one, self.other, self.pairs, self.stages)
        return self.remember("angles", lambda: measure()[1])

    @property
    def last(self) -> np.ndarray:
        """(pair,) the angles at the last stage; without any where there is none."""
        return self.angles[-1] if len(self.stages) else self.angles.reshape(0)

    @cached_property
    def main(self) -> int | None:
        """The place of the pair that is looked at: the chosen token's, else the word's that ends farthest apart; of two
        passes of the same tokens a blank counts as a word."""
        here = [pair[0] for pair in self.pairs]
        if self.token in here:
            return here.index(self.token)
        alike, tokenizer = self.one.encoding.ids == self.other.encoding.ids, self.one.model.tokenizer
        blanks = {i for i in here if alike and self.one.encoding.ids[i] == tokenizer.mask_id}
        special = tokenizer.special_tokens
        words = [i for i, token in enumerate(here) if token in blanks or self.one.tokens[token] not in special]
        words = words or [*range(len(here))]
        if not words or not len(self.last):
            return words[0] if words else None
        return words[int(np.nan_to_num(self.last[words], nan=-1.0).argmax())]

    @property
    def chosen(self) -> int | None:
        """The token of the one that is looked at, matched or not."""
        return self.token if self.token is not None or self.main is None else self.pairs[self.main][0]

    @cached_property
    def answers(self) -> Answers | None:
        """What both passes answer."""
        return find_answers(self.one, self.other, self.pairs, None if self.main is None else self.pairs[self.main])

    @cached_property
    def names(self) -> list[str]:
        """What the matched tokens are called where they stand alone; where others of the sentence are alike, matched or
        not, with their number among these."""
        return [_name_token(self.one.tokens, here) for here, _ in self.pairs]

    @property
    def missing(self) -> tuple[str, ...]:
        """Why heads, or the answers of some heads, are not compared."""
        return tuple(filter(None, (tell_heads(self.one, self.other), tell_answers(self.one, self.other))))

    def find_cosine(self, stage: Address, pair: int) -> Address:
        """The address of a matched token's cosine."""
        return Address(f"{stage.path}.{ACROSS}").fix(token=self.pairs[pair][0])

    def remember(self, what: str, make: Callable[[], T]) -> T:
        """What is worked out of both, once for all sessions."""
        return remember(self.one, f"{what} across {name_pass(self.other)} {self.pairs}", make)


def _name_token(tokens: Sequence[str], i: int) -> str:
    token = tokens[i]
    number = tokens[: i + 1].count(token)
    return f"{token} ({write_ordinal(number)})" if number > 1 else token


def read_both(view: View) -> Both | None:
    """The pass on screen and the second one; None where there is none."""
    second = get_second(view) or get_hidden(view)
    if second is None:
        return None
    one = view.outcome.after
    return Both(one, second.trace, second.pairs, second.said, view.chosen.token if state.read(TOKEN) else None)
