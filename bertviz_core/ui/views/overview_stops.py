"""The nine stops of the walk through the pass, each told in a sentence with this sentence's own numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from bertviz_core.analysis.canvas import Spot
from bertviz_core.analysis.predictions import find_masks
from bertviz_core.analysis.stop_numbers import Answered, Offered, Stops, Then
from bertviz_core.analysis.stops import work_stops
from bertviz_core.formula.numbers import format_percent, format_short, write_fixed
from bertviz_core.formula.texts import join_words, name_token, write_count
from bertviz_core.tracing.trace import Trace

Said = str | tuple[str, str]  # words; words that name a part of the canvas, and its id

NAMES = ("cut", "look up", "ask / offer", "compare", "divide up", "collect", "add & normalize", "neurons", "word")
_KINDS = ("prediction", "embedding", "query", "attention", "attention", "value", "norm", "ffn", "prediction")
_SECONDS = (6, 9, 10, 18, 18, 12, 14, 12, 12)
_LEVELS = ("pass", "pass", "layer", "head", "head", "head", "layer", "layer", "pass")
_TITLES = (
    "Cut into pieces", "Look up and add", "Ask, offer, hand over", "Compare", "Divide up", "Collect",
    "Add and normalize", "Neurons", "The word",
)  # fmt: skip


def list_stops(trace: Trace, spot: Spot) -> list[dict[str, object]]:
    """The stops as the canvas draws them: name, sentence, what lights up, and the numbers that are worked."""
    found = work_stops(trace, spot)
    worked = (
        found.cut,
        found.looked_up,
        found.offered,
        found.compared,
        found.divided,
        found.collected,
        found.normalized,
        found.fired,
        found.word,
    )
    told = [_join(tell(trace, spot, found)) for tell in _TELLERS]
    lights = _list_lights(trace, spot)
    return [
        {
            "name": name,
            "title": title,
            "kind": kind,
            "seconds": seconds,
            "level": level,
            "sentence": said,
            "lights": lit,
            "worked": _write_worked(numbers),
        }
        for name, title, kind, seconds, level, said, lit, numbers in zip(
            NAMES, _TITLES, _KINDS, _SECONDS, _LEVELS, told, lights, worked, strict=True
        )
    ]


def _write_worked(numbers: Any) -> dict[str, object]:
    """The numbers of a stop by name, with whether their calculation gives what was recorded."""
    more = {"logit": _write_worked(numbers.logit)} if isinstance(numbers, Answered) else {}
    return {**asdict(numbers), "adds_up": getattr(numbers, "adds_up", True), **more}


def _list_lights(trace: Trace, spot: Spot) -> list[list[str]]:
    last = f"output.{trace.model.config.num_hidden_layers - 1}"
    return [
        ["tokens"],
        ["embedding"],
        ["input", "query", "key", "value"],
        ["head.query", "head.key", "head.scores"],
        ["head.scores", "head.weights"],
        ["head.weights", "head.value", "head.context"],
        ["input", "added", "sum", "norm"],
        [f"neurons.{spot.layer}", "sum2", f"output.{spot.layer}"],
        [last, "words"],
    ]


def _join(said: list[Said]) -> list[list[str | None]]:
    return [[part, None] if isinstance(part, str) else list(part) for part in said]


def _name(trace: Trace, i: int) -> Said:
    """A token in quotation marks, which lights its row; with its position, where it stands elsewhere as well."""
    return name_token(trace.tokens, i), f"token:{i}"


def _tell_cut(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    cut = found.cut
    marks = " and marks the word that is missing" if spot.token in find_masks(trace) else ""
    put = ", put there by a change" if cut.put else ""
    padding = f", and {cut.padding} of padding" if cut.padding else ""
    return [
        f"The tokenizer cuts the text into pieces and adds special tokens: {write_count(cut.total, 'token')}{padding}, "
        f"all of them entries of a vocabulary of {cut.vocabulary:,}. ",
        _name(trace, spot.token),
        f" is entry {cut.id}{put}{marks}. Positions are counted from 0, to {cut.total + cut.padding - 1}.",
    ]


def _tell_look_up(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    look, width = found.looked_up, trace.model.config.hidden_size
    rows = ", ".join(
        f"{write_fixed(value, look.digits.terms)} ({'by a change, not ' if put else ''}{name} {row})"
        for name, row, value, put in look.rows
    )
    total = write_fixed(look.sum, look.digits.total)
    end = f"together {total}" if look.adds_up else f"but a change puts {total} there"
    then = "once a change has put numbers into LayerNorm" if look.put else "once normalized"
    return [
        f"Three rows of {width} numbers are looked up for each piece. At component {look.component} ",
        _name(trace, spot.token),
        f" gets {rows}: {end}, ",
        (f"{write_fixed(look.normalized, look.digits.total)} {then}", "embedding"),
        ".",
    ]


def _tell_offer(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    config, offered = trace.model.config, found.offered
    query, key, value = (format_short(length) for length in (offered.query, offered.key, offered.value))
    into = join_words([f"the {name}" for name in offered.put]) if offered.put else ""
    put = f"; a change puts other numbers into {into}" if into else ""
    return [
        f"From its {config.hidden_size} numbers each piece makes, in each of {config.num_attention_heads} heads, a ",
        ("query", "query"),
        " with which it asks, a ",
        ("key", "key"),
        " that it offers and a ",
        ("value", "value"),
        f" that it hands over: {config.head_dim} numbers each. In head {spot.head} of layer {spot.layer} ",
        *_tell_key(trace, spot, offered),
        f". Lengths: its query {query}, the key {key}, the value {value}{put}.",
    ]


def _tell_key(trace: Trace, spot: Spot, offered: Offered) -> list[Said]:
    """Why this key is the one that is spoken of."""
    asks, offers = _name(trace, spot.token), _name(trace, offered.of)
    if offered.nowhere:
        return [asks, " looks nowhere, all its attention weights are 0; beside it stands ", offers]
    what = "" if offered.most else ", of words other than itself,"
    most = " looks at none more than at " if offered.tied else " looks most at "
    return [asks, f"{what}{most}", "itself" if offered.of == spot.token else offers]


def _tell_compare(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    compared, digits = found.compared, found.compared.digits
    score = (write_fixed(compared.score, digits.total), "head.scores")
    width, largest = len(compared.terms), compared.terms[0][3]
    most = f"{_name_first('the largest in size', compared.alone)} {write_fixed(largest, digits.terms)}"
    most, end = most if largest else "all of them 0", f" add up to {write_fixed(compared.sum, digits.terms)}"
    tail: list[Said] = [f"{end}; divided by √{width} that is a score of ", score]
    if not compared.adds_up:
        tail = [f"{end}, but a change makes the score ", score]
    return [
        _name(trace, spot.token),
        (" asks", "head.query"),
        ", ",
        _name(trace, compared.key),
        (" offers", "head.key"),
        f": {width} products, {most},",
        *tail,
        ".",
    ]


def _tell_divide(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    divided = found.divided
    share = (format_percent(divided.share), "head.weights")
    if not divided.adds_up:
        return [
            "A change decides these shares: ",
            _name(trace, divided.key),
            " gets ",
            share,
            " of the attention of ",
            _name(trace, spot.token),
            ".",
        ]
    return [
        "Each score becomes a power of e, measured from the largest score, ",
        (write_fixed(divided.largest, 2), "head.scores"),
        f", and each power a share of their sum, {write_fixed(divided.denominator, divided.digits.total)}: ",
        _name(trace, divided.key),
        " gets ",
        share,
        " of the attention of ",
        _name(trace, spot.token),
        ".",
    ]


def _tell_collect(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    collected, digits = found.collected, found.collected.digits
    collects: list[Said] = [
        _name(trace, spot.token),
        " collects the ",
        ("values", "head.value"),
        " by these ",
        ("shares", "head.weights"),
    ]
    if not collected.part and not collected.sum:
        return [*collects, ". All that this brings is 0, and so is the ", ("result", "head.context"), "."]
    total, part = write_fixed(collected.sum, digits.total), write_fixed(collected.part, digits.terms)
    makes, of = (";", " of it") if collected.adds_up else (" by a change, which is not what these add up to;", "")
    most, brings = _name_first("the largest", collected.alone), _name_first("the largest part", collected.first)
    return [
        *collects,
        f". Component {collected.component} of the ",
        ("result", "head.context"),
        f", {most} in size, is {total}{makes} {brings}{of}, {part}, is brought by ",
        _name(trace, collected.largest),
        ".",
    ]


def _name_first(what: str, alone: bool) -> str:
    """“the largest”, where no other is as large."""
    return what if alone else f"one of {what}{'s' if what.endswith('part') else ''}"


def _tell_normalize(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
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
    end = makes if norm.adds_up else ", but a change makes it "
    gives: list[Said] = [f"{does} ", (added, "added")]
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
        _name(trace, spot.token),
        " comes with ",
        (skip, "input"),
        f"{left}; the {trace.model.config.num_attention_heads} heads of layer {spot.layer} with the bias behind them ",
        *gives,
        end,
        (total, "sum"),
        f". LayerNorm takes off {takes}, divides by {by}, {then}{last}",
        (value, "norm"),
        ".",
    ]


def _tell_neurons(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    fired = found.fired
    neuron, before, after = fired.strongest[0]
    stays = "stays" if format_short(before) == format_short(after) else "becomes"
    most = _name_first("the strongest", fired.alone)
    said = [f"{neuron} is {most}: {format_short(before)} {stays} {format_short(after)}"]
    if not after:
        said = [f"{neuron}, as all others, is 0"]
    for verb, each in (("is damped", fired.damped), ("is shut off", fired.shut)):
        if each is not None and each[0] != neuron:
            said.append(f"{each[0]} {verb}: {format_short(each[1])} becomes {format_short(each[2])}")
    leaves = f"{fired.function} leaves" if fired.function else "a change leaves"
    return [
        f"Of the {fired.total:,} ",
        ("neurons", f"neurons.{spot.layer}"),
        f" of layer {spot.layer}, {leaves} {fired.active:,} above 0 at ",
        _name(trace, spot.token),
        f". Number {'; number '.join(said)}. ",
        *_tell_then(spot, fired.then),
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


def _tell_word(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    word, last = found.word, trace.model.config.num_hidden_layers - 1
    if not isinstance(word, Answered):
        heads = f", read by its {'heads' if len(word.heads) > 1 else 'head'}: {', '.join(word.heads)}"
        return [
            f"This checkpoint has no LM head: its layers end with {word.width} numbers for each piece"
            f"{heads if word.heads else ''}. Of ",
            _name(trace, spot.token),
            f" {_name_first('the largest', word.alone)} in size is component {word.component}, ",
            (format_short(word.value), f"output.{last}"),
            ".",
        ]
    (best, *_), logit = word.words[0], word.logit
    product, bias = (write_fixed(number, logit.digits.terms) for number in (logit.product, logit.bias))
    value = write_fixed(logit.value, logit.digits.total)
    score = f"are its score, {value}" if logit.adds_up else f"would be its score, but a change makes that {value}"
    highest = _name_first("the highest", word.alone)
    makes = "Softmax makes that a share of" if word.shares_up else "A change makes its share"
    return [
        "From the ",
        ("last vector", f"output.{last}"),
        " of ",
        _name(trace, spot.token),
        f" the LM head makes {logit.width} numbers. Their dot product with the row of ",
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


_TELLERS: tuple[Callable[[Trace, Spot, Stops], list[Said]], ...] = (
    _tell_cut, _tell_look_up, _tell_offer, _tell_compare, _tell_divide, _tell_collect, _tell_normalize, _tell_neurons,
    _tell_word,
)  # fmt: skip
