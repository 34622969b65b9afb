"""The second pass of the URL: of another sentence or model, with changes or noise; and what is taken from it."""

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.ui.frame import shell, state
from bertviz_core.ui.frame.keys import AGAINST, PAIRS, WITH
from bertviz_core.ui.frame.second import get_second, tell_refused
from bertviz_core.ui.frame.site import get_page
from tests.factory import random_checkpoint

APP = str(Path(__file__).parents[1] / "app.py")
DOCTOR, NURSE = (f"The {who} said that [MASK] was late." for who in ("doctor", "nurse"))
LONGER = "The old nurse said that [MASK] was late."
LAST = "encoder.layer.5.output.LayerNorm"
PROBS = "cls.predictions.probs[token=5]"
WORD = "embeddings.LayerNorm[token=2]"


@pytest.fixture(scope="module")
def model():
    return bv.load_model()


def opened(**query):
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update({"text": NURSE, **query})
    at.switch_page("pages/predictions.py").run()
    assert not at.exception and not at.error
    return at


def second_of(at, **how):
    """What the page's session has for its second pass, and why there is none."""
    view = at.session_state["view"]
    says = {key.name: at.session_state[key.name] for key in (WITH, PAIRS, AGAINST)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state, "read", lambda key: says[key.name])
        return get_second(view, **how), tell_refused(view)


def taken(source, target, address):
    """The pass with a token's vectors as another has them, put in as plain numbers."""
    return target.with_changes({address: source[address]})


def test_a_change_takes_its_numbers_from_the_sentence_of_the_link(model):
    at = opened(**{"with": DOCTOR, "changes": f"{WORD}:from"})
    after = at.session_state["view"].outcome.after
    expected = taken(bv.run(model, DOCTOR), bv.run(model, NURSE), WORD)
    np.testing.assert_array_equal(after[PROBS], expected[PROBS])
    assert not np.array_equal(after[PROBS], bv.run(model, NURSE)[PROBS]) and not at.warning
    assert "other pass" in at.button(key="undo-0").label


def test_without_another_pass_it_takes_them_from_the_pass_without_changes(model):
    noise = f"{WORD}:noise=7"
    at = opened(changes=f"{noise}~{LAST}[token=5]:from")
    view = at.session_state["view"]
    plain, noised = bv.run(model, NURSE), bv.run(model, NURSE, changes={WORD: "noise=7"})
    np.testing.assert_array_equal(view.outcome.after[PROBS], plain[PROBS])  # all of what the words are read from
    assert not np.array_equal(noised[PROBS], plain[PROBS])


def test_only_tokens_that_match_are_taken_and_a_hand_can_match_others(model):
    whole = "encoder.layer.0.output.LayerNorm"
    source, target = bv.run(model, LONGER), bv.run(model, NURSE)
    for pairs, there in (("", [0, 1, *range(3, 11)]), ("2-2.5-6", None)):
        at = opened(**{"with": LONGER, "changes": f"{whole}:from", "pairs": pairs})
        numbers = target[whole].copy()
        here, other = ([2, 5], [2, 6]) if pairs else (range(10), there)
        numbers[list(here)] = source[whole][list(other)]
        expected = target.with_changes({whole: numbers})
        np.testing.assert_array_equal(at.session_state["view"].outcome.after[PROBS], expected[PROBS])


def test_the_second_pass_can_have_changes_of_its_own(model):
    at = opened(**{"with": f"changes:{WORD}:noise=3"})
    second, refused = second_of(at)
    expected = bv.run(model, NURSE, changes={WORD: "noise=3"})
    np.testing.assert_array_equal(second.trace[PROBS], expected[PROBS])
    assert second.pairs == tuple((i, i) for i in range(10)) and "seed 3" in second.said and not refused


def test_equal_pieces_are_matched_or_all_places_where_there_are_as_many():
    at = opened(**{"with": DOCTOR})
    assert second_of(at)[0].pairs == tuple((i, i) for i in range(10) if i != 2)
    assert second_of(at, by_place=True)[0].pairs == tuple((i, i) for i in range(10))
    at = opened(**{"with": DOCTOR, "pairs": "0-0.99-1"})
    second, _ = second_of(at, by_place=True)
    assert len(second.pairs) == 10 and "Match the tokens again" in second.wrong.replace("\\", "")


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("word " * 600, "at most 512"),
        ("changes:encoder.layer.9.output.LayerNorm:0", "encoder.layer.9"),
        ("changes:embeddings.LayerNorm:noise=many", "takes a seed"),
        (f"changes:{LAST}:from", "there is none"),
        ("changes:pad=300", "pad=300 cannot be changed in it."),
    ],
)
def test_what_cannot_be_run_is_said_and_the_page_stays_usable(asked, why):
    at = opened(**{"with": asked, "changes": f"{LAST}:from"})
    second, refused = second_of(at)
    assert second is None and why in refused.replace("\\", "")
    assert not at.session_state["view"].outcome.changed
    assert any("Choose what to compare with first" in warning.value for warning in at.warning)


def test_a_model_of_other_sizes_gives_no_numbers(tmp_path):
    other = str(random_checkpoint(tmp_path / "other"))
    at = opened(against=other, changes=f"{LAST}:from")
    told = " ".join(each.value for each in at.warning).replace("\\", "")
    assert not at.session_state["view"].outcome.changed and "other pass" in told


def test_a_long_second_sentence_makes_a_page_of_two_passes_costly(monkeypatch):
    view = opened().session_state["view"]
    for name in ("are_many_open", "is_step_costly"):
        monkeypatch.setattr(shell, name, lambda: False)
    # The last but one is refused, the last is this sentence's own pass.
    for asked, costly in {
        "": False,
        DOCTOR: False,
        "word " * 300: True,
        "word " * 600: False,
        "changes:": False,
    }.items():
        monkeypatch.setattr(state, "read", lambda key, asked=asked: asked)
        assert shell._is_costly(get_page("compare"), view) == costly, asked[:20]
        assert not shell._is_costly(get_page("attention"), view)
