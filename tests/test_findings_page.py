"""Findings on a page: its places stand there at once, and fill as more is known."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.sharing import findings
from bertviz_core.tracing.identity import name_pass
from bertviz_core.ui.frame import findings as page
from tests.settling import settle

APP = str(Path(__file__).parent.parent / "app.py")
LONG = 30  # seconds after which a test is stuck


def test_of_many_findings_under_way_each_is_looked_at_less_often(monkeypatch):
    """A page looks again within the time after which it would pass for gone, however many they are."""
    told = []
    monkeypatch.setattr(page, "_again", lambda **given: told.append(given["data"]["after"]))
    for count in (0, 1, 3, 200):
        monkeypatch.setattr(page.get_findings(), "count_open", lambda count=count: count)
        page.look_again("one")
    assert told[0] == told[1] < told[2] == 3 * told[1] < told[3] < 1000 * findings.WANTED_S / 2


def test_a_page_shows_the_places_at_once_and_later_what_was_found():
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update({"text": "a finding is not [MASK] for", "layer": "1", "head": "8"})
    at.run()
    at.switch_page("pages/heads.py").run()
    assert not at.exception and "zeroed in turn" in at.title[0].value
    assert settle(LONG)
    at.run()
    assert not at.exception and "falls from" in at.title[0].value


def test_a_finding_that_fails_is_told_in_its_place(monkeypatch):
    def fail(*_):
        raise bv.InputError("There is no room for this one.")
        yield

    monkeypatch.setattr("bertviz_core.ui.frame.needed.zero_heads", fail)
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update({"text": "a finding that [MASK]"})
    at.run()
    at.switch_page("pages/heads.py").run()
    assert settle(LONG)
    at.run()
    assert not at.exception and any("no room for this one" in caption.value for caption in at.caption)


def test_a_finding_is_of_one_pass_alone(bundled):
    """Two sentences, and the same typed as one, have the same ids."""
    text, cell = "The cat sat.", "encoder.layer.0.attention.self.probs[head=0]"

    def make_passes():
        usual = bv.run(bundled, text)
        joined, pair = bv.run(bundled, f"{text} [SEP] It slept."), bv.run(bundled, text, "It slept.")
        assert joined.encoding.ids == pair.encoding.ids
        others = (
            bv.run(bundled, text, masked=[2]),
            bv.run(bundled, text, pad_to=9),
            bv.run(bundled, text, program="notebook"),
        )
        return [usual, joined, pair, *others, *(usual.with_changes({cell: value}) for value in (0.0, 0.5))]

    names, again = ([name_pass(each) for each in make_passes()] for _ in range(2))
    assert len(set(names)) == len(names)
    assert names == again
