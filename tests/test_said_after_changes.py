"""Sentences that a change makes untrue: another one stands in their place, on the page and at the stops of the walk."""

import json
import re

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis.add_norm import follow_direct_path
from tests.often import one_in
from tests.settling import settle
from tests.test_put import RED, opened, read, tell

SNOW = "Snow fell on the old bridge."
L3 = "encoder.layer.3"
FORWARD = {"where": "feed-forward"}

# The page, what is changed, where it is looked at, what has to be said, and what must not be.
SAID = {
    "a skipped LayerNorm": (
        "add_norm", {f"{L3}.output.LayerNorm": "skip"}, FORWARD,
        "A change makes the result the layer's input", None,
    ),
    "what is normalized in a skipped layer": (
        "add_norm", {f"{L3}.output.LayerNorm": "skip"}, {},
        "A change skips this layer: nothing of this goes on.", None,
    ),
    "the direct path past a skipped layer": (
        "add_norm", {f"{L3}.output.LayerNorm": "skip"}, {},
        "Where a change skips a layer, its input goes on, with the factor from before it.", None,
    ),
    "a parameter of a skipped layer": (
        "parameters", {f"{L3}.output.LayerNorm": "skip"}, {"tensor": f"{L3}.output.LayerNorm.weight"},
        f"{L3}.output.LayerNorm.weight", "Read by",
    ),
    "the meaning of a skipped layer": (
        "formulas", {f"{L3}.output.LayerNorm": "skip"}, {},
        "The layer's input, unchanged: a change skips the layer.", None,
    ),
    "the meaning of a sum without a residual": (
        "formulas", {f"{L3}.output.residual": "no-residual"}, {},
        "What the sub-layer gives, alone: a change leaves its input out.",
        "The residual sum: the feed-forward network's input plus its output.",
    ),
    "the meaning of another epsilon": (
        "formulas", {f"{L3}.output.LayerNorm.normalized": "epsilon=2.0"}, {},
        "Each token's vector less its mean, divided by √(σ² + ε), with the ε of a change.", None,
    ),
    "weights that do not sum to 1": (
        "formulas", {f"{L3}.attention.self.probs[head=7]": 0.3}, {},
        "than this formula gives. Without it: The attention weights of each query over all keys; each row sums to 1.",
        None,
    ),
    "an epsilon that matters": (
        "add_norm", {f"{L3}.attention.output.LayerNorm.normalized": "epsilon=2.0"}, {},
        "On this token's residual sum it changes a number by up to ", "it changes almost nothing",
    ),
    "a sum of equal numbers": (
        "add_norm", {f"{L3}.output.residual[token=5]": 1.0}, FORWARD,
        "This token's residual sum has variance 0, so that the root is that of ε", "it changes almost nothing",
    ),
    "no mean 0 with a put mean": (
        "add_norm", {f"{L3}.attention.output.LayerNorm.mean[token=5]": 1.0}, {},
        "but here not all have them. This token's has mean ", "every vector has mean 0 and variance 1. Whatever",
    ),
    "no variance 1 with a put variance": (
        "add_norm", {f"{L3}.output.LayerNorm.variance[token=5]": 9.0}, FORWARD,
        "but here not all have them. This token's has mean ", "every vector has mean 0",
    ),
    "the variance around a put mean": (
        "add_norm", {f"{L3}.attention.output.LayerNorm.mean[token=5]": 1.0}, {},
        "Mean squared distance of this token's vector from that: $", "Variance of this token's vector",
    ),
    "a root that is no standard deviation": (
        "add_norm", {f"{L3}.attention.output.LayerNorm.normalized": "epsilon=2.0"}, {},
        "LayerNorm divides by $", "Standard deviation: $",
    ),
    "standard deviations apart": (
        "embeddings", {"embeddings.LayerNorm.normalized": "epsilon=0.5"}, {},
        "; with this ε LayerNorm makes it ", "; γ and β scale and shift that.",
    ),
    "an attention output that goes on alone": (
        "attention_output", {f"{L3}.attention.output.residual": "no-residual"}, {},
        "A change leaves the residual connection out: nothing is added to this.",
        "The residual connection adds the layer's input to this.",
    ),
    "neurons on ReLU": (
        "feed_forward", {f"{L3}.intermediate.activation": "relu"}, {},
        "on the function that a change applies here", "ReLU would change an activation by at most",
    ),
    "neurons on another GELU": (
        "feed_forward", {f"{L3}.intermediate.activation": "gelu_new"}, {},
        "GELU (erf) would change an activation by at most", "GELU (tanh) would change an activation by at most",
    ),
    "neurons that a change put": (
        "feed_forward", {f"{L3}.intermediate.activation[token=5]": 0.0}, {},
        "A change puts them there, not the function whose curve is drawn.", "on the function that this model",
    ),
    "padding that a change attends to": (
        "tokenization", {f"{L3}.attention.self.probs[head=7,query=5,key=9]": 0.4}, {"pad": "12"},
        "But as changed, not all attention weights on padding are 0.", "No token attends to padding",
    ),
    "padding whose mask a change sets": (
        "tokenization", {"attention_mask[token=9]": 1}, {"pad": "12"},
        "But as changed, not all attention weights on padding are 0.", "No token attends to padding",
    ),
    "scores that a change makes other ones": (
        "tokenization", {f"{L3}.attention.self.scores[head=7]": "scale=3"}, {"pad": "12"},
        "But a change puts other scores there than that makes.", "Where the mask is 1, scores stay the same",
    ),
    "scores to which the mask does not add 0": (
        "attention", {f"{L3}.attention.self.scores[head=7]": "scale=3"}, {},
        "multiplied by a change", None,
    ),
    "a stage that ends without LayerNorm": (
        "layers", {f"{L3}.output.LayerNorm": "skip"}, {},
        "a change lets some end otherwise.", "so the norm depends mostly on its γ.",
    ),
    "a stage whose numbers a change put": (
        "layers", {"embeddings.LayerNorm[token=5]": 0.5}, {},
        "a change lets some end otherwise.", "so the norm depends mostly on its γ.",
    ),
    "pictures of lessons, which are about the pass without changes": (
        "learn", {f"{L3}.attention.self.probs[head=7]": 0.0}, {},
        "The pictures below show it without your changes, and so do lessons begin.", None,
    ),
    "numbers that neither the model computed nor its checkpoint has": (
        "", {f"{L3}.attention.self.probs[head=7]": 0.0}, {}, "Some are put there by a change.", None,
    ),
    "products of a change": (
        "query_key_value", {f"{L3}.attention.self.products[head=7]": 7.0}, {},
        ", which a change makes 7.0000.", None,
    ),
    "a row of a repeated token": (
        "embeddings", {"embeddings.word_embeddings[token=2]": 0.5},
        {"text": "no no no", "token": "1", "vectors": "word"},
        "A change puts other numbers there than this formula gives.", None,
    ),
    "a rollout over what is cut": (
        "layers", {f"{L3}.output.residual": "no-residual"}, {},
        "Residual connections that a change cuts, and skipped layers, are counted as before.", None,
    ),
    "a rollout over what is skipped": (
        "layers", {f"{L3}.output.LayerNorm": "skip"}, {},
        "Residual connections that a change cuts, and skipped layers, are counted as before.", None,
    ),
    "a segment that is no second sentence": (
        "sentence", {"token_type_ids[token=2]": 1}, {},
        "*Does segment 1 follow segment 0?*", "*Does a second sentence follow?* There is none",
    ),
    "a vector that does not move": (
        "embeddings", {"embeddings.word_embeddings[token=2]": 0.5}, {},
        "**What if:** your change moves none of the numbers here.", None,
    ),
    "words in the order in which they moved": (
        "predictions", {f"{L3}.attention.self.probs[head=7]": 0.0}, {"show": "Difference"},
        "Words that moved most", "Most likely words",
    ),
    "keys in the order after a change": (
        "query_key_value", {"encoder.layer.2.attention.self.probs[head=7]": 0.0}, {"show": "Difference"},
        "Best fit first after your change; ", "Best fit first; ",
    ),
    "neurons in the order after a change": (
        "feed_forward", {f"{L3}.intermediate.activation": "relu"}, {"show": "Difference"},
        "longest first after your change", None,
    ),
    "differences of cosines without a number": (
        "layers", {f"{L3}.attention.self.probs[head=7]": 0.0}, {"show": "Difference"},
        "after layer 3", "in hundredths for ",
    ),
    "a direct path that is divided by more than a standard deviation": (
        "add_norm", {f"{L3}.output.LayerNorm.normalized": "epsilon=0.1"}, {},
        "each LayerNorm divides the embedding by √(σ² + ε).", None,
    ),
    "a mean that is 0 but for rounding": (
        "add_norm", {f"{L3}.output.LayerNorm.normalized": "epsilon=0.1"}, FORWARD,
        "but here not all have them. This token's has mean 0 and variance 0.", None,
    ),
    "a direct path that is cut": (
        "add_norm", {f"{L3}.output.residual": "no-residual"}, {},
        "Behind a place where a change cuts this path, nothing of the embedding is left: 0.", None,
    ),
}  # fmt: skip


_TERM = re.compile(r'<span class="bv-term"[^>]*>([^<]*)<span role="tooltip">.*?</span></span>')


def read_all(at):
    """What a page says, in Markdown and in HTML, without the meanings of the glossary's words."""
    return _TERM.sub(r"\1", "\n".join([read(at)[0], *(each.proto.body for each in at.get("html"))]))


@pytest.mark.parametrize("name", one_in(3, SAID))
def test_what_a_change_makes_untrue_is_not_said(name):
    page, changes, place, said, not_said = SAID[name]
    place = {"text": SNOW, "layer": "3", "head": "7", "token": "5"} | place
    after, before = (read_all(opened(page, made, **place)) for made in (changes, {}))
    assert said in after
    if not_said:
        assert not_said not in after and not_said in before


@pytest.mark.parametrize(("text", "numbers"), [("old " * 12, True), ("old " * 13, False)])
def test_cosines_are_said_to_be_numbers_where_there_is_room_for_them(text, numbers):
    at = opened("layers", {}, text, token="3")
    assert ("in hundredths for “old”" in read_all(at)) == numbers
    drawn = next(
        json.loads(each.proto.spec) for each in at.get("plotly_chart") if each.proto.id.endswith("-chart-cosines")
    )
    assert bool(drawn["layout"].get("annotations")) == numbers == ("colorbar" not in drawn["data"][0])


@pytest.mark.parametrize(
    ("changes", "first", "last"),
    [
        ({f"{L3}.output.residual": "no-residual"}, 7, 12),
        ({f"{L3}.attention.output.residual": "no-residual"}, 6, 12),
        ({f"{L3}.attention.output.LayerNorm.normalized[token=5]": 0.0}, 6, 12),
        ({f"{L3}.output.residual": "no-residual", f"{L3}.output.LayerNorm": "skip"}, 12, 12),
        ({f"{L3}.attention.output.residual": "no-residual", f"{L3}.output.LayerNorm": "skip"}, 6, 7),
    ],
)  # fmt: skip
def test_the_direct_path_ends_where_a_change_cuts_it(bundled, changes, first, last):
    _, factors = follow_direct_path(bv.run(bundled, SNOW, changes=changes), 5)
    assert np.flatnonzero(factors == 0).tolist() == list(range(first, last))


def test_the_direct_path_passes_around_a_layer_that_is_skipped(bundled):
    trace = bv.run(bundled, SNOW)
    skipped = trace.with_changes({f"{L3}.output.LayerNorm": "skip"})
    factors = follow_direct_path(skipped, 5)[1]
    np.testing.assert_allclose(factors[:7], follow_direct_path(trace, 5)[1][:7])
    assert factors[7] == factors[5] != factors[6]
    variance = float(skipped["encoder.layer.4.attention.output.LayerNorm.variance[token=5]"])
    np.testing.assert_allclose(factors[8], factors[5] / np.sqrt(variance), rtol=1e-6)


L2 = "encoder.layer.2"
STOPS = {
    "a mean of a change": (
        "add & normalize", {f"{L2}.attention.output.LayerNorm.mean[token=2]": 1.0},
        r"LayerNorm takes off 1\.0+, which a change makes the mean, divides by [\d.]+, scales by .*: −?[\d.]+\.$",
    ),
    "a variance of a change": (
        "add & normalize", {f"{L2}.attention.output.LayerNorm.variance[token=2]": 4.0},
        r"divides by 2\.0+, as a change makes the variance, scales by .*: −?[\d.]+\.$",
    ),
    "a quotient of a change": (
        "add & normalize", {f"{L2}.attention.output.LayerNorm.normalized[token=2]": 3.0},
        r"divides by [\d.]+, the result of which a change makes 3\.0+, scales by .*: −?[\d.]+\.$",
    ),
    "a result of a change": (
        "add & normalize", {f"{L2}.attention.output.LayerNorm[token=2]": 3.0},
        r"shifts by −?[\d.]+, but a change puts there 3\.0+\.$",
    ),
    "a quotient elsewhere": (
        "add & normalize", {f"{L2}.attention.output.LayerNorm.normalized[token=2,hidden=383]": 90.0},
        r"LayerNorm takes off the mean, −?[\d.]+, divides by [\d.]+, scales by −?[\d.]+ and shifts by .*: −?[\d.]+\.$",
    ),
    "neurons that are normalized by another variance": (
        "neurons", {f"{L2}.output.LayerNorm.variance[token=2]": 4.0},
        r"What they write is added and normalized again, and a change puts numbers there as well\.$",
    ),
    "one component of what neurons write": (
        "neurons", {f"{L2}.output.dense[token=2,hidden=7]": -30.0},
        r"What they write is added and normalized again, and a change puts numbers there as well\.$",
    ),
    "all that neurons write": (
        "neurons", {f"{L2}.output.dense[token=2]": -30.0},
        r"What they write would be added and normalized again, but a change puts numbers there\.$",
    ),
    "all behind a residual that is cut": (
        "neurons", {f"{L2}.output.residual": "no-residual", f"{L2}.output.LayerNorm": 1.0},
        r"What they write goes no further: a change puts numbers there\.$",
    ),
    "a row of a change": (
        "look up", {"embeddings.word_embeddings[token=2]": 0.5},
        r" gets 0\.50+ \(by a change, not word 103\), \S+ \(position 2\), \S+ \(segment 0\): together ",
    ),
    "one table of a change": (
        "look up", {"embeddings.position_embeddings": 0.0},
        r" \(word 103\), 0\.0+ \(by a change, not position 2\), \S+ \(segment 0\): together ",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STOPS)
def test_a_stop_tells_what_a_change_decides_and_what_it_leaves(bundled, name):
    stop, changes, said = STOPS[name]
    trace = bv.run(bundled, RED)
    assert re.search(said, tell(trace.with_changes(changes))[stop])
    assert name == "a quotient elsewhere" or not re.search(said, tell(trace)[stop])


NORMALIZES = re.compile(
    r"^At component (\d+) .*LayerNorm takes off (?:the mean, )?(\S+), (?:which a change makes the mean, )?"
    r"divides by (\S+), (?:as a change makes the variance, |the result of which a change makes \S+, )?"
    r"scales by (\S+) and shifts by (\S+?)(?:: |, but a change puts there )(\S+)\.$"
)


@pytest.mark.parametrize("name", [name for name, (stop, *_) in STOPS.items() if stop == "add & normalize"])
def test_every_number_of_a_layernorm_at_a_stop_is_its_tensors_own(bundled, name):
    """Also where a change made one of them: each as its tensor has it, to the last digit that is written."""
    norm = f"{L2}.attention.output.LayerNorm"
    trace = bv.run(bundled, RED).with_changes(STOPS[name][1])
    at, *said = NORMALIZES.match(tell(trace)["add & normalize"]).groups()
    mean, variance = (float(trace[f"{norm}.{leaf}[token=2]"]) for leaf in ("mean", "variance"))
    true = [mean, np.sqrt(variance + 1e-12), trace[f"{norm}.weight"][int(at)], trace[f"{norm}.bias"][int(at)]]
    for text, number in zip(said, [*true, trace[f"{norm}[token=2,hidden={at}]"]], strict=True):
        written = text.replace("\N{MINUS SIGN}", "-")
        assert abs(float(written) - float(number)) <= 0.5001 * 10.0 ** -len(written.partition(".")[2]), (text, number)


def test_a_quotient_that_a_change_put_does_not_decide_by_what_the_others_are_divided(bundled):
    trace = bv.run(bundled, RED)
    norm = f"{L2}.attention.output.LayerNorm"
    elsewhere = trace.with_changes({f"{norm}.normalized[token=2,hidden=383]": 90.0})
    divisor = re.search(r"divides by ([\d.]+),", tell(elsewhere)["add & normalize"])[1]
    assert float(divisor) == pytest.approx(float(np.sqrt(trace[f"{norm}.variance[token=2]"])), rel=0.01)


def test_the_first_question_names_the_position_of_a_token_that_stands_twice():
    text = "The lake lies by a lake."
    asked = [opened("", {}, text, token=token).title[0].value for token in ("2", "3")]
    assert asked[0].startswith("*What does BERT expect at “lake” at position 2?*")
    assert asked[1].startswith("*What does BERT expect at “lies”?*")


def test_tensors_are_counted_as_the_file_has_them():
    assert "22,893,116 numbers in 110 tensors" in read(opened("parameters", {}))[0]


def test_the_window_over_a_tensor_ends_where_the_tensor_does():
    at = opened("parameters", {}, tensor=f"{L3}.intermediate.dense.weight", row="383", column="1535")
    rows, columns = (re.escape(f"{first}–{size - 1} of {size:,}") for first, size in ((368, 384), (1504, 1536)))
    assert re.search(f"{rows}, [a-z]+ {columns}", read_all(at))


def test_a_departure_alone_is_compared_with_the_pass_without_changes():
    def read(changes):
        at = opened("documents", changes, text=SNOW, token="5")
        assert settle()
        at.run()
        return [each.proto.body for each in at.get("html") if 'aria-label="The departures"' in each.proto.body]

    plain = read({})
    assert len(plain) == 1 and re.search(r"<span>−?\d\.\d\d</span>", plain[0])
    assert read({f"{L3}.output.LayerNorm": "skip"}) == plain
