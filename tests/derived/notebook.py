"""The page that runs the notebook's checks."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bertviz_core.documents.printed import FACTS, OTHERS, TENSORS
from tests.derived.reading import Panel
from tests.derived.truth import Map, Scene, Truth, points, truth


def gelu(x: float) -> float:
    return x * (1 + math.erf(x / math.sqrt(2))) / 2


def read_digits(cell: str) -> np.ndarray:
    return np.array(next(one for one in TENSORS if one.cell == cell).digits, dtype=np.float64)


@truth("notebook", "notebook-tensor")
def printed_tensor(s: Scene) -> Truth:
    digits = next(one for one in TENSORS if one.cell == s.asked.get("cell", "14")).digits
    matrix = np.array(digits, dtype=np.float64)
    return Truth([Printed(matrix, digits)], matrix)


@dataclass(frozen=True)
class Printed(Map):
    """A map with the digits as they are printed in its cells."""

    digits: Sequence[Sequence[str]]

    def check(self, panel: Panel, trace: Mapping, why: object) -> None:
        super().check(panel, trace, why)
        texts = [each["text"] for each in panel.figure["layout"]["annotations"] if each.get("yref") == "y"]
        written = [text.replace("<br>", "") for text in texts]
        assert written == [text.replace("-", "−") for row in self.digits for text in row], why


@truth("notebook", "All printed tensors")
def printed_tensors(s: Scene) -> Truth:
    printed = [[float(text) for row in one.digits for text in row] for one in TENSORS]
    columns = {
        "numbers": [36] * len(TENSORS),
        "smallest printed": [min(each) for each in printed],
        "largest printed": [max(each) for each in printed],
    }
    return Truth(tables=[columns])


@truth("notebook", "Sizes*")
def notebook_facts(s: Scene, which: str) -> Truth:
    """Ours and the verdicts: sizes from Hugging Face's config, the rest judged by the two texts beside each other."""
    table = s.shown.find("notebook", f"Sizes{which}").tables[0]
    facts = FACTS if which.startswith(",") else OTHERS
    here, verdicts, held = list(table.columns["this model"]), [], 0
    for i, fact in enumerate(facts):
        kind, _, name = fact.of.partition(":")
        if (
            here[i] != "–"
            and kind == "config"
            and hasattr(s.hf.config, name)
            and name not in ("architectures", "pad_token_id")
        ):
            here[i] = str(getattr(s.hf.config, name))
        same = "✓ same" if here[i] == table.columns["printed"][i] else "✗ differs"
        of_sentence = kind in ("ids", "length", "column", "row", "answer") or (
            kind == "shape" and not name.endswith((".weight", ".bias"))
        )
        held += of_sentence
        verdicts.append("" if of_sentence or (here[i] == "–" and not fact.slip) else "✗ error" if fact.slip else same)
    told = [
        verdicts.count("✓ same"),
        len(facts),
        *[held][: held > 0],
        *([10, 12] if any(fact.slip for fact in facts) else []),
    ]
    return Truth(
        told=told,
        tables=[
            {
                "what": table.columns["what"],
                "printed": table.columns["printed"],
                "this model": here,
                "verdict": verdicts,
            }
        ],
    )


@truth("notebook", "notebook-gelu")
def notebook_gelu(s: Scene) -> Truth:
    x, y = read_digits("49"), read_digits("51")
    line = np.linspace(-4.5, 1, 111)
    curve = [gelu(float(v)) for v in line]
    held = np.vstack([np.stack([x.ravel(), y.ravel()], axis=1), np.stack([line, curve], axis=1)])
    return Truth(
        [points("this model", x=line, y=curve), points("this token", x=x.ravel(), y=y.ravel())],
        held,
        told=[36, -4.2322, -4.8812e-05, gelu(-4.2322)],
        worked=[gelu(x[0, 0])],
    )


@truth("notebook", "What can be checked here")
def notebook_checks(s: Scene) -> Truth:
    same, facts = notebook_facts(s, ", settings, ids and texts").told[:2]
    here = ["36 of 36", f"{same} of {facts}", "not yet"]
    needs = ["no model", "any model", "BERT-base" + " and the notebook’s sentence" * ("text" in s.asked)]
    return Truth(told=[36 * len(TENSORS)], tables=[{"needs": needs, "holds here": here}])
