"""What cells are called beside others: two tensors of a layer have two names."""

from collections import Counter

from bertviz_core.formula.address import Address
from bertviz_core.ui.frame.cell_names import name_leaf


def test_no_two_tensors_of_a_layer_have_one_name(rome):
    places = map(Address, {*rome.addresses, *rome.model.parameters})
    names = Counter((where.layer, name_leaf(where)) for where in places)
    assert [name for name, count in names.items() if count > 1] == []
    assert name_leaf(Address("encoder.layer.3.attention.output.dense")) == "attention.output.dense"
    assert name_leaf(Address("encoder.layer.3.output.dense")) == "output.dense"
    assert name_leaf(Address("encoder.layer.3.attention.self.query.weight")) == "query.weight"
