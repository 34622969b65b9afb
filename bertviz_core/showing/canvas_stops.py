"""The ten stops of the walk through the pass, each told in a sentence with this sentence's own numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Any

from bertviz_core.analysis.canvas import Spot
from bertviz_core.analysis.stop_numbers import Answered, Fired, Stops
from bertviz_core.analysis.stops import work_stops
from bertviz_core.documents.glossary import GLOSSARY
from bertviz_core.showing import canvas_told as told
from bertviz_core.showing import canvas_told_vector as of_vector
from bertviz_core.showing.canvas_told import Said
from bertviz_core.tracing.trace import Trace


@dataclass(frozen=True)
class _Stop:
    """A stop. lights: parts of the canvas that it is about; terms: of the glossary, which it is the first to use."""

    name: str
    title: str
    kind: str
    level: str
    lights: tuple[str, ...]
    tell: Callable[[Trace, Spot, Stops], list[Said]]
    terms: tuple[str, ...] = ()


STOPS = (
    _Stop("cut", "Cut into pieces", "prediction", "pass", ("tokens",), told.tell_cut, ("[CLS]",)),
    _Stop("look up", "Look up and add", "embedding", "pass", ("embedding",), told.tell_look_up, ("component",)),
    _Stop("ask / offer", "Ask, offer, hand over", "query", "layer", ("input", "query", "key", "value"),
          told.tell_offer, ("head", "length")),
    _Stop("compare", "Compare", "attention", "head", ("head.query", "head.key", "head.scores"),
          told.tell_compare, ("√d_k",)),
    _Stop("divide up", "Divide up", "attention", "head", ("head.scores", "head.weights"), told.tell_divide),
    _Stop("collect", "Collect", "value", "head", ("head.weights", "head.value", "head.context"), told.tell_collect),
    _Stop("join", "Join the heads", "value", "layer", ("context", "added"), of_vector.tell_join),
    _Stop("add & normalize", "Add and normalize", "norm", "layer", ("input", "added", "sum", "norm"),
          of_vector.tell_normalize),
    _Stop("neurons", "Neurons", "ffn", "layer", ("neurons.{layer}", "sum2", "output.{layer}"),
          of_vector.tell_neurons, ("GELU",)),
    _Stop("word", "The word", "prediction", "pass", ("output.{last}", "words"), of_vector.tell_word),
)  # fmt: skip
NAMES = tuple(stop.name for stop in STOPS)


def list_stops(trace: Trace, spot: Spot) -> list[dict[str, object]]:
    """The stops as the canvas draws them: name, sentence, what its terms mean, what lights up, and the numbers."""
    found = work_stops(trace, spot)
    worked = (getattr(found, field.name) for field in fields(found))
    at = {"layer": spot.layer, "last": trace.model.config.num_hidden_layers - 1}
    return [
        {
            "name": stop.name,
            "title": stop.title,
            "kind": stop.kind,
            "level": stop.level,
            "sentence": _join(stop.tell(trace, spot, found)),
            "plain": [(term, GLOSSARY[term]) for term in stop.terms if _is_told(term, trace, found.fired)],
            "lights": [part.format(**at) for part in stop.lights],
            "worked": _write_worked(numbers),
        }
        for stop, numbers in zip(STOPS, worked, strict=True)
    ]


def _is_told(term: str, trace: Trace, fired: Fired) -> bool:
    """Whether a term is one of this pass: not every model has these special tokens, or this activation function."""
    return term in trace.tokens if term.startswith("[") else term != "GELU" or fired.function == term


def _write_worked(numbers: Any) -> dict[str, object]:
    """The numbers of a stop by name, with whether their calculation gives what was recorded."""
    more: dict[str, object] = {}
    if isinstance(numbers, Answered):
        more = {"logit": _write_worked(numbers.logit)}
    if isinstance(numbers, Fired):
        more = {"onwards": {**asdict(numbers.onwards), "whole": numbers.onwards.whole}}
    return {**asdict(numbers), "adds_up": getattr(numbers, "adds_up", True), **more}


def _join(said: list[Said]) -> list[list[str | None]]:
    return [[part, None] if isinstance(part, str) else list(part) for part in said]
