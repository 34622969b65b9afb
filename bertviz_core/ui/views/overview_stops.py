"""The nine stops of the walk through the pass, each told in a sentence with this sentence's own numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from bertviz_core.analysis.canvas import Spot
from bertviz_core.analysis.predictions import find_masks
from bertviz_core.analysis.stop_numbers import Answered, Stops
from bertviz_core.analysis.stops import work_stops
from bertviz_core.formula.numbers import format_percent
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.panels.aligned import write_short

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
    worked = (found.cut, found.looked_up, found.offered, found.compared, found.divided, found.collected,
              found.normalized, found.fired, found.word)  # fmt: skip
    told = [_join(tell(trace, spot, found)) for tell in _TELLERS]
    lights = _list_lights(trace, spot)
    return [
        {"name": name, "title": title, "kind": kind, "seconds": seconds, "level": level, "sentence": said,
         "lights": lit, "worked": asdict(numbers)}
        for name, title, kind, seconds, level, said, lit, numbers in zip(
            NAMES, _TITLES, _KINDS, _SECONDS, _LEVELS, told, lights, worked, strict=True
        )
    ]  # fmt: skip


def _list_lights(trace: Trace, spot: Spot) -> list[list[str]]:
    last = f"output.{trace.model.config.num_hidden_layers - 1}"
    return [
        ["tokens"], ["embedding"], ["query", "key", "value"], ["head.query", "head.key", "head.scores"],
        ["head.scores", "head.weights"], ["head.weights", "head.value", "head.context"], ["input", "sum", "norm"],
        [f"neurons.{spot.layer}", "sum2", f"output.{spot.layer}"], [last, "words"],
    ]  # fmt: skip


def _join(said: list[Said]) -> list[list[str | None]]:
    return [[part, None] if isinstance(part, str) else list(part) for part in said]


def _name(trace: Trace, i: int) -> Said:
    """A token in quotation marks, which lights its row; with its position, where it stands elsewhere as well."""
    text = trace.tokens[i]
    place = f" at position {i}" if trace.tokens.count(text) > 1 else ""
    return f"“{text}”{place}", f"token:{i}"


def _tell_cut(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    cut = found.cut
    marks = " and marks the word that is missing" if spot.token in find_masks(trace) else ""
    return [
        f"The tokenizer cuts the text into {cut.total} pieces, all of them entries of a vocabulary of "
        f"{cut.vocabulary:,}. ", _name(trace, spot.token), f" is entry {cut.id}{marks}. Positions are counted "
        f"from 0, to {cut.total - 1}.",
    ]  # fmt: skip


def _tell_look_up(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    look, width = found.looked_up, trace.model.config.hidden_size
    rows = ", ".join(f"{write_short(value)} ({name} {row})" for name, row, value in look.rows)
    end = f"together {write_short(look.sum)}" if look.adds_up else f"but a change puts {write_short(look.sum)} there"
    return [
        f"Three rows of {width} numbers are looked up for each piece. At component {look.component} ",
        _name(trace, spot.token), f" gets {rows}: {end}, ",
        (f"{write_short(look.normalized)} once normalized", "embedding"), ".",
    ]  # fmt: skip


def _tell_offer(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    config, offered, key = trace.model.config, found.offered, found.compared.key
    return [
        f"From its {config.hidden_size} numbers each piece makes a ", ("query", "query"), ", with which it asks, a ",
        ("key", "key"), ", which it offers, and a ", ("value", "value"), f", which it hands over: {config.head_dim} "
        f"numbers each, in each of {config.num_attention_heads} heads. In head {spot.head} of layer {spot.layer} the "
        "query of ", _name(trace, spot.token), f" has length {write_short(offered.query)}, the key of ",
        _name(trace, key), f" has length {write_short(offered.key)}, its value {write_short(offered.value)}.",
    ]  # fmt: skip


def _tell_compare(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    compared = found.compared
    score = (write_short(compared.score), "head.scores")
    width, end = len(compared.terms), f" add up to {write_short(compared.sum)}"
    tail: list[Said] = [f"{end}; divided by √{width} that is a score of ", score]
    if not compared.adds_up:
        tail = [f"{end}, but a change makes the score ", score]
    return [
        _name(trace, spot.token), (" asks", "head.query"), ", ", _name(trace, compared.key), (" offers", "head.key"),
        f": {width} products, the largest of them {write_short(compared.terms[0][3])},", *tail, ".",
    ]  # fmt: skip


def _tell_divide(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    divided = found.divided
    share = (format_percent(divided.share), "head.weights")
    if not divided.adds_up:
        return ["A change decides these shares: ", _name(trace, divided.key), " gets ", share,
                " of the attention of ", _name(trace, spot.token), "."]  # fmt: skip
    return [
        "Each score becomes a power of e, measured from the largest score, ",
        (write_short(divided.largest), "head.scores"), ", and each power a share of their sum, "
        f"{write_short(divided.denominator)}: ", _name(trace, divided.key), " gets ", share, " of the attention of ",
        _name(trace, spot.token), ".",
    ]  # fmt: skip


def _tell_collect(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    collected = found.collected
    return [
        _name(trace, spot.token), " collects the ", ("values", "head.value"), " by these ", ("shares", "head.weights"),
        f". Component {collected.component} of the ", ("result", "head.context"), ", the largest in size, is "
        f"{write_short(collected.sum)}; the largest part of it, {write_short(collected.part)}, is brought by ",
        _name(trace, collected.largest), ".",
    ]  # fmt: skip


def _tell_normalize(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    norm = found.normalized
    total = (write_short(norm.sum), "sum")
    begin: list[Said] = [
        f"What the {trace.model.config.num_attention_heads} heads of layer {spot.layer} found is added to what was "
        f"there: at component {norm.component} {write_short(norm.added)} to ", (write_short(norm.skip), "input"),
    ]  # fmt: skip
    end: list[Said] = [", which makes ", total] if norm.adds_up else [", but a change makes it ", total]
    return [
        *begin, *end, f". LayerNorm takes off the mean, {write_short(norm.mean)}, divides by "
        f"{write_short(norm.deviation)}, scales by {write_short(norm.gamma)} and shifts by {write_short(norm.beta)}: ",
        (write_short(norm.value), "norm"), ".",
    ]  # fmt: skip


def _tell_neurons(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    fired = found.fired
    neuron, before, after = fired.strongest[0]
    return [
        f"Of the {fired.total:,} ", ("neurons", f"neurons.{spot.layer}"), f" of layer {spot.layer}, {fired.active:,} "
        "are above 0 at ", _name(trace, spot.token), f". Number {neuron} is the strongest: {write_short(before)} "
        f"becomes {write_short(after)}. What they write is ", ("added", "sum2"), " and ",
        ("normalized", f"output.{spot.layer}"), " again.",
    ]  # fmt: skip


def _tell_word(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    word, last = found.word, trace.model.config.num_hidden_layers - 1
    if not isinstance(word, Answered):
        return [
            f"This checkpoint has no LM head: the pass ends with {word.width} numbers for each piece. Of ",
            _name(trace, spot.token), f" the largest in size is component {word.component}, ",
            (write_short(word.value), f"output.{last}"), ".",
        ]  # fmt: skip
    best, second = word.words[:2]
    return [
        f"After layer {last} each of the {word.total:,} entries of the vocabulary gets a score at ",
        _name(trace, spot.token), ". ", (f"“{best[0]}”", "words"), f" gets the highest, {write_short(best[1])}, and a "
        f"share of {format_percent(best[3])}; then “{second[0]}” with {format_percent(second[3])}.",
    ]  # fmt: skip


_TELLERS: tuple[Callable[[Trace, Spot, Stops], list[Said]], ...] = (
    _tell_cut, _tell_look_up, _tell_offer, _tell_compare, _tell_divide, _tell_collect, _tell_normalize, _tell_neurons,
    _tell_word,
)  # fmt: skip
