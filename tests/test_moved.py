"""What a panel says of how far its tensor moved: every arrow from the pass before to the one after."""

import re

import numpy as np
import pytest

from bertviz_core.formula.address import Address, read_address
from bertviz_core.formula.numbers import format_number
from bertviz_core.formula.texts import name_token
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.panels import moved
from tests.canvas import look

ARROW = re.compile(r"(\S+) → (\S+?)\.(?= |$)")


def write(before, after):
    return tuple(map(format_number, (before, after)))


@pytest.mark.parametrize("start", ["output.dense[token=8,hidden=3]", "output.dense[token=0,hidden=100]"])
def test_arrows_lead_from_before_to_after(rome, monkeypatch, start):
    said = []
    monkeypatch.setattr(moved.st, "caption", said.append)
    changed = rome.with_changes({"encoder.layer.2.attention.self.probs[head=0]": 0.0})
    tensor, cell = Address("encoder.layer.2.output.dense"), read_address(f"encoder.layer.2.{start}")
    moved.show_moved(look(rome, changed), tensor, cell)
    before, after = (trace[tensor].astype(np.float64) for trace in (rome, changed))
    most = np.unravel_index(np.abs(after - before).argmax(), before.shape)
    own, largest = ARROW.findall(said[0])
    largest_cell = tensor.fix(token=int(most[0]), hidden=int(most[1]))
    own_name, largest_name = (
        escape_markdown(f"{name_token(changed.tokens, where.at['token'])}, component {where.at['hidden']}")
        for where in (cell, largest_cell)
    )
    assert said[0].startswith(f"**What if:** {own_name}") and f" Most changes {largest_name}: " in said[0]
    assert own == write(float(rome[cell]), float(changed[cell]))
    assert largest == write(float(before[most]), float(after[most]))
    moves = abs(float(changed[cell]) - float(rome[cell]))
    small = moves < 0.05 * np.abs(after - before).max() and moves < 0.05 * abs(float(rome[cell]))
    assert (" hardly changes, " in said[0]) == small


@pytest.mark.parametrize(("query", "key", "said"), [
    (8, 10, "“[MASK]” to “.”: 18 % → 19 %. Most changes “"),
    (0, 3, "“[CLS]” to “rome” hardly changes, 1.0 % → 1.1 %. Most changes “"),
    (5, 10, "“do” at position 5 to “.”: 13 % → 18 %. No other changes more."),
])  # fmt: skip
def test_a_weight_is_told_in_percent_between_words(rome, monkeypatch, query, key, said):
    heard = []
    monkeypatch.setattr(moved.st, "caption", heard.append)
    changed = rome.with_changes({"encoder.layer.1.attention.self.probs[head=0]": 0.0})
    panel = Address("encoder.layer.2.attention.self.probs").fix(head=3)
    moved.show_moved(look(rome, changed), panel, panel.fix(query=query, key=key))
    assert heard[0].replace("\N{NO-BREAK SPACE}", " ").replace("\\", "").startswith(f"**What if:** {said}")


def test_a_number_that_is_lost_does_not_hardly_change(rome, monkeypatch):
    """However small it was beside others of its tensor that are lost as well."""
    heard = []
    monkeypatch.setattr(moved.st, "caption", heard.append)
    changed = rome.with_changes({"encoder.layer.2.attention.self.probs[head=0]": 0.0})
    panel = Address("encoder.layer.2.attention.self.context")
    row = np.abs(rome[panel.fix(token=8)][:32])
    i = int(row.argmin())
    assert 0 < row[i] < 0.05 * np.abs(rome[panel][:, :32]).max()
    moved.show_moved(look(rome, changed), panel, panel.fix(token=8, concat=i))
    assert " → 0. Most changes " in heard[0] and "hardly" not in heard[0]
