"""What whoever runs the app may set: amounts of memory."""

import pytest

import bertviz_core as bv
from bertviz_core.checkpoint.environment import read_bytes
from bertviz_core.ui.frame import resources


@pytest.mark.parametrize(("given", "expected"), [(None, 3_000_000_000), ("", 3_000_000_000), (" 0.5 ", 500_000_000)])
def test_an_amount_is_read_in_its_unit(monkeypatch, given, expected):
    monkeypatch.delenv("SOME_GB", raising=False)
    if given is not None:
        monkeypatch.setenv("SOME_GB", given)
    assert read_bytes("SOME_GB", 3) == expected
    assert read_bytes("OTHER_MB", 2) == 2_000_000


@pytest.mark.parametrize("given", ["many", "0", "-1", "nan", "inf", "1e30"])
def test_what_is_no_amount_is_refused_in_words(monkeypatch, given):
    monkeypatch.setenv("SOME_MB", given)
    with pytest.raises(
        bv.InputError, match=f"SOME_MB is '{given}', but takes a positive number of megabytes, such as 2"
    ):
        read_bytes("SOME_MB", 2)


def test_what_is_kept_for_all_sessions_is_bounded_by_the_setting(monkeypatch):
    monkeypatch.setenv("BERTVIZ_CACHE_MB", "16")
    store, drawn = resources.get_store.__wrapped__(), resources.get_drawn.__wrapped__()
    model, held = bv.load_model(), []
    for number in range(120):
        trace = store.get(model, f"This is the sentence with the number {number}.")
        trace["encoder.layer.0.intermediate.activation"], trace["encoder.layer.0.attention.self.probs"]
        held.append(store.nbytes)
        drawn.put((number,), number, 100_000)
    assert max(held) <= 15_000_000 and held[-1] > 12_000_000
    assert drawn.nbytes <= 1_000_000
