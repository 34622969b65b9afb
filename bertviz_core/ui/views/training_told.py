"""What the drawer tells of a training's own numbers: loss, terms, lengths of the gradient, one weight's update."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
import streamlit as st

from bertviz_core.analysis.claims import Claim, Part, Said, say, say_smallest
from bertviz_core.errors import AddressError, TrainingError
from bertviz_core.figures.training import draw_loss_along
from bertviz_core.formula.address import GRADIENT, LOSS, UPDATE, Address, read_address
from bertviz_core.formula.explain import Explanation
from bertviz_core.formula.numbers import format_latex, format_number, format_percent
from bertviz_core.formula.steps import PREDICTION, QUERY
from bertviz_core.learning import Hosted, StepRecord, Training, WeightUpdate
from bertviz_core.learning.plan import Plan
from bertviz_core.learning.weights import TIED_EMBEDDINGS
from bertviz_core.ui.frame.chart import show_chart
from bertviz_core.ui.frame.labels import escape_markdown, quote
from bertviz_core.ui.frame.told import Told
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.walk.line import write_line

STEP, _LOSS, _TERM, _LENGTH = "step", LOSS, f"{LOSS}.term", f"{LOSS}.gradient_length"
_SHOWN = 12  # parts that are listed
_MEANS = "m, AdamW’s mean of the gradient", "v, AdamW’s mean of its square"  # as the step leaves them
_LOSS_ROW = "J of this step"
_TIED = " The word embeddings are the LM head’s matrix too: how J changes with it there is in here, not in the LM head."


def name_loss(record: StepRecord) -> str:
    """The address of a step's loss."""
    return f"{_LOSS}[{STEP}={record.number}]"


def name_term(record: StepRecord, token: int) -> str:
    """The address of what one hidden token adds to a step's loss."""
    return f"{_TERM}[{STEP}={record.number},token={token}]"


def name_length(record: StepRecord, group: int) -> str:
    """The address of the gradient's length in one group of weights, by their order."""
    return f"{_LENGTH}[{STEP}={record.number},group={group}]"


def find_largest(training: Hosted | Training, record: StepRecord) -> tuple[Address, str]:
    """The weight whose gradient is the largest of a step, and the address of its update."""
    weight = read_address(training.largest_gradient(record.number)).parameter
    return weight, name_update(weight, record.number)


def name_update(weight: Address, number: int) -> str:
    """The address of what a step made of one weight, as it is written."""
    return str(locate_update(weight, number))


def locate_update(weight: Address, number: int) -> Address:
    """The address of what a step made of one weight."""
    return Address(f"{UPDATE}:{weight.path}", ((STEP, number), *weight.index))


def tell(view: View, training: Hosted | Training, where: Address) -> Told | None:
    """What is told of an address, if it is one of a training's own. Raises AddressError for a step not taken."""
    if where.path not in (_LOSS, _TERM, _LENGTH) and not where.made:
        return None
    if STEP not in where.at:
        raise AddressError(f"every step has a {where.path} of its own: say which one, as in [{STEP}=1]")
    try:
        record = training.record(where.at[STEP])
    except TrainingError as error:
        raise AddressError(f"{error} A link holds a training's settings, not its steps: train again.") from error
    where = where.without(STEP)
    try:
        if where.path == _LENGTH:
            return _tell_length(training, record, where)
        why = training.explain(where, record.number)
        best = training.largest_gradient(record.number) if isinstance(why, WeightUpdate) else ""
    except TrainingError as error:
        raise AddressError(str(error)) from error
    if isinstance(why, WeightUpdate):
        return _tell_weight(view, training, record, why, read_address(best).parameter == why.parameter)
    return (_tell_loss if where.path == _LOSS else _tell_term)(training, record, why)


def _tell_loss(training: Hosted | Training, record: StepRecord, why: Explanation) -> Told:
    tokens = training.encodings[record.sentence - 1].tokens
    return Told(
        f"J of step {record.number}, line 6",
        PREDICTION,
        format_number(record.loss),
        f"Sentence {record.sentence}, pass {record.turn}: {len(record.hidden)} hidden. {tell_worst(record, tokens)}",
        _write(why),
        [
            (f"−log P of “{tokens[i]}”", format_number(term), name_term(record, i))
            for i, term in zip(record.hidden, record.terms, strict=True)
        ],
        f"After the step, with the same tokens hidden, J is {format_number(record.loss_after)}.{_say_printed(record)}",
    )


def say_step(record: StepRecord) -> str:
    """From what to what a step took J."""
    first, last = (format_number(loss) for loss in (record.loss, record.loss_after))
    moves = f"left J near **{first}**" if first == last else f"took J from **{first}** to **{last}**"
    return f"Step {record.number} {moves}"


def tell_worst(record: StepRecord, tokens: Sequence[str]) -> Said:
    """Which of the hidden words had the lowest probability before the step, if one alone had it."""
    worst = min(range(len(record.before)), key=record.before.__getitem__)
    parts = {"share": Part(record.before[worst], format_percent), "word": Part(quote(tokens[record.hidden[worst]]))}
    others = np.array(record.before)
    if len(others) == 1:
        return say(Claim("the only one", "{word} is predicted with {share}.", parts))
    return say_smallest(
        ("worst predicted", "The worst predicted is {word}, with {share}."),
        ("none worse", "None is predicted worse than {word}, with {share}."),
        parts,
        others,
        (worst,),
    )


def _say_printed(record: StepRecord) -> str:
    if record.as_printed:
        return ""
    return (
        " This is J as it is meant, over the words that were hidden. As printed, line 6 adds up wherever the model "
        f"reads [MASK], whoever put it there: {format_number(record.printed)}. The step follows J as it is meant."
    )


def _tell_term(training: Hosted | Training, record: StepRecord, why: Explanation) -> Told:
    token = why.cell.at["token"]
    word = training.encodings[record.sentence - 1].tokens[token]
    if token not in record.hidden:
        raise AddressError(f"“{word}” was not hidden in step {record.number}; it is no term of J")
    place = record.hidden.index(token)
    before, after, term = record.before[place], record.after[place], record.terms[place]
    answer = record.answers[place]
    first = training.before.tokenizer.name(answer.id)
    return Told(
        f"−log P of “{word}” in step {record.number}",
        PREDICTION,
        format_number(term),
        f"Hidden as token {token}. Before the step {quote(word)} has {format_percent(before)}, after it "
        f"{format_percent(after)}; answered first is then {quote(first)}, with {format_percent(answer.probability)}.",
        [*_write(why), rf"-\log\ {format_latex(before)} = {format_latex(term)}"],
        [
            ("P before the step", format_number(before), ""),
            ("P after the step", format_number(after), ""),
            ("J, of which it is a term", format_number(record.loss), name_loss(record)),
        ],
    )


def _tell_length(training: Hosted | Training, record: StepRecord, where: Address) -> Told:
    names = list(record.gradient_norms)
    group = where.at.get("group", len(names))
    if group >= len(names):
        raise AddressError(f"there is no group {group} of weights, only 0 to {len(names) - 1}")
    lengths = {
        name: length
        for name, length in training.gradient_lengths(record.number).items()
        if training.groups[name] == names[group]
    }
    order = sorted(lengths, key=lambda name: -lengths[name])[:_SHOWN]
    count = _count_learning(training, lengths)
    length = record.gradient_norms[names[group]]
    terms = " + ".join(f"{format_latex(lengths[name])}^2" for name in order[:3])
    more = r" + \ldots" if len(lengths) > 3 else ""
    return Told(
        f"Length of the gradient: {names[group]}, step {record.number}",
        QUERY,
        format_number(length),
        f"{count:,} weights learn here. The squares of how J changes with each of them add up to the square of this."
        f"{_TIED if names[group] == TIED_EMBEDDINGS else ''}",
        [
            r"\lVert \nabla J \rVert = \sqrt{\sum_i\, \left(\frac{\partial J}{\partial \theta_i}\right)^2}",
            rf"\sqrt{{{terms}{more}}} = {format_latex(length)}",
        ],
        [(name, format_number(lengths[name]), "") for name in order],
        f"The {len(order)} longest of {len(lengths)}." if len(order) < len(lengths) else "",
    )


def _tell_weight(view: View, training: Hosted | Training, record: StepRecord, why: WeightUpdate, best: bool) -> Told:
    number = record.number
    alone = why.cell.made == GRADIENT
    return Told(
        f"One weight’s {'gradient' if alone else 'update, line 7'}, step {number}",
        QUERY,
        format_number(why.gradient if alone else why.new),
        f"{say_which(training, why, best)} {say_moved(why)}",
        [*(formula for moved in why.moved for formula in _write(moved)), *_write(why)],
        list_parts(why, name_loss(record)),
        draw=partial(_draw_along, view, training, number, why),
        unit="" if alone else f"was {format_number(why.old)}",
    )


def list_parts(why: WeightUpdate, loss: str) -> list[tuple[str, str, str]]:
    """From the weight before the step to that after it, with AdamW's means where it has any; then what checks it.

    loss: the address of the step's J.
    """
    means = zip(_MEANS, (moved.value for moved in why.moved), strict=False)
    values = {
        "θ, the weight before": why.old,
        "gradient, by autograd": why.gradient,
        **dict(means),
        "η of this step": why.rate,
        "step, θ′ − θ": why.new - why.old,
        "θ′, the weight after": why.new,
        "gradient, J measured 0.0001 to each side": why.measured,
        _LOSS_ROW: why.loss,
        "median of all |gradients|": why.median,
        "weights whose gradient is exactly 0": why.zeros,
    }
    return [(name, format_number(value), loss if name == _LOSS_ROW else "") for name, value in values.items()]


def say_which(training: Plan, why: WeightUpdate, best: bool) -> str:
    """Among how many weights it learns, if it does. best: no gradient of the step is larger."""
    weight, count = why.parameter, _count_learning(training, training.learned)
    row = _name_row(training, weight)
    if any(one.parameter == weight.path and weight.index[0][1] in one.rows for one in training.still):
        return f"It is none of {count:,} weights that learn: no sentence reads its row{row}."
    what = "the one with the gradient that is largest in size, of" if best and why.gradient else "one of"
    return f"It is {what} {count:,} weights that learn{row}."


def _count_learning(training: Plan, names: Iterable[str]) -> int:
    """How many numbers of these parameters a step can move."""
    still = {one.parameter: one.weights for one in training.still}
    return sum(training.before.parameters[name].numel() - still.get(name, 0) for name in names)


def say_moved(why: WeightUpdate) -> str:
    """Which way J goes with a weight, and which way the step moved it."""
    move = why.new - why.old
    goes = f"More of it {'raises' if why.gradient > 0 else 'lowers'} J" if why.gradient else "Its gradient is 0"
    moved = f"is {'raised' if move > 0 else 'lowered'} by {format_number(abs(move))}" if move else "stays"
    return f"{goes}; it {moved}."


def _draw_along(view: View, training: Hosted | Training, number: int, why: WeightUpdate) -> None:
    try:
        weights, losses = training.curve_along(why.cell, number)
    except TrainingError as error:
        st.caption(escape_markdown(str(error)))
        return
    along = dict(zip(weights.tolist(), losses.tolist(), strict=True))
    old, new = ((at, along[at]) for at in (why.old, why.new))
    show_chart(
        draw_loss_along(weights, losses, old, new, why.gradient, view.colors),
        "training-along",
        "J if only this weight is moved",
    )
    first, last = (format_number(loss) for _, loss in (old, new))
    moves = f"near {first}, as before" if first == last else f"from {first} to {last}"
    st.caption(f"J if only this weight is moved: {moves}.")


def _name_row(training: Plan, weight: Address) -> str:
    """The row of a word by its word."""
    at = weight.at
    return f", in the row of {quote(training.before.tokenizer.name(at['vocab']))}" if "vocab" in at else ""


def _write(why: Explanation) -> list[str]:
    """The formula in letters, and with its numbers."""
    if why.step is None:
        return [why.latex]
    line, result = write_line(why), format_latex(why.recomputed)
    worked = f"= {line.worked} = {result}" if line.worked else f"= {result}"
    return [f"{line.left} = {line.right}", worked]
