"""The strip of What if: answers at every strength, worked out before anything is dragged; changes told in words."""

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bertviz_core.analysis.ablation import list_outcomes, read_cells
from bertviz_core.analysis.change_names import name_change, name_place
from bertviz_core.analysis.strengths import STEPS, scale, try_strengths
from bertviz_core.formula.address import parse
from bertviz_core.programs.config import ACTIVATIONS
from bertviz_core.tracing.changes import RULES, read_changes
from bertviz_core.ui.frame import strip
from bertviz_core.ui.frame.strip import _list_answer
from tests.settling import settle

APP = str(Path(__file__).parent.parent / "app.py")
PROBS = "encoder.layer.2.attention.self.probs"
OTHER = "encoder.layer.4.attention.self.probs[head=0]"
HEAD, CELL, MASK = parse(f"{PROBS}[head=0]"), parse(f"{PROBS}[head=0,query=8,key=5]"), 8


@pytest.mark.parametrize("where", [HEAD, CELL], ids=str)
def test_a_strength_is_the_pass_with_so_many_times_the_number(rome, where):
    addresses = list(list_outcomes(rome, MASK, 3).values())[:3]
    every = list(try_strengths(rome, where, addresses))
    assert [done for done, _ in every] == pytest.approx([i / 11 for i in range(1, 12)])
    values = every[-1][1].values
    for step in (0, 3, 10):
        changed = rome.with_changes({where: rome[where] * step / STEPS})
        expected = [float(changed["cls.predictions.probs"][tuple(i for _, i in one.index)]) for one in addresses]
        np.testing.assert_allclose(values[step], expected, rtol=2e-5)
    assert np.isnan(every[0][1].values[:STEPS]).all() and np.isfinite(every[0][1].values[STEPS]).all()


def test_at_full_strength_nothing_is_changed():
    assert scale(HEAD, STEPS) == {} and {str(rule) for rule in scale(HEAD, 3).values()} == {"scale=0.3"}


def test_cells_of_one_row_and_of_several_are_read_as_one_by_one(rome, monkeypatch):
    places, names = ((8, 5), (8, 2111), (3, 7)), ("decoder", "probs")
    cells = [parse(f"cls.predictions.{name}[token={i},vocab={j}]") for name in names for i, j in places]
    alone, asked = [float(rome.recomputed(cell)) for cell in cells], list[str]()
    work_out = type(rome).recomputed
    monkeypatch.setattr(type(rome), "recomputed", lambda trace, at: asked.append(str(at)) or work_out(trace, at))
    np.testing.assert_array_equal(read_cells(rome, cells), alone)
    # A row of logits is a product with the whole table of words, of which each of them needs one row only.
    assert asked == [*map(str, cells[:3]), *(f"cls.predictions.probs[token={i}]" for i in (8, 3))]


TOLD = [
    (f"{PROBS}[head=8]:0", "layer 2, head 8 set to 0"),
    (f"{PROBS}[head=8]:scale=0.3", "layer 2, head 8 times 0.3"),
    (f"{PROBS}[head=8]:uniform", "layer 2, head 8 spread evenly"),
    (f"{PROBS}[head=0,query=8,key=5]:-0.5", "layer 2, head 0, weight of “[MASK]” on “do” at position 5 set to −0.5"),
    (f"{PROBS}[head=0,query=8]:0", "layer 2, head 0, weights of “[MASK]” set to 0"),
    (
        "encoder.layer.2.attention.self.scores[head=0,query=8,key=6]:-10000",
        "layer 2, head 0, score of “[MASK]” on “as” set to −10000",
    ),
    ("encoder.layer.2.attention.self.scores[head=0]:scale=2", "layer 2, head 0, scores times 2"),
    ("encoder.layer.2.attention.output.LayerNorm:skip", "layer 2, LayerNorm after attention skipped"),
    ("input_ids[token=3]:2082", "“rome” replaced by “school”"),
    ("attention_mask[token=3]:0", "“rome” masked out"),
    ("encoder.layer.1.output.LayerNorm:skip", "layer 1, LayerNorm after feed-forward skipped"),
    ("embeddings.LayerNorm[token=3]:noise=7", "LayerNorm after the embeddings, “rome” with noise, seed 7"),
    (
        "encoder.layer.1.output.LayerNorm[token=3]:from",
        "layer 1, LayerNorm after feed-forward, “rome” from the other pass",
    ),
    (
        "encoder.layer.2.attention.self.context:from=head8+head3",
        "layer 2, head output from head 8 and head 3 of the other pass",
    ),
    ("encoder.layer.1.output.residual:no-residual", "layer 1, residual sum after feed-forward without its residual"),
    ("encoder.layer.1.intermediate.activation:relu", "layer 1, activation by relu"),
    ("embeddings.LayerNorm.normalized:epsilon=1e-5", "normalized vector after the embeddings with ε = 1e−5"),
    ("embeddings.sum[token=3,hidden=7]:1", "embedding sum, “rome”, component 7 set to 1"),
]


@pytest.mark.parametrize(("change", "told"), TOLD)
def test_a_change_in_words(rome, change, told):
    ((where, value),) = read_changes(change).items()
    assert name_change(rome, where, value) == told
    assert told.startswith(name_place(rome, where)) or "“rome”" in told


def test_every_rule_is_told_in_words_of_its_own():
    """But an activation function, by its name."""
    told = {change.rpartition(":")[2].partition("=")[0]: words for change, words in TOLD}
    for rule in {rule.partition("=")[0] for rule in RULES} - set(ACTIVATIONS):
        assert rule in told and not told[rule].endswith(f"by {rule}"), rule


def test_an_answer_is_written_at_every_strength_and_what_is_not_known_is_not():
    shares = np.full(STEPS + 1, np.nan)
    shares[[0, 9, 10]] = 0.25, 0.4999, 0.5
    found = _list_answer("“a”", shares, 0.5)
    assert found["parts"][0] == 0.5 and found["parts"][10] == 1 and found["parts"][4] is None
    assert found["texts"][4] == "…" and found["texts"][0].startswith("25")
    assert [found["differences"][i] for i in (0, 4, 9, 10)] == ["−25.0", "", "", ""]


def opened(slid):
    """The first page, with the strip open for an address."""
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params["text"] = "the cat sat on the [MASK]"
    at.session_state["what-if-slid"] = slid
    at.run()
    assert not at.exception and not at.error
    return at


def list_keys(at):
    return [button.key for button in at.button]


def test_a_number_is_changed_in_the_strip_which_then_closes():
    cell = f"{PROBS}[head=1,query=6,key=3]"
    at = opened(cell)
    assert settle()
    assert at.selectbox("what-if-scope").options == [
        "this number",
        "all of head 1, query 6",
        "all of head 1",
        "the whole tensor (head × query × key)",
    ]
    value = at.number_input(f"what-if-number-{cell}").value
    assert value == pytest.approx(float(at.session_state["view"].trace[cell]), rel=1e-6)
    at.button("what-if-run").click().run()
    where, _, number = at.session_state["changes"].rpartition(":")
    assert where == cell and float(number) == pytest.approx(value, rel=1e-6)
    assert at.session_state["what-if-slid"] == ""


def test_who_types_and_presses_at_once_runs_what_was_typed():
    cell = f"{PROBS}[head=1,query=6,key=3]"
    at = opened(cell)
    at.number_input(f"what-if-number-{cell}").set_value(0.25)
    at.selectbox("what-if-scope").select("all of head 1")
    at.button("what-if-run").click().run()  # what was typed and the press, in one message
    assert at.session_state["changes"] == f"{PROBS}[head=1]:0.25"


def test_a_rule_of_a_head_closes_the_strip_as_it_would_say_what_was_before():
    at = opened(str(HEAD))
    at.button("what-if-rule-0").click().run()
    assert at.session_state["changes"] == f"{HEAD}:0" and at.session_state["what-if-slid"] == ""


def test_a_head_has_its_rules_and_a_token_no_slider():
    assert {"what-if-rule-0", "what-if-rule-1"} <= set(list_keys(opened(f"{PROBS}[head=1]")))
    assert "what-if-run" in list_keys(opened("input_ids[token=3]"))


@pytest.mark.parametrize(("box", "chosen", "slid"), [("head", 3, f"{PROBS}[head=3]"), ("layer", 4, OTHER)])
def test_another_head_is_chosen_in_the_strip(box, chosen, slid):
    at = opened(str(HEAD))
    at.selectbox(f"what-if-slid-{box}-{HEAD}").select(chosen).run()
    assert at.session_state["what-if-slid"] == slid and not at.exception


def test_only_a_whole_head_has_a_choice_of_others():
    assert any("what-if-slid-" in str(box.key) for box in opened(OTHER).selectbox)
    assert not any("what-if-slid-" in str(box.key) for box in opened(str(CELL)).selectbox)


@pytest.mark.parametrize(
    "cell", ["", "nonsense", "embeddings.word_embeddings.weight[vocab=1,hidden=2]", "embeddings.sum[token=99]"]
)
def test_where_there_is_nothing_to_change_the_strip_is_closed(cell):
    assert "what-if-run" not in list_keys(opened(cell))


@pytest.mark.parametrize(
    ("change", "step"), [("0", 0), ("scale=0", 0), ("scale=0.3", 3), ("uniform", STEPS), ("", STEPS)]
)
def test_the_slider_stands_at_first_where_a_change_put_it(monkeypatch, change, step):
    changes = read_changes(f"{HEAD}:{change}") if change else {}
    monkeypatch.setattr(strip, "read_asked", lambda: changes)
    assert strip._read_step(HEAD) == step
