"""What is asked from Python: arguments that anybody may have written are checked, then `layers`, `ablation` answer.

The app calls those modules themselves: its arguments come from its own controls.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from numbers import Integral

from bertviz_core.analysis.ablation import Ablation, zero_heads
from bertviz_core.analysis.layers import Lens
from bertviz_core.analysis.predictions import PROBS
from bertviz_core.analysis.vocabulary import Neighbour, find_nearest
from bertviz_core.checkpoint.model import Model
from bertviz_core.errors import ArgumentError, InputError
from bertviz_core.formula.address import Address, Where
from bertviz_core.sharing.progress import Progress, report
from bertviz_core.tracing.inputs import check_model
from bertviz_core.tracing.trace import Trace


def check_trace(trace: object) -> Trace:
    """The same, if it is a trace. Raises ArgumentError otherwise."""
    if not isinstance(trace, Trace):
        raise ArgumentError.of("What is asked about must be a trace", trace, "Make one: bv.run(model, text).")
    return trace


def check_whole(what: str, number: object, below: int, least: int = 0) -> int:
    """A whole number from `least` to before `below`. Raises InputError otherwise; `what` names it."""
    if isinstance(number, bool) or not isinstance(number, Integral):
        raise ArgumentError.of(f"{what} must be a whole number", number, f"Choose one from {least} to {below - 1}.")
    whole = int(number)
    if not least <= whole < below:
        raise InputError(f"{what} must be from {least} to {below - 1}, not {whole}. Choose another one.")
    return whole


def read_cells(trace: Trace, where: Where | Iterable[Where]) -> tuple[Address, ...]:
    """One cell or several, each with its indices in the order of the axes. Raises AddressError where one is no cell."""
    places = [where] if isinstance(where, str | Address) or not isinstance(where, Iterable) else list(where)
    if not places:
        raise InputError(
            "No address was given. Give that of a cell, such as cls.predictions.probs[token=8,vocab=2003]."
        )
    found = [trace.layout.one_cell(place) for place in places]
    return tuple(Address(symbol.address, tuple((axis.name, at[axis]) for axis in symbol.axes)) for symbol, at in found)


def lens(trace: Trace, token: int) -> Lens:
    """The logit lens: the language model head, read at a token before the first layer and after each one.

    token: its position. The answer's `probs` are shares of 1, (stage, vocab), the last stage being the pass's own
    prediction; `list_best(k)` gives the ids of the k likeliest entries of every stage, `ranks(id)` the place of an
    entry, 1 for the likeliest: (stage,). Raises InputError for a position that is not there, and for a model without a
    language model head; ArgumentError for what is no trace. Source: nostalgebraist 2020, interpreting GPT: the logit
    lens.

        >>> look = bv.lens(trace, token=8)
        >>> look.probs.shape
        (7, 30522)
        >>> [model.tokenizer.name(best[0]) for best in look.list_best(1)][-1]
        'people'
    """
    token = check_whole("The token of a lens", token, len(check_trace(trace).tokens))
    if PROBS not in trace:
        raise InputError("This model has no language model head, which a lens reads with. Choose another model.")
    return Lens(trace, token)


def ablation(trace: Trace, targets: Where | Iterable[Where], *, progress: Progress = False) -> Ablation:
    """What becomes of numbers of a pass when each head in turn hands on nothing: all its attention weights set to 0.

    targets: the address of one cell, or of several; progress: as `run_many` takes it, of the heads zeroed so far.
    The answer's `values` are the cells as they are, (address,); its `without` are the same without a head,
    (address, layer, head); `measure_worth(i)` is the difference, (layer, head), above 0 where the head raises the
    cell, in the unit of the cell. Raises AddressError for what is no cell of the trace. Source: Michel et al. 2019,
    Are Sixteen Heads Really Better than One?, which zeroes heads too.

        >>> found = bv.ablation(trace, f"cls.predictions.probs[token=8,vocab={model.tokenizer.id('people')}]")
        >>> found.without.shape
        (1, 6, 12)
        >>> found.most_needed
        (5, 5)
    """
    cells = read_cells(check_trace(trace), targets)
    config = trace.model.config
    heads, done = config.num_hidden_layers * config.num_attention_heads, 0
    told = report(progress, heads, "heads")
    known: list[Ablation] = []
    for share, found in zero_heads(trace, cells):
        known[:] = [found]
        before, done = done, round(share * heads)
        told(done - before)
    return known[-1]


def neighbours(model: Model, entry: str | int, k: int = 10) -> tuple[Neighbour, ...]:
    """The entries of the vocabulary whose vectors point most nearly the same way as one's, nearest first.

    entry: its text, as `##s` for a piece, or its id; k: how many. Each has id, token, `cosine` (1 for the same
    direction), `product` and `length` of the vectors, in the model's own unit. None for an entry of zeros. Raises
    InputError for an entry that is not there, ArgumentError for what is neither text nor id. Source: the rows of
    embeddings.word_embeddings.weight.

        >>> [near.token for near in bv.neighbours(model, "king", 3)]
        ['queen', 'kings', 'prince']
    """
    tokenizer, size = check_model(model).tokenizer, model.config.vocab_size
    number = tokenizer.id(entry) if isinstance(entry, str) else check_whole("An entry's id", entry, size)
    if number is None:
        raise InputError(
            f"The vocabulary has no entry {reprlib.repr(entry)}. Choose another, such as one of the tokens."
        )
    return tuple(find_nearest(model, number, check_whole("The number of neighbours", k, size + 1, 1)))
