"""A list of changes is laid out once, and each change of it checked once."""

import numpy as np

from bertviz_core.tracing import changes as what_if
from bertviz_core.tracing import planning


def test_of_a_long_list_with_a_fault_each_change_is_checked_once(monkeypatch, rome):
    """A list is checked in each run of a page, before anything else: the work must not grow with its square."""
    drawn = []
    make = planning.make_overrides
    monkeypatch.setattr(planning, "make_overrides", lambda *given: drawn.append(given[2]) or make(*given))
    line = "~".join(f"embeddings.sum[hidden={i}]:noise={i}" for i in range(99))
    asked = what_if.read_changes(f"{line}~embeddings.sum[hidden=0,token=9999]:noise=1")
    good, wrong = planning.check_changes(rome.layout, rome.encoding, asked)
    assert len(good) == 99 and len(wrong) == 1 and len(drawn) <= 100
    assert np.isfinite(rome.with_changes(good)["cls.predictions.probs"]).all()


def test_inputs_are_changed_first_also_where_a_list_names_them_last(rome):
    asked = what_if.read_changes("encoder.layer.0.attention.self.probs:uniform~attention_mask[token=1]:0~nothing:1")
    good, wrong = planning.check_changes(rome.layout, rome.encoding, asked)
    assert [str(where) for where in good] == ["encoder.layer.0.attention.self.probs", "attention_mask[token=1]"]
    assert [str(where) for where in wrong] == ["nothing"]
    assert not rome.with_changes(good)["encoder.layer.0.attention.self.probs"][:, :, 1].any()
