"""The stops where a change decides: what no formula gives any more is not said to be given by one."""

import re

import pytest

from tests.canvas import draw, look, say

CHANGED = [
    ({"encoder.layer.2.attention.self.scores[head=0]": 2.0}, "compare", "but a change makes the score 2.00"),
    ({"encoder.layer.2.attention.self.probs[head=0]": 0.0}, "divide up", "A change decides these shares"),
    ({"embeddings.sum[token=8]": 3.0}, "look up", "but a change puts 3.0"),
    ({"encoder.layer.2.attention.output.residual[token=8]": 1.0}, "add & normalize", "but a change makes it 1.00"),
]


@pytest.mark.parametrize(("changes", "name", "said"), CHANGED)
def test_where_a_change_breaks_a_sum_the_sentence_says_so(rome, changes, name, said):
    view = look(rome, rome.with_changes(changes), head=(2, 0))
    told = {stop["name"]: say(stop) for stop in draw(view)["stops"]}
    assert said in told[name]
    assert sum("change" in sentence for sentence in told.values()) == 1
    unchanged = {stop["name"]: say(stop) for stop in draw(look(rome, head=(2, 0)))["stops"]}
    assert not any("change" in sentence for sentence in unchanged.values())


@pytest.mark.parametrize("changes", [{}, {"encoder.layer.2.attention.self.probs[head=0,query=8,key=5]": 0.9}])
def test_a_share_is_one_of_the_attention_of_who_looks(rome, changes):
    """It stands in the row of that token, also where a change puts it there."""
    after = rome.with_changes(changes)
    told = {stop["name"]: say(stop) for stop in draw(look(rome, after, head=(2, 0)))["stops"]}["divide up"]
    assert told.startswith("A change decides these shares: ") == bool(changes)
    looked, share, looks = re.search(
        r"“([^”]+)”(?: at position \d+)? gets (\S+)\s% of the attention of “([^”]+)”", told
    ).groups()
    assert looks == "[MASK]"
    row = after["encoder.layer.2.attention.self.probs[head=0,query=8]"]
    shares = [f"{100 * weight:.2g}" for token, weight in zip(after.tokens, row, strict=True) if token == looked]
    assert share in shares and looked != looks
