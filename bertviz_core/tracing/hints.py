"""What somebody may have meant who wrote an address that there is not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from bertviz_core.formula.address import Address

_NEAR = 3  # addresses that are offered
_MODEL, _PAIR = "bert.", "cls"  # where Hugging Face's encoder lies, and the module of two heads
_NOT_GIVEN = ("weight", "bias", "probs")  # parameters, and the shares that nothing but a loss reads
_CLOSENESS = 0.7  # of two spellings, as difflib measures it


def suggest_address(path: str, known: Iterable[str]) -> str:
    """The known paths that are spelled most like one that is not, in the layer that it names."""
    places = [Address(each) for each in known]
    layers = 1 + max((place.layer for place in places if place.layer is not None), default=-1)
    layer, leaf = _split_number(path)
    if layer is not None and layer >= layers:
        return f"there is no layer {layer}: the layers are 0 to {layers - 1}"
    given = _find_given(path.removeprefix(_MODEL), places)
    if given:
        return f"what this module of Hugging Face's gives is {given}"
    near = _find_near(places, layer, leaf)
    if not near:
        return f"an address looks like {places[0]}"
    return f"did you mean {near[0]}?" + (f" Near it too: {', '.join(near[1:])}" if near[1:] else "")


def _find_given(module: str, places: Sequence[Address]) -> str:
    """What a module of modules gives: what is computed in it last. Empty for what is none, and where it is a pair."""
    inside = [place for place in places if place.path.startswith(f"{module}.") and place.name not in _NOT_GIVEN]
    return str(inside[-1]) if inside and module != _PAIR else ""


def find_meant(path: str, known: Iterable[str]) -> list[str]:
    """The known paths that are spelled most like one that is not, the likest first."""
    return _find_near([Address(each) for each in known], *_split_number(path))


def _find_near(places: Iterable[Address], layer: int | None, leaf: str) -> list[str]:
    spelled = {place.leaf: place.path for place in places if place.layer in (None, layer or 0)}
    return [spelled[each] for each in get_close_matches(leaf, spelled, _NEAR, _CLOSENESS)]


def _split_number(path: str) -> tuple[int | None, str]:
    """The number that stands in a path, which is meant for a layer, and what comes after it."""
    parts = path.split(".")
    place = next((i for i, part in enumerate(parts) if part.isdecimal()), None)
    return (None, path) if place is None else (int(parts[place]), ".".join(parts[place + 1 :]))


def suggest_axis(name: str, axes: Iterable[str]) -> str:
    """The axes that there are, and which of them may have been meant."""
    names = list(axes)
    near = get_close_matches(name, names, 1)
    return f"its axes are {', '.join(names) or 'none'}" + (f"; did you mean {near[0]}?" if near else "")
