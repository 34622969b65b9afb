"""What the canvas of a whole pass draws at a place of it: strips, words, the stops of the walk."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from bertviz_core.analysis.canvas import Faces, Spot, find_most, list_strips, measure_outside
from bertviz_core.analysis.labels import describe_token
from bertviz_core.analysis.parts import list_lit, take_apart
from bertviz_core.analysis.predictions import PROBS, count_tied, list_likeliest, rank_words
from bertviz_core.formula.address import Address
from bertviz_core.showing.canvas_stops import list_stops
from bertviz_core.showing.canvas_strips import Pack, write_strips
from bertviz_core.tracing.trace import Trace

_BEST = 5


@dataclass(frozen=True)
class Place:
    """Where the canvas looks, and from how near.

    level: one of LEVELS; stop: of the walk, from 1, 0 for none; strip: of a layer, the one that is seen whole, or none.
    """

    level: str
    spot: Spot
    stop: int
    strip: str = ""


def draw_place(faces: Faces, place: Place) -> dict[str, Any]:
    """What the canvas draws at a place, but for texts and colours."""
    pack, spot = Pack(), place.spot
    drawn = draw_strips(faces, spot, pack, place.strip)
    stops = list_stops(faces.drawn, spot)
    return {**describe_pass(faces, spot.window), **drawn, "stops": stops, "bytes": pack.write()}


def describe_pass(faces: Faces, window: range) -> dict[str, Any]:
    """What is the same wherever one looks: sizes, and the tokens of the window."""
    trace = faces.drawn
    config = trace.model.config
    return {
        "size": {
            "layers": config.num_hidden_layers,
            "heads": config.num_attention_heads,
            "width": config.hidden_size,
            "head_width": config.head_dim,
            "neurons": config.intermediate_size,
        },
        "window": {"start": window.start, "stop": window.stop, "total": len(trace.tokens)},
        "tokens": [describe_token(trace, i) for i in window],
        "face": faces.face,
    }


def draw_strips(faces: Faces, spot: Spot, pack: Pack, whole: str = "") -> dict[str, Any]:
    """Strips, words and shares at a spot; the numbers go into `pack`.

    whole: the strip of a layer that is seen whole.
    """
    strips = list(list_strips(faces, spot, whole))
    return {
        **_explain_cell(faces.drawn, spot.cell),
        "stages": write_strips(strips, faces, pack),
        "most": asdict(find_most(faces.drawn, spot)),
        "outside": {name: asdict(share) for name, share in measure_outside(faces, spot).items()},
        "words": _list_words(faces.drawn, spot),
    }


def write_place(place: Place) -> dict[str, object]:
    """The place as the canvas has it."""
    spot = place.spot
    return {
        "level": place.level,
        "layer": spot.layer,
        "head": spot.head,
        "token": spot.token,
        "component": spot.component,
        "stop": place.stop,
        "window": spot.window.start,
        "strip": place.strip or None,
    }


def _explain_cell(trace: Trace, cell: Address | None) -> dict[str, object]:
    """The cell that the drawer explains, and its operands."""
    if cell is None:
        return {"cell": "", "operands": []}
    return {"cell": str(cell), "operands": list_lit(take_apart(trace, trace.made(cell)))}


def _list_words(trace: Trace, spot: Spot) -> dict[str, object] | None:
    """The likeliest word at every row, and the chosen token's likeliest ones; and how many are as likely as these."""
    if PROBS not in trace:
        return None
    return {
        "top": [{**_describe_word(i, *rank_words(trace, i, 1)[0]), "tied": count_tied(trace, i)} for i in spot.window],
        "best": [_describe_word(spot.token, *word) for word in list_likeliest(trace, spot.token, _BEST)],
        "tied": count_tied(trace, spot.token),
    }


def _describe_word(token: int, word: str, share: float, i: int) -> dict[str, object]:
    return {"word": word, "share": share, "id": i, "address": str(PROBS.fix(token=token, vocab=i))}
