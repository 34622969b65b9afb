"""What whoever runs the app may set: amounts of memory."""

import pytest

import bertviz_core as bv
from bertviz_core.sharing.environment import read_bytes


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
