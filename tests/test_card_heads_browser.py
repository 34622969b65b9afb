"""The head of a card in which something is chosen: title, choice, signs, in this order and in one line."""

from itertools import pairwise

import pytest

from bertviz_core.ui.components.selectors import expand
from tests.often import seldom

pytestmark = pytest.mark.slow

# Of each head with a choice: left and right ends of its title, choice and signs, in the order of the screen.
PARTS = expand("""() => {
    const heads = document.querySelectorAll('[class*="st-key-card-head-chooses-"]');
    const order = ['.bv-said', ':--selectbox, :--button-group', '.bv-icons', ':--popover'];
    const measure = e => (({left, right}) => [left, right])(e.getBoundingClientRect());
    return [...heads].map(head => order.flatMap(select => [...head.querySelectorAll(select)].map(measure)));
}""")


@pytest.mark.parametrize("page", [seldom("add_norm"), seldom("embeddings"), "story"])
def test_a_choice_stands_between_the_title_and_the_signs(app, page):
    app.open(page)
    heads = app.page.evaluate(PARTS)
    assert heads
    for parts in heads:
        assert all(one[1] <= other[0] + 1 for one, other in pairwise(parts)), parts
        assert parts[0][1] - parts[0][0] > 60 and parts[-1][0] - parts[2][1] < 60
