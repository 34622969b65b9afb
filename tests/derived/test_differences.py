"""What derived panels show of a change: the pass before, the pass after, and the difference of both, by NumPy."""

import numpy as np
import pytest

from bertviz_core.ui.frame.site import PAGES
from tests.derived import (  # noqa: F401 - they register
    answers,
    articles,
    attention,
    checkpoint,
    embeddings,
    heads,
    neurons,
    playground,
    stages,
    vectors,
    weights,
    words,
)
from tests.derived.attention import Blocked
from tests.derived.reading import open_pages
from tests.derived.truth import ELSEWHERE, Bars, Map, Points, Rows, Scene, best, find_truth
from tests.factory import VOCABULARY, random_checkpoint

pytestmark = pytest.mark.xdist_group("derived: differences")
ASKED = {
    "text": "the cat sat on the [MASK]",
    "layer": "1",
    "head": "2",
    "token": "5",
    "key_token": "3",
    "statistic": "distance",
    "vectors": "sum",
}
CHANGES = "input_ids[token=2]:64"  # which the model that all is calculated with reads as well
COMPARING = [info.name for info in PAGES if not info.unchanged and not info.of_two]  # those show both passes anyway
SUBTRACTED = {  # at least these have one number a place, the same place in both passes
    ("layers", "norms"), ("layers", "turns"), ("layers", "cosines"), ("layers", "resemblance"), ("layers", "rollout"),
    ("layers", "lens-everywhere"), ("layers", "rollout-token"), ("heads", "head-statistic"),
    ("attention", "query-key-cosines"), ("query_key_value", "split-query"),
    ("query_key_value", "blocks"), ("query_key_value", "one-number"), ("add_norm", "strips"),
    ("add_norm", "direct-path"), ("attention_output", "brought"), ("attention_output", "merged"),
    ("sentence", "one-vector"),
}  # fmt: skip
GUIDED = NEURONS, LENS = ("feed_forward", "neuron-parts"), ("layers", "lens")  # draw in both what leads after changes
BOTH = {  # rankings, histograms, coordinates of each pass's own
    ("layers", "paths-2"), ("layers", "paths-3"), ("attention", "dot-product"), ("attention", "softmax"),
    ("feed_forward", "functions"), ("predictions", "score-terms"),
    ("predictions", "scores-of-all"), ("predictions", "softmax-stack"), ("add_norm", "triangle"),
}  # fmt: skip


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Every page that follows the changes, as each of the three faces shows it."""
    with pytest.MonkeyPatch.context() as patch:
        folder = random_checkpoint(tmp_path_factory.mktemp("differences"), seed=6, vocab_size=len(VOCABULARY))
        patch.setenv("BERTVIZ_MODELS", str(folder))
        yield {
            show: Scene(open_pages({**ASKED, "changes": CHANGES, "show": show}, COMPARING), ASKED)
            for show in ("Before", "After", "Difference")
        }


def is_derived(scene, place):
    """Whether a panel is of a pass, and its numbers worked out. The ranks' curve draws both itself; the explanation of
    one number says both."""
    name = place[1]
    own = name in ("rank-curve", "parameter-areas") or name.startswith("operands-")
    return name.partition("[")[0] not in scene.trace and not own


def find_both(shown, place):
    """What a panel should draw before the changes and after them, or nothing where it draws no derived numbers."""
    if place[1].endswith("-before") or place in GUIDED or not is_derived(shown["Difference"], place):
        return None
    found = [find_truth(shown[show], *place) for show in ("Before", "After")]
    return [truth.drawn for truth in found] if all(truth and truth.drawn for truth in found) else None


def subtract(before, after):
    """After minus before, or None where the two do not draw the same places."""
    if isinstance(after, Map):
        return Map(after.matrix - before.matrix) if after.matrix.shape == before.matrix.shape else None
    if isinstance(after, Blocked):
        return list(Blocked(after.blocks - before.blocks).pick())
    if isinstance(after, Rows | Bars):
        old, new = (each.rows if isinstance(each, Rows) else each.bars for each in (before, after))
        bare = ((one.split()[-1], other.split()[-1]) for one, other in zip(old, new, strict=True))  # with no position
        renamed = [pair for pair in bare if pair[0] != pair[1]]
        assert len(renamed) <= 1, renamed  # the token that is another
        return [value - other for value, other in zip(new.values(), old.values(), strict=True)]
    assert isinstance(after, Points), after
    side = "y" if "y" in after.sides else "x"
    return np.asarray(after.sides[side], dtype=float) - np.asarray(before.sides[side], dtype=float)


def check_difference(panel, part, before, after, why):
    expected = subtract(before, after)
    assert expected is not None, why
    if isinstance(expected, Map):
        rows, columns = (slice(int(part.get(f"{side}0", 0)), None, int(part.get(f"d{side}", 1))) for side in "yx")
        drawn = part["z"]
        expected = expected.matrix[rows, columns][: drawn.shape[0], : drawn.shape[1]]
    else:
        lying = isinstance(after, Bars) or (isinstance(after, Points) and "y" not in after.sides)
        drawn = part["z"] if "z" in part else part["x" if lying else "y"]
    np.testing.assert_allclose(drawn, np.array(expected), rtol=0, atol=2e-5, err_msg=str(why))
    if "z" in part:
        assert part["zmin"] == -part["zmax"] and part["zmax"] >= np.nanmax(np.abs(drawn)) * (1 - 1e-6), why


def list_drawn(shown):
    """By page and name: the chart of the difference, and what both passes should draw."""
    panels = shown["Difference"].shown.panels
    for place, panel in panels.items():
        both = find_both(shown, place)
        if both and panel.figure:
            yield place, panel, *both


def test_one_number_a_place_is_subtracted(shown):
    panels, found = shown["Difference"].shown.panels, set()
    for place, panel, before, after in list_drawn(shown):
        page, name = place
        if (page, f"{name}-before") in panels:
            continue
        told = " ".join(text for each in panels.values() if each.title == panel.title for text in each.texts)
        assert len(panel.traces) == len(after), place
        if "After − before" not in told:
            assert " not reach " in told, place
            for part, expected in zip(panel.traces, after, strict=True):
                if expected is not ELSEWHERE:
                    expected.check(panel, part, place)
            continue
        for i, parts in enumerate(zip(panel.traces, before, after, strict=True)):
            if parts[2] is not ELSEWHERE:
                check_difference(panel, *parts, (place, i))
        found.add(place)
    assert found >= SUBTRACTED, SUBTRACTED - found
    assert not found & BOTH, found & BOTH


def test_what_has_no_difference_is_drawn_before_and_after(shown):
    panels, found = shown["Difference"].shown.panels, set()
    for (page, name), panel, before, after in list_drawn(shown):
        earlier = panels.get((page, f"{name}-before"))
        if earlier is None:
            continue
        for each, expected in ((earlier, before), (panel, after)):
            assert len(each.traces) == len(expected), (page, name)
            for part, truth in zip(each.traces, expected, strict=True):
                if truth is not ELSEWHERE:
                    truth.check(each, part, (page, name))
        assert all("meta" not in part for part in earlier.traces), (page, name)
        found.add((page, name))
    assert found >= BOTH, BOTH - found


def test_the_neurons_that_are_strongest_after_are_drawn_of_both(shown):
    drawn = shown["Difference"].shown.find(*NEURONS)
    outcome = shown["Difference"].shown.view.outcome
    path, token = "encoder.layer.1", int(ASKED["token"])
    before, after = (
        {name: np.asarray(trace[f"{path}.{name}"], dtype=float) for name in ("intermediate.activation", "output.dense")}
        for trace in (outcome.before, outcome.after)
    )
    first = int(drawn.labels[0].removeprefix("neuron "))
    row = np.asarray(outcome.after[f"{path}.output.dense.weight"], dtype=float)[first]
    apart = (after["intermediate.activation"] - before["intermediate.activation"])[token, first] * row
    np.testing.assert_allclose(drawn.traces[0]["z"][0], apart, atol=2e-5)
    whole = (after["output.dense"] - before["output.dense"])[token]
    np.testing.assert_allclose(drawn.traces[0]["z"][-1], whole, atol=2e-5)


def test_the_words_that_lead_after_are_read_in_both(shown):
    before, after = (stages.read_lens(shown[show], int(ASKED["token"])) for show in ("Before", "After"))
    drawn = shown["Difference"].shown.find(*LENS)
    ids = [int(part["name"].rpartition(" ")[2]) for part in drawn.traces]
    assert ids == best(after[-1], 3)
    for part, word in zip(drawn.traces, ids, strict=True):
        np.testing.assert_allclose(part["y"], (after - before)[:, word], atol=2e-6)


@pytest.mark.parametrize("show", ["Before", "After"])
def test_a_single_pass_is_drawn_as_it_is(shown, show):
    count = 0
    for place, panel in shown[show].shown.panels.items():
        truth = find_truth(shown[show], *place) if is_derived(shown[show], place) else None
        if truth is None or not panel.figure or not truth.drawn:
            continue
        own = [trace for trace in panel.traces if trace.get("name") != "before"]  # which is drawn beside what is
        for part, expected in zip(own, truth.drawn, strict=True):
            if expected is not ELSEWHERE:
                expected.check(panel, part, place)
        count += 1
    assert count >= 30
    one, other = (shown[each].shown.find("layers", "norms").traces[0]["z"] for each in ("Before", "After"))
    assert np.abs(one - other).max() > 1e-4


def test_tables_stand_before_and_after(shown):
    found = shown["Difference"].shown.find("heads", "Layer 1, head by head").tables
    single = [shown[show].shown.find("heads", "Layer 1, head by head").tables[0] for show in ("Before", "After")]
    assert [table.columns for table in found] == [table.columns for table in single]
    assert single[0].columns != single[1].columns


@pytest.mark.parametrize(
    ("page", "title"), [("heads", "All "), ("heads", "Which token attends to which"),
                        ("attention", "Attention weights")]
)  # fmt: skip
def test_what_is_drawn_after_only_says_so(shown, page, title):
    for show in ("Before", "After", "Difference"):
        panels = [panel for panel in shown[show].shown.panels.values() if panel.page == page]
        texts = [text for panel in panels if panel.title.startswith(title) for text in panel.texts]
        assert any("Drawn of the pass after" in text for text in texts) == (show == "Difference"), texts
