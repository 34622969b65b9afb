"""What the stops of the walk say, from the text to what a head collects, in this sentence's own numbers."""

from __future__ import annotations

from bertviz_core.analysis.canvas import Spot
from bertviz_core.analysis.predictions import find_masks
from bertviz_core.analysis.stop_numbers import Offered, Stops
from bertviz_core.formula.numbers import format_percent, format_short, write_fixed
from bertviz_core.formula.texts import join_words, name_token, write_count
from bertviz_core.tracing.trace import Trace

Said = str | tuple[str, str]  # words; words that name a part of the canvas, and its id


def name_row(trace: Trace, i: int) -> Said:
    """A token in quotation marks, which lights its row; with its position, where it stands elsewhere as well."""
    return name_token(trace.tokens, i), f"token:{i}"


def tell_cut(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    cut = found.cut
    marks = " and marks the word that is missing" if spot.token in find_masks(trace) else ""
    put = ", put there by a change" if cut.put else ""
    padding = f", and {cut.padding} of padding" if cut.padding else ""
    moved = ", but a change moves some" if trace.encoding.positions != tuple(range(len(trace.tokens))) else ""
    unknown = trace.model.tokenizer.unk_token
    none = f", writes {unknown} where it finds none" if unknown in trace.tokens else ""
    return [
        f"The tokenizer cuts the text into the longest pieces that its vocabulary has{none}, and adds special tokens: "
        f"{write_count(cut.total, 'token')}{padding}, entries of a vocabulary of {cut.vocabulary:,}. ",
        name_row(trace, spot.token),
        f" is entry {cut.id}{put}{marks}. Positions are counted from 0, to {cut.total + cut.padding - 1}{moved}.",
    ]


def tell_look_up(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    look, width = found.looked_up, trace.model.config.hidden_size
    rows = ", ".join(
        f"{write_fixed(value, look.digits.terms)} ({'by a change, not ' if put else ''}{name} {row})"
        for name, row, value, put in look.rows
    )
    total = write_fixed(look.sum, look.digits.total)
    end = f"together {total}" if look.adds_up else f"but a change puts {total} there"
    then = "once a change has put numbers into LayerNorm" if look.put else "after LayerNorm"
    return [
        f"Three rows of {width} numbers are looked up for each piece. At component {look.component} ",
        name_row(trace, spot.token),
        f" gets {rows}: {end}, ",
        (f"{write_fixed(look.normalized, look.digits.total)} {then}", "embedding"),
        ".",
    ]


def tell_offer(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    config, offered = trace.model.config, found.offered
    query, key, value = (format_short(length) for length in (offered.query, offered.key, offered.value))
    into = join_words([f"the {name}" for name in offered.put]) if offered.put else ""
    put = f"; a change puts other numbers into {into}" if into else ""
    count = config.num_attention_heads
    heads = f"each of {count} heads" if count > 1 else "its only head"
    return [
        "From ",
        ("all its numbers", "input"),
        f", component {found.looked_up.component} and {config.hidden_size - 1} more, each piece makes, in {heads}, a ",
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
    asks, offers = name_row(trace, spot.token), name_row(trace, offered.of)
    if offered.nowhere:
        return [asks, " looks nowhere, all its attention weights are 0; beside it stands ", offers]
    what = "" if offered.most else ", of words other than itself,"
    most = " looks at none more than at " if offered.tied else " looks most at "
    if offered.weight <= 0:
        most = f" has no larger weight than {'one below 0' if offered.weight else '0'}, that on "
    return [asks, f"{what}{most}", "itself" if offered.of == spot.token else offers]


def tell_compare(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    compared, digits = found.compared, found.compared.digits
    score = (write_fixed(compared.score, digits.total), "head.scores")
    width, largest = len(compared.terms), compared.terms[0][3]
    most = f"{name_first('the largest in size', compared.alone)} {write_fixed(largest, digits.terms)}"
    most, end = most if largest else "all of them 0", f" add up to {write_fixed(compared.sum, digits.terms)}"
    tail: list[Said] = [f"{end}; divided by √{width} that is a score of ", score]
    if not compared.adds_up:
        tail = [f"{end}, but a change makes the score ", score]
    return [
        name_row(trace, spot.token),
        (" asks", "head.query"),
        ", ",
        name_row(trace, compared.key),
        (" offers", "head.key"),
        f": {width} products, {most},",
        *tail,
        ".",
    ]


def tell_divide(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    divided = found.divided
    share = (format_percent(divided.share), "head.weights")
    if not divided.adds_up:
        return [
            "A change decides these shares: ",
            name_row(trace, divided.key),
            " gets ",
            share,
            " of the attention of ",
            name_row(trace, spot.token),
            ".",
        ]
    return [
        "Each score becomes a power of e, measured from the largest score, ",
        (write_fixed(divided.largest, 2), "head.scores"),
        f", and each power a share of their sum, {write_fixed(divided.denominator, divided.digits.total)}: ",
        name_row(trace, divided.key),
        " gets ",
        share,
        " of the attention of ",
        name_row(trace, spot.token),
        ".",
    ]


def tell_collect(trace: Trace, spot: Spot, found: Stops) -> list[Said]:
    collected, digits = found.collected, found.collected.digits
    collects: list[Said] = [
        name_row(trace, spot.token),
        " collects the ",
        ("values", "head.value"),
        " by these ",
        ("shares", "head.weights"),
    ]
    if not collected.part and not collected.sum:
        return [*collects, ". All that this brings is 0, and so is the ", ("result", "head.context"), "."]
    total, part = write_fixed(collected.sum, digits.total), write_fixed(collected.part, digits.terms)
    makes, of = (";", " of it") if collected.adds_up else (" by a change, which is not what these add up to;", "")
    brings = name_first("the largest part", collected.first)
    if collected.part * collected.sum < 0:  # no part of a sum, to who reads it, but the largest one against it
        of += " in size"
    moves = "the one that moves" if collected.alone else "one of those that move"
    return [
        *collects,
        f". Component {collected.component} of the ",
        ("result", "head.context"),
        f", {moves} component {collected.hidden} most at the next stop, is {total}{makes} {brings}{of}, {part}, is "
        "brought by ",
        name_row(trace, collected.largest),
        ".",
    ]


def name_first(what: str, alone: bool) -> str:
    """“the largest”, where no other is as large."""
    return what if alone else f"one of {what}{'s' if what.endswith('part') else ''}"
