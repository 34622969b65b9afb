"""What the stops of the walk say of a token's vector: its heads joined, added, through the neurons, to the word."""

from __future__ import annotations

from bertviz_core.analysis.canvas import Spot
from bertviz_core.analysis.stop_numbers import Answered, Joined, Stops, Then
from bertviz_core.formula.numbers import format_percent, format_short, write_fixed
from bertviz_core.showing.canvas_told import Said, name_first, name_row
from bertviz_core.tracing.trace import Trace


def tell_join(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    """How the heads become one vector."""
    joined, digits = found.joined, found.joined.digits
    at, one, weight, product, decimals = joined.term
    number, weight = write_fixed(one, decimals), write_fixed(weight, decimals)
    term, part = (write_fixed(each, digits.factors) for each in (product, joined.parts[joined.head]))
    total, bias = (write_fixed(each, digits.terms) for each in (joined.product, joined.bias))
    value = (write_fixed(joined.value, digits.total), "added")
    heads = f", the {joined.heads} heads {total}" if joined.heads > 1 else ""
    end = "is " if joined.adds_up else "is not what that makes; a change puts there "
    return [
        *_tell_side_by_side(joined, spot.layer),
        f". Each number is multiplied by its weight in W_O: number {at}, "
        f"the {number} of the stop before, times {weight} makes {term}; head {joined.head} all in all {part}{heads}. "
        f"With the bias, {bias}, component {joined.component} of what ",
        name_row(trace, spot.token),
        f" found {end}",
        value,
        ".",
    ]


def _tell_side_by_side(joined: Joined, layer: int) -> list[Said]:
    width = f"{joined.width} numbers"
    if joined.heads == 1:
        return [f"The only head of layer {layer} hands over {width}, ", ("the whole vector", "context")]
    return [
        f"The {joined.heads} heads of layer {layer} hand over {width} each; ",
        ("side by side", "context"),
        f" they are one vector of {len(joined.vector)}",
    ]


def tell_normalize(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    norm = found.normalized
    skip, given, added, mean, beta, total, value = (
        write_fixed(number, norm.digits.total)
        for number in (norm.skip, norm.given, norm.added, norm.mean, norm.beta, norm.sum, norm.value)
    )
    deviation, gamma = (write_fixed(number, norm.digits.factors) for number in (norm.deviation, norm.gamma))
    left, does, makes = (
        ("", "add", ", which makes ")
        if norm.residual
        else (", which a change leaves out", "bring", ", which alone makes ")
    )
    count = trace.model.config.num_attention_heads
    heads, them, s = (f"{count} heads", "them", "") if count > 1 else ("only head", "it", "s")
    end = makes if norm.adds_up else ", but a change makes it "
    gives: list[Said] = [f"{does}{s} ", (added, "added")]
    if not norm.is_given:
        gives = [f"would {does} {given}, but a change puts ", (added, "added"), " there"]
    takes = f"{mean}, which a change makes the mean" if norm.mean_put else f"the mean, {mean}"
    by = f"{deviation}, as a change makes the variance" if norm.variance_put else deviation
    then = f"scales by {gamma} and shifts by {beta}"
    if norm.normal_put:
        then = f"the result of which a change makes {write_fixed(norm.normal, norm.digits.total)}, {then}"
    last = ", but a change puts there " if norm.put else ": "
    return [
        f"At component {norm.component} ",
        name_row(trace, spot.token),
        " comes with ",
        (skip, "input"),
        f"{left}; the {heads} of layer {spot.layer} with the bias behind {them} ",
        *gives,
        end,
        (total, "sum"),
        f". LayerNorm takes off {takes}, divides by {by}, {then}{last}",
        (value, "norm"),
        ".",
    ]


def tell_neurons(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    fired = found.fired
    neuron, before, after = fired.strongest[0]
    stays = "stays" if format_short(before) == format_short(after) else "becomes"
    most = name_first("the strongest", fired.alone)
    said = [f"{neuron} is {most}: {format_short(before)} {stays} {format_short(after)}"]
    if not after:
        said = [f"{neuron}, as all others, is 0"]
    for verb, each in (("is damped", fired.damped), ("is shut off", fired.shut)):
        if each is not None and each[0] != neuron:
            said.append(f"{each[0]} {verb}: {format_short(each[1])} becomes {format_short(each[2])}")
    leaves = f"{fired.function} leaves" if fired.function else "a change leaves"
    if fired.function and fired.put:
        leaves = f"{fired.function} and a change leave"
    return [
        f"Of the {fired.total:,} ",
        ("neurons", f"neurons.{spot.layer}"),
        f" of layer {spot.layer}, {leaves} {fired.active:,} above 0 at ",
        name_row(trace, spot.token),
        f". Number {'; '.join(said)}. ",
        *_tell_then(spot, fired.onwards),
    ]


def _tell_then(spot: Spot, then: Then) -> list[Said]:
    """What becomes of what the neurons write."""
    added, normalized = ("added", "sum2"), ("normalized", f"output.{spot.layer}")
    if not then.normalized and not then.put:
        return ["What they write is lost: a change makes the ", ("output", normalized[1]), " of the layer its input."]
    if then.lost and then.added and then.normalized:
        return ["What they write would be ", added, " and ", normalized, " again, but a change puts numbers there."]
    if then.lost or not then.normalized:
        return ["What they write goes no further: a change puts numbers there."]
    if then.whole:
        return _tell_written(then, added, spot.layer)
    also = ", and a change puts numbers there as well." if then.put else "."
    if not then.added:
        return [
            "What they write is not ",
            added,
            " to anything, as a change leaves the residual out; it is ",
            normalized,
            f" again{also}",
        ]
    return ["What they write is ", added, " and ", normalized, f" again{also}"]


def _tell_written(then: Then, added: Said, layer: int) -> list[Said]:
    """What the neurons write into the component that is followed."""
    skip, written = (write_fixed(each, then.digits.terms) for each in (then.skip, then.written))
    total, value = (write_fixed(each, then.digits.total) for each in (then.sum, then.value))
    return [
        f"At component {then.component} all write {written} with their bias: ",
        added,
        f" to {skip} that is {total}; ",
        ("LayerNorm", f"output.{layer}"),
        f" makes it {value}.",
    ]


def tell_word(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    word, last = found.word, trace.model.config.num_hidden_layers - 1
    if not isinstance(word, Answered):
        heads = f", read by its {'heads' if len(word.heads) > 1 else 'head'}: {', '.join(word.heads)}"
        return [
            f"This checkpoint has no LM head: its layers end with {word.width} numbers for each piece"
            f"{heads if word.heads else ''}. Of ",
            name_row(trace, spot.token),
            f" component {word.component} is now ",
            (format_short(word.value), f"output.{last}"),
            ".",
        ]
    (best, *_), logit = word.words[0], word.logit
    product, bias = (write_fixed(number, logit.digits.terms) for number in (logit.product, logit.bias))
    value = write_fixed(logit.value, logit.digits.total)
    score = f"are its score, {value}" if logit.adds_up else f"would be its score, but a change makes that {value}"
    highest = name_first("the highest", word.alone)
    makes = "Softmax makes that a share of" if word.shares_up else "A change makes its share"
    return [
        "From the ",
        ("last vector", f"output.{last}"),
        " of ",
        name_row(trace, spot.token),
        f", whose component {word.component} is now {format_short(word.last)}, the LM head makes {logit.width} "
        "numbers. Their dot product with the row of ",
        (f"“{best}”", "words"),
        f", {product}, and "
        f"its bias, {bias}, {score}: {highest} of {word.total:,}. {makes} {format_percent(word.words[0][3])}; "
        f"{_tell_rivals(word)}.",
    ]


def _tell_rivals(word: Answered) -> str:
    """Which words are the likeliest beside the one with the highest score: the next one, unless a change decides."""
    (*_, share, id_), (first, highest, best), *others = word.words[0], *word.ranked
    if word.tied > 1:
        each = "as much" if share == highest else format_percent(highest)
        return f"{word.tied:,} of {word.total:,} words have {each}, and none has more"
    if id_ != best:
        return f"the likeliest word is “{first}” with {format_percent(highest)}"
    return "; ".join(f"then “{name}” with {format_percent(part)}" for name, part, _ in others)
