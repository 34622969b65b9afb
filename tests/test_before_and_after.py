"""What panels print with a change: numbers of the pass before it, of the one after it, or of both, each by its name."""

import re
from functools import cache

import numpy as np
import pytest

from bertviz_core.analysis.layers import Lens
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex, format_number, format_percent, format_short
from tests.often import one_in
from tests.test_what_if_page import WORD, opened, view

TOKEN, LAYER, HEAD = 2, 1, 2
SELF, NORM = f"encoder.layer.{LAYER}.attention.self", f"encoder.layer.{LAYER}.attention.output.LayerNorm"
SCORES, PROBS = "cls.predictions.decoder", "cls.predictions.probs"
pytestmark = pytest.mark.xdist_group("before and after")  # they share what pages print


@cache
def started(show):
    return opened(changes=WORD, show=show, token=str(TOKEN), layer=str(LAYER), head=str(HEAD), open="all")


@cache
def printed(page, show):
    """What a page prints, with all folds open: the kind, the text, and the pass under whose name it stands."""
    at = started(show)
    at.switch_page(f"pages/{page}.py").run()
    assert not at.exception and not at.error
    return list(walked(at.main)), view(at).outcome


def walked(block, half=""):
    for child in block.children.values():
        if hasattr(child, "children"):
            yield from walked(child, half)
        elif child.type == "dataframe":
            yield "table", " ".join(map(str, child.value.to_numpy().ravel().tolist())), half
        elif child.type == "html":
            yield "table" if "<table" in child.proto.body else "html", child.proto.body, half
        elif child.type in ("markdown", "caption", "latex"):
            half = {"**Before**": "Before", "**After**": "After"}.get(child.value, half)
            yield child.type, child.value, half


def moments(trace):
    return [f"= {format_latex(float(trace[f'{NORM}.{leaf}'][TOKEN]))}$" for leaf in ("mean", "variance")]


def epsilon(trace):
    x = trace[f"encoder.layer.{LAYER}.attention.output.residual"][TOKEN].astype(float)
    own, other = ((x - x.mean()) / np.sqrt(x.var() + e) for e in (trace.model.config.layer_norm_eps, 1e-3))
    return [format_number(float(np.abs(other - own).max()))]


def neurons(trace):
    return [str(float(x)) for x in trace[f"encoder.layer.{LAYER}.intermediate.activation"][TOKEN, :4]]


def lengths(trace):
    return [
        f">{format_number(float(np.linalg.norm(trace[part][TOKEN].astype(float))))}<"
        for part in ("embeddings.word_embeddings", "embeddings.sum")
    ]


def fit(trace):
    return [f">{format_short(float(x))}<" for x in trace[f"{SELF}.products"][HEAD, TOKEN]]


def weights(trace):
    return [f">{format_percent(float(x))}<" for x in trace[f"{SELF}.probs"][HEAD, TOKEN]]


def softmax(trace):
    return [format_number(float(x)) for x in np.sort(trace[SCORES][TOKEN])[:-4:-1]]


def five(trace):
    best = int(trace[PROBS][TOKEN].argmax())
    return [f"{trace.model.tokenizer.token(best)} {format_number(float(trace[PROBS][TOKEN, best]))}"]


def line(trace):
    return [f">{trace.model.tokenizer.decode(trace[SCORES].argmax(axis=1).tolist())}<"]


def looked_up(trace):
    cat = trace.model.tokenizer.id("cat")
    return [format_number(float(trace[SCORES][TOKEN, cat]))]


def lens(trace):
    return [
        f"{trace.model.tokenizer.token(int(row.argmax()))} {format_number(float(row.max()))}"
        for row in Lens(trace, TOKEN).probs
    ]


def profile(trace):
    p = trace[f"{SELF}.probs"][HEAD].astype(float)
    return [f"{format_short(float(-(p * np.log2(p)).sum(axis=1).mean()))} of"]


def inputs(trace):
    return [f">{trace.tokens[TOKEN]}<", f">{trace.encoding.ids[TOKEN]}<"]


def formulas(trace):
    x = trace[Address(f"{NORM}.variance").fix(token=TOKEN)]
    return [format_number(float(x))]


PRINTED = {
    "moments": ("add_norm", moments), "epsilon": ("add_norm", epsilon), "neurons": ("feed_forward", neurons),
    "lengths": ("embeddings", lengths), "fit": ("query_key_value", fit), "weights": ("attention", weights),
    "softmax": ("predictions", softmax), "five": ("predictions", five), "line": ("predictions", line),
    "looked up": ("predictions", looked_up), "lens": ("layers", lens), "profile": ("heads", profile),
    "inputs": ("tokenization", inputs), "formulas": ("formulas", formulas),
}  # fmt: skip


@pytest.mark.parametrize("name", one_in(3, PRINTED))
def test_panels_print_the_pass_that_is_asked_for(name):
    page, write = PRINTED[name]
    for show, expected in {"Before": (True, False), "After": (False, True), "Difference": (True, True)}.items():
        found, outcome = printed(page, show)
        before, after = write(outcome.before), write(outcome.after)
        assert before != after
        text = " ".join(text for kind, text, _ in found if "What if" not in text and "Before your change" not in text)
        assert (all(x in text for x in before), all(x in text for x in after)) == expected, show


BARS = re.compile(r"<i\b.*?</i>")


@pytest.mark.parametrize("page", sorted({page for page, _ in PRINTED.values()} - {"formulas"}))
def test_a_table_of_one_of_two_passes_stands_under_its_name(page):
    def read(show):  # without bars: those after a change, seen alone, have what was before below them
        return [(BARS.sub("", text), half) for kind, text, half in printed(page, show)[0] if kind == "table"]

    of = {show: {text for text, _ in read(show)} for show in ("Before", "After")}
    found = read("Difference")
    reached = 0
    for text, half in found:
        owners = [show for show in of if text in of[show]]
        if len(owners) == 1 and "before" not in text:
            assert owners == [half], text
            reached += 1
    assert reached
