"""Where tokens stand in a tensor, and which steps treat each of them by itself: such texts can stand in one tensor."""

from __future__ import annotations

from functools import lru_cache

from bertviz_core.formula.dims import Dims
from bertviz_core.formula.document_nodes import Dropout
from bertviz_core.formula.functions import Softmax
from bertviz_core.formula.nodes import Expr
from bertviz_core.formula.steps import walk_nodes


def place_tokens(dims: Dims) -> list[int]:
    """The axes of tokens, as PyTorch counts them."""
    return [place for place, axis in enumerate(dims) if axis.of_tokens]


@lru_cache(4096)
def is_by_token(expr: Expr) -> bool:
    """Whether what an expression gives for a token is made of that token's numbers alone.

    What dropout keeps depends on how many tokens there are.
    """
    for node in walk_nodes(expr):
        own = len(place_tokens(node.dims()))
        inner = max((len(place_tokens(part.dims())) for part in node.parts), default=own)
        if own > 1 or own < inner or isinstance(node, Dropout) or (isinstance(node, Softmax) and node.along.of_tokens):
            return False
    return True
