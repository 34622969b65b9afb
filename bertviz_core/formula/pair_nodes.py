"""The node that pairs every number of one tensor with every number of another."""

from __future__ import annotations

from bertviz_core.errors import DimsError
from bertviz_core.formula.dims import Dims, list_names
from bertviz_core.formula.nodes import ATOM, PRODUCT, Add, Paint, paint_plain
from bertviz_core.formula.tex import ONES, bracket


class PairSum(Add):
    """Every number of a vector plus every number of another one: (i,) and (j,) become (i, j)."""

    def dims(self) -> Dims:
        left, right = self.left.dims(), self.right.dims()
        if len(left) != 1 or len(right) != 1 or left == right:
            raise DimsError(
                f"cannot pair the axes {list_names(left)} with {list_names(right)}: each side must have one of its own"
            )
        return (*left, *right)

    def latex(self, paint: Paint = paint_plain) -> str:
        left = bracket(self.left.latex(paint), self.left.tex_level, PRODUCT)
        right = bracket(self.right.latex(paint), self.right.tex_level, ATOM)
        return rf"{left}\, {ONES}^{{\top}} + {ONES}\, {{{right}}}^{{\top}}"
