"""The embeddings page in sentences: which row is longest, what makes up the ringed component, why it is that one."""

from __future__ import annotations

import numpy as np

from bertviz_core.analysis.add_norm import normalize_with, read_epsilon
from bertviz_core.analysis.claims import Claim, Part, Said, say, say_largest
from bertviz_core.analysis.made_from import find_doing, is_put
from bertviz_core.analysis.ranking import find_strongest
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import write_plain_sum
from bertviz_core.formula.texts import join_words
from bertviz_core.tracing.meanings import PUTS
from bertviz_core.ui.frame import url
from bertviz_core.ui.frame.keys import COMPONENT
from bertviz_core.ui.frame.place import read_index
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.said import tell_nowhere, tell_number, tell_token

PARTS = {
    "word": Address("embeddings.word_embeddings"),
    "position": Address("embeddings.position_embeddings"),
    "segment": Address("embeddings.token_type_embeddings"),
    "sum": Address("embeddings.sum"),
}
NORM = Address("embeddings.LayerNorm")


def write_headline(view: View) -> Said:
    """At which component the three rows' sum is largest in size, and what LayerNorm makes of it there."""
    start = Claim(
        "three rows",
        "What stands for {word} at the start? Three rows, added; ",
        {"word": tell_token(view.trace.tokens, view.chosen.token)},
    )
    return say(start, _tell_outstanding(view), _tell_replaced(view))


def _tell_outstanding(view: View) -> Said:
    """The number that the drawer begins with: the ringed component, and whether it is where the sum is largest."""
    component, sizes = find_ringed(view), np.abs(_read_sum(view))
    value = tell_number(float(view.trace[NORM.fix(token=view.chosen.token, hidden=component)]))
    parts = {"size": tell_number(sizes[component]), "component": Part(component), "value": value}
    if sizes[component] < sizes.max():
        return say(Claim("chosen component", "component {component} becomes **{value}**", parts))
    return say_largest(
        ("outstanding component", "component {component} stands out and becomes **{value}**"),
        (
            "outstanding components",
            "nowhere is the sum larger than at component {component}, which becomes **{value}**",
        ),
        parts,
        sizes,
        (component,),
    )


def _tell_replaced(view: View) -> Said:
    """That what the token starts with is not what these rows give; nothing where it is."""
    if doing := find_doing(view.trace, PARTS["sum"].fix(token=view.chosen.token)):
        return say(f"; but a change {_name_change(doing)} the sum")
    if doing := _find_norm_doing(view):
        return say(f"; but a change {_name_change(doing)} what LayerNorm makes of it")
    return say()


def _name_change(doing: str) -> str:
    return "puts other numbers into" if doing == PUTS else doing


def read_component(view: View, remarks: list[str]) -> int | None:
    """The component that the URL names, if there is such a one; what it names else is remarked on."""
    url.bind(COMPONENT)
    return read_index(COMPONENT, len(_read_sum(view)), "vector", remarks)


def _read_sum(view: View) -> np.ndarray:
    return view.trace[PARTS["sum"].fix(token=view.chosen.token)]


def find_ringed(view: View) -> int:
    """The component that the URL names; without one, that at which the sum is largest in size."""
    asked = read_component(view, [])
    return find_strongest(_read_sum(view)) if asked is None else asked


def tell_ringed(view: View) -> Said:
    """At which component the chosen token's sum is largest in size."""
    sizes = np.abs(_read_sum(view))
    strongest = int(sizes.argmax())
    parts = {"size": tell_nowhere(sizes[strongest]), "component": Part(strongest)}
    return say_largest(
        ("ringed", "Ringed: component {component}, where the sum is largest in size."),
        ("ringed of several", "Ringed: component {component}; nowhere is the sum larger in size."),
        parts,
        sizes,
        (strongest,),
    )


def tell_rows(view: View) -> Said:
    """Which row of which learned table each of the three is."""
    encoding, token = view.trace.encoding, view.chosen.token
    summands = {name: part for name, part in PARTS.items() if name != "sum"}
    put = [f"the {name}" for name, part in summands.items() if is_put(view.trace, part.fix(token=token))]
    if put:
        return say(f"A change puts other numbers in place of the row{'s' * (len(put) > 1)} of {join_words(put)}. ")
    parts = {
        "word": Part(encoding.ids[token]),
        "position": Part(encoding.positions[token]),
        "segment": Part(encoding.segments[token]),
    }
    form = "Rows of three learned tables: word {word}, position {position}, segment {segment}. "
    return say(Claim("rows of tables", form, parts))


def tell_component(view: View) -> Said:
    """How far the ringed component lies from the mean, and which summand is the largest in size there."""
    trace, token, component = view.trace, view.chosen.token, find_ringed(view)
    found = {name: float(trace[part.fix(token=token, hidden=component)]) for name, part in PARTS.items()}
    total = found.pop("sum")
    sizes, names = np.abs(list(found.values())), list(found)
    most = int(sizes.argmax())
    apart = float(normalize_with(_read_sum(view), 0)[component])
    told = {
        "total": tell_number(total),
        "component": Part(component),
        "sum": tell_number(sum(found.values())),
        "summands": Part(write_plain_sum(found.values())),
    }
    adds, replaced = Claim("three summands", "Component {component}: {summands} = {total}", told), say("")
    if is_put(trace, PARTS["sum"].fix(token=token, hidden=component)):
        adds = Claim("three summands, put", "Component {component}: {summands} = {sum}", told)
        replaced = say(Claim("sum, put", "; but a change makes the sum {total}", told))
    parts = {"size": tell_number(sizes[most]), "name": Part(names[most])}
    lies = {"apart": tell_number(abs(apart)), "side": Part("below" if apart < 0 else "above")}
    return say(
        adds,
        say_largest(
            ("largest summand", ", the largest in size from the {name}"),
            ("no larger summand", ", none larger in size than that of the {name}"),
            parts,
            sizes,
            (most,),
        ),
        replaced,
        say(Claim("sum lies apart", ". The sum lies {apart} standard deviations {side} the vector's mean", lies))
        if apart
        else say(". The sum lies at the vector's mean"),
        _tell_scaled(view, component, apart),
    )


def _tell_scaled(view: View, component: int, apart: float) -> Said:
    """What becomes of the component that lies so many standard deviations apart."""
    if doing := _find_norm_doing(view):
        return say(f"; a change {_name_change(doing)} what the LayerNorm that follows makes of it.")
    normal = tell_number(float(_normalize(view)[component]))
    if normal.text == tell_number(apart).text:
        return say("; γ and β scale and shift that.")
    form = "; with this ε LayerNorm makes it {normal}, which γ and β scale and shift."
    return say(Claim("epsilon makes it", form, {"normal": normal}))


def _normalize(view: View) -> np.ndarray:
    """The chosen token's sum with mean 0 and variance 1, also where a change put other numbers there."""
    return normalize_with(_read_sum(view), read_epsilon(view.trace, NORM))


def _find_norm_doing(view: View) -> str:
    """What a change does to a part of the chosen token's LayerNorm, or to what it gives; "" where there is none."""
    parts = (NORM, *(NORM.enter(part) for part in ("mean", "variance", "normalized")))
    return next(filter(None, (find_doing(view.trace, part.fix(token=view.chosen.token)) for part in parts)), "")


def tell_deviation(view: View) -> Said:
    """How LayerNorm, and then γ and β, change the standard deviation of the chosen token's components."""
    trace, token = view.trace, view.chosen.token
    row = _read_sum(view).astype(np.float64)
    before = tell_number(row.std() if np.ptp(row) else 0.0)
    if doing := _find_norm_doing(view):
        there = {"before": before, "recorded": tell_number(trace[NORM.fix(token=token)].astype(np.float64).std())}
        goes = "the standard deviation of the components goes from {before} in the sum to {recorded}."
        return say(Claim("deviation, put", f"A change {_name_change(doing)} what LayerNorm makes: {goes}", there))
    gamma, beta = (trace[NORM.enter(part)].astype(np.float64) for part in ("weight", "bias"))
    normal = _normalize(view)
    scaled = (normal * gamma + beta).std()
    parts = {"before": before, "normal": tell_number(normal.std()), "scaled": tell_number(scaled)}
    gives = Claim(
        "deviations",
        "LayerNorm changes the standard deviation of the components from {before} in the sum to "
        "{normal}; γ and β change it to {scaled}",
        parts,
    )
    return say(gives, ".")
