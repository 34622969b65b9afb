"""Where a page opens: the token, head, key, neuron, component and layer at which there is something to see.

Each rule gives a place and, in `reason`, the sentence that says why it is this one; of a key the headline says why.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bertviz_core.analysis.attention import list_counted, multiply_terms
from bertviz_core.analysis.claims import stands_out
from bertviz_core.analysis.heads import Sentence
from bertviz_core.analysis.layers import list_winners
from bertviz_core.analysis.made_from import is_put
from bertviz_core.analysis.predictions import find_masks
from bertviz_core.analysis.ranking import find_strongest
from bertviz_core.analysis.token_attention import read_weights
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number, format_percent
from bertviz_core.formula.texts import name_token
from bertviz_core.programs.names import ATTENTION_WEIGHTS, SELF_ATTENTION
from bertviz_core.tracing.remember import remember
from bertviz_core.tracing.trace import Trace

FIRST_MASK, LAST_WORD, NO_WORD = "the first masked token", "the last word; no token is masked", "there is no word"
FAR = "on a token that is neither special, nor itself, nor next to it"
OTHER = "on another token"  # where no token is far
ITSELF = "on itself"  # where there is no other token
_ROUNDING = 1e-5  # of an even share in single precision
_VECTORS = {
    "embeddings.sum": "the sum of the embeddings",
    "attention.output.dense": "the attention output",
    "output.dense": "the feed-forward output",
}


@dataclass(frozen=True)
class OpenToken:
    """The token that a page opens at. text: its own; rule: FIRST_MASK, LAST_WORD or NO_WORD."""

    token: int
    text: str
    rule: str

    @property
    def reason(self) -> str:
        why = f"because {self.rule}" if self.rule == NO_WORD else f"as {self.rule}"
        return f"“{self.text}” at position {self.token} is shown, {why}."


def open_token(trace: Trace) -> OpenToken:
    """The first [MASK]; else the last token that is neither special nor a punctuation mark; else position 1 or 0."""
    tokens, special = trace.tokens, trace.model.tokenizer.special_tokens
    signs = Sentence(tokens, special).punctuation
    words = [i for i, text in enumerate(tokens) if text not in special and not signs[i]]
    masks = find_masks(trace)
    token, rule = min(1, len(tokens) - 1), NO_WORD
    if masks:
        token, rule = masks[0], FIRST_MASK
    elif words:
        token, rule = words[-1], LAST_WORD
    return OpenToken(token, tokens[token], rule)


@dataclass(frozen=True)
class OpenHead:
    """The head that a page opens at, and the key that speaks for it.

    token, name: the query; key, key_name, weight: the key, and the attention weight on it, 0 to 1; rule: what the key
    had to be, FAR, OTHER or ITSELF; alone: whether no other such weight, of any head, is as large or written alike;
    only: whether the model has no other head. Names are those of `name_token`, here and below.
    """

    layer: int
    head: int
    token: int
    name: str
    key: int
    key_name: str
    weight: float
    rule: str
    alone: bool
    only: bool

    @property
    def reason(self) -> str:
        shown = f"Layer {self.layer}, head {self.head} is shown:"
        if self.only:
            return f"{shown} this model has no other head."
        if not self.weight:
            return f"{shown} no head gives an attention weight other than 0 of {self.name} {self.rule}."
        own = f"{format_percent(self.weight)} on {self.key_name}"
        if self.alone:
            return f"{shown} of all heads it gives the largest attention weight of {self.name} {self.rule}, {own}."
        return f"{shown} no head gives a larger attention weight of {self.name} {self.rule} than it, {own}."


def open_head(trace: Trace, token: int) -> OpenHead:
    """The head with a token's largest attention weight on a key that is neither special, nor itself, nor next to it.

    Where there is no such key, on any key but itself; of equal weights that of the first layer and head. Remembered.
    """
    return remember(trace, f"head opened at {token}", lambda: _find_head(trace, token))


def _find_head(trace: Trace, token: int) -> OpenHead:
    tokens, weights = trace.tokens, read_weights(trace, token)
    away = np.abs(np.arange(len(tokens)) - token)
    allowed = {FAR: _find_words(trace) & (away > 1), OTHER: away > 0, ITSELF: away == 0}
    rule = next(name for name, keys in allowed.items() if keys.any())
    seen = np.where(allowed[rule], weights, -1.0)
    layer, head, key = (int(i) for i in np.unravel_index(int(seen.argmax()), seen.shape))
    weight, alone = float(seen[layer, head, key]), stands_out(seen, int(seen.argmax()), format_percent)
    names, only = (name_token(tokens, token), name_token(tokens, key)), seen.shape[:2] == (1, 1)
    return OpenHead(layer, head, token, names[0], key, names[1], weight, rule, alone, only)


def _find_words(trace: Trace) -> np.ndarray:
    """(token,) which tokens are not special."""
    special = trace.model.tokenizer.special_tokens
    return np.array([text not in special for text in trace.tokens])


def find_other_words(trace: Trace, token: int) -> np.ndarray:
    """The positions of the tokens that are neither special nor the one at `token`."""
    return np.flatnonzero(_find_words(trace) & (np.arange(len(trace.tokens)) != token))


@dataclass(frozen=True)
class OpenKey:
    """The key that a page opens at.

    key_text: its own; weight: the token's attention weight on it; word: whether it was chosen among words alone.
    """

    key: int
    key_text: str
    weight: float
    word: bool

    @property
    def shown(self) -> str:
        return f"“{self.key_text}” at position {self.key} is shown, with {format_percent(self.weight)}"


def open_key(trace: Trace, layer: int, head: int, token: int) -> OpenKey:
    """The key with the largest weight among words other than the token itself, if that is at least an even share.

    Else the key with the largest weight of all that count. An even share is 1 over the number of tokens, padding left
    out. Where changes leave no weight at all, it is the key that was one before them.
    """
    place = ATTENTION_WEIGHTS.in_layer(layer).fix(head=head, query=token)
    now = trace[place]
    row = now if now.any() or trace.before is None else trace.before[place]
    others = find_other_words(trace, token)
    enough = float(row[others].max(initial=-1.0)) * sum(trace.encoding.mask) > 1 - _ROUNDING
    asked = others if enough else np.array(list_counted(trace))
    key = int(asked[int(row[asked].argmax())])
    return OpenKey(key, trace.tokens[key], float(now[key]), enough)


@dataclass(frozen=True)
class OpenComponent:
    """The component of a vector that a page opens at, and its value. vector: what the vector is called.

    alone: whether no other component is as large in size or written alike.
    """

    component: int
    name: str
    vector: str
    value: float
    alone: bool

    @property
    def reason(self) -> str:
        shown, what = f"Component {self.component} is shown:", f"{self.vector} of {self.name}"
        if self.alone:
            return f"{shown} there {what} is largest in size, {format_number(self.value)}."
        return f"{shown} nowhere is {what} larger in size than there, {format_number(self.value)}."


def open_component(trace: Trace, address: Address, token: int) -> OpenComponent:
    """The component where a token's vector is largest in size.

    address: of (token, component) vectors: of `embeddings.sum`, or of what a sublayer adds to its input.
    """
    vector = trace[address.fix(token=token)]
    best = find_strongest(vector)
    what = _VECTORS.get(address.leaf, address.path)
    alone = stands_out(np.abs(vector), best, format_number)
    return OpenComponent(best, name_token(trace.tokens, token), what, float(vector[best]), alone)


@dataclass(frozen=True)
class OpenProduct:
    """The component of one head's queries and keys that a page opens at.

    query, key: its two factors; total: the whole dot product; put: what a change put in place of that, if it did; name,
    key_name: of the tokens that are compared; alone: whether no other product is as large or written alike.
    """

    component: int
    name: str
    key_name: str
    query: float
    key: float
    total: float
    put: float | None
    alone: bool

    @property
    def product(self) -> float:
        """What the component brings to the dot product."""
        return self.query * self.key

    @property
    def reason(self) -> str:
        brings = "it brings most" if self.alone else "none brings more"
        put = "" if self.put is None else f", which a change makes {format_number(self.put)}"
        return (
            f"Component {self.component} is shown: {brings} to the dot product of {self.name} and "
            f"{self.key_name}, {format_number(self.product)} of {format_number(self.total)}{put}."
        )


def open_product(trace: Trace, layer: int, head: int, token: int, key: int) -> OpenProduct:
    """The component whose product q_i k_i is largest on the side of their sum, of a token's query and a key in one
    head."""
    own = SELF_ATTENTION.in_layer(layer)
    q, k = trace[own.enter("query").fix(head=head, query=token)], trace[own.enter("key").fix(head=head, key=key)]
    terms = multiply_terms(q, k)
    total = float(terms.running[-1])
    brought = -terms.terms if total < 0 else terms.terms
    most = int(brought.argmax())
    best, alone = int(terms.order[most]), stands_out(brought, most, format_number)
    name, key_name = name_token(trace.tokens, token), name_token(trace.tokens, key)
    cell = own.enter("products").fix(head=head, query=token, key=key)
    put = float(trace[cell]) if is_put(trace, cell) else None
    return OpenProduct(best, name, key_name, float(q[best]), float(k[best]), total, put, alone)


@dataclass(frozen=True)
class OpenLayer:
    """The layer that a page opens at.

    word: the last layer's winner by the logit lens, None without an LM head; led: whether it leads already in the
    embeddings; probability: what the lens gives it after this layer, None without an LM head.
    """

    layer: int
    word: str | None
    led: bool
    probability: float | None

    @property
    def reason(self) -> str:
        if self.word is None or self.probability is None:
            return f"Layer {self.layer}, the last one, is shown: this checkpoint has no LM head to read the layers."
        share = format_percent(self.probability)
        if self.led:
            return f"Layer {self.layer} is shown: “{self.word}” leads from the embeddings on, with {share} after it."
        return f"Layer {self.layer} is shown: after it “{self.word}” leads, with {share}, and does so to the end."


def open_layer_for_answer(trace: Trace, token: int) -> OpenLayer:
    """The layer after which the word that leads at the end takes the lead for good, by the logit lens.

    The first layer where it leads from the embeddings on; the last one without an LM head.
    """
    winners = list_winners(trace, token)
    if not winners:
        return OpenLayer(trace.model.config.num_hidden_layers - 1, None, False, None)
    others = [stage for stage, winner in enumerate(winners) if winner.id != winners[-1].id]
    since = max(others, default=-1) + 1
    layer = max(since, 1) - 1
    return OpenLayer(layer, winners[-1].word, since == 0, winners[layer + 1].final_probability)
