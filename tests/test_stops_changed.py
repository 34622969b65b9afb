"""The stops where a change decides: what no formula gives any more is not said to be given by one."""

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
