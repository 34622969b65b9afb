"""Learned positions beside sinusoidal ones: both tables, and how near positions are to each other in both."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from bertviz_core.analysis import positions
from bertviz_core.analysis.layers import compute_cosines
from bertviz_core.analysis.ranking import center_range, find_robust_limit
from bertviz_core.figures.base import Chart
from bertviz_core.figures.heatmap import CLEAR, Side, draw_heatmap
from bertviz_core.figures.positions import draw_nearness
from bertviz_core.formula.address import Address
from bertviz_core.formula.document_nodes import BASE
from bertviz_core.formula.numbers import format_latex, format_number, format_short
from bertviz_core.formula.steps import EMBEDDING
from bertviz_core.tracing.readonly import lock
from bertviz_core.ui.frame import style
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived
from bertviz_core.ui.panels.worked import write_cosine

_ROWS, _COLUMNS = 40, 96  # drawn of each table
_COMPARED = 512  # positions, or as many as the input has
_SIDE = 48  # of the maps of cosines
_SIMILAR = 0.5  # the mean cosine above which neighbours are called similar
_ARTICLE = "encoder article (004), after Vaswani et al. 2017, sec. 3.5"
_COSINE = r"\cos(p, q) = \frac{p \cdot q}{\lVert p \rVert\, \lVert q \rVert}"
_SINUSOIDAL = r"""\begin{aligned} PE_{(pos,\,2i)} &= \sin\!\left(\frac{pos}{10000^{2i/d}}\right) \\[6pt]
PE_{(pos,\,2i+1)} &= \cos\!\left(\frac{pos}{10000^{2i/d}}\right) \end{aligned}"""


def show_tables(view: View) -> None:
    """The rows around the chosen position: as BERT learned them, and as the formula gives them."""
    learned = _read_learned(view)
    _show_learned(view, learned)
    _show_sinusoidal(view, positions.compute_sinusoids(*learned.shape))


def _read_learned(view: View) -> np.ndarray:
    return view.trace[positions.LEARNED][: max(_COMPARED, *(row + 1 for row in view.trace.encoding.positions))]


def _read_row(view: View) -> int:
    """The row that the chosen token has: its position, unless a change gives it that of another."""
    return view.trace.encoding.positions[view.chosen.token]


@derived
def _show_learned(view: View, table: np.ndarray) -> Derived:
    where, row = Address("embeddings.position_embeddings"), _read_row(view)
    strongest, own = int(np.abs(table[row]).argmax()), where.fix(token=view.chosen.token)
    return Derived(
        "positions-learned",
        "BERT's position embeddings: learned, one row per position",
        _draw_map(view, table).offer(picks.pick_matrix(view.trace, positions.LEARNED)),
        Origin(
            positions.LEARNED,
            EMBEDDING,
            view.trace.step(where).typeset(style.make_painter(view.colors)),
            f"Position {row} is row {row} of a learned table, a parameter of the model. There are "
            f"{view.trace.model.config.max_position_embeddings} rows, so no input can have more tokens.",
            view.trace.explain(own.fix(hidden=strongest)).latex,
        ),
        values=_make_values(table),
        note=_note_drawn(view, table),
        start=positions.LEARNED.fix(position=row, hidden=strongest),
    )


@derived
def _show_sinusoidal(view: View, table: np.ndarray) -> Derived:
    hidden, row = table.shape[1], _read_row(view)
    component = min(10, (hidden - 1) // 2 * 2)
    angle = row / BASE ** (component / hidden)
    last = min(_COLUMNS, hidden) - 1
    return Derived(
        "positions-sinusoidal",
        "The encoder article's sinusoidal positions: computed, not learned",
        _draw_map(view, table, 1.0),
        Origin(
            f"position and component alone, d = {hidden}",
            EMBEDDING,
            _SINUSOIDAL,
            f"Each pair of columns is a sine and a cosine. Component 0 repeats every "
            f"{format_short(positions.compute_wavelength(0, hidden))} positions, component {last} every "
            f"{positions.compute_wavelength(last, hidden):,.0f}. BERT does not use this table.",
            rf"PE_{{({row},\,{component})}} = \sin\!\left(\frac{{{row}}}{{10000^{{{component}/{hidden}}}}}"
            rf"\right) = \sin({format_latex(angle)}) = {format_latex(float(table[row, component]))}",
            _ARTICLE,
        ),
        values=_make_values(table),
        note=_note_drawn(view, table),
    )


def show_resemblance(view: View) -> None:
    """How near positions are to each other: the chosen one to all, then all to all, in both tables."""
    learned = _read_learned(view)
    found = {"learned": compute_cosines(learned), "sinusoidal": _compute_cosines(*learned.shape)}
    _show_one_to_all(view, learned, found)
    near, far = _average_ends(found["learned"])
    for name, see, meaning in (
        (
            "learned",
            "BERT's position embeddings: the cosine of every pair",
            "Positions that are close in the sentence have similar vectors. Training produced this, no formula did."
            if near > max(far, _SIMILAR)
            else "In this table, positions that are close in the sentence have no similar vectors.",
        ),
        (
            "sinusoidal",
            "Sinusoidal positions: the cosine of every pair",
            "The cosine depends only on the distance, so every diagonal has one colour. This follows from the formula.",
        ),
    ):
        _show_all_to_all(view, name, see, meaning, found[name])


def _average_ends(matrix: np.ndarray) -> tuple[float, float]:
    """The mean cosine of direct neighbours, and of positions far apart."""
    far = _find_far(matrix)
    return positions.average_at_distance(matrix, min(1, far)), positions.average_at_distance(matrix, far)


def _find_far(matrix: np.ndarray) -> int:
    return min(64, len(matrix) - 1)


@derived
def _show_all_to_all(view: View, name: str, see: str, meaning: str, matrix: np.ndarray) -> Derived:
    near, far = _average_ends(matrix)
    return Derived(
        f"positions-{name}-cosines",
        see,
        _draw_all_to_all(view, matrix),
        Origin(positions.LEARNED if name == "learned" else "the computed table", EMBEDDING, _COSINE, meaning),
        values=_make_values(matrix, "position"),
        note=f"Mean cosine of direct neighbours: {format_number(near)}; of positions {_find_far(matrix)} apart: "
        f"{format_number(far)}.{_thin_out(matrix)}",
    )


@lru_cache(maxsize=2)
def _compute_cosines(count: int, hidden: int) -> np.ndarray:
    """The same for every sentence and model of these sizes."""
    return lock(compute_cosines(positions.compute_sinusoids(count, hidden)))


@derived
def _show_one_to_all(view: View, learned: np.ndarray, found: dict[str, np.ndarray]) -> Derived:
    row = _read_row(view)
    other = row + 1 if row + 1 < len(learned) else max(row - 1, 0)
    rows = {name: matrix[row] for name, matrix in found.items()}
    return Derived(
        "position-nearness",
        f"Cosine of position {row} with every other position",
        draw_nearness(rows, row, view.colors, view.colors.kinds[EMBEDDING]),
        Origin(
            positions.LEARNED,
            EMBEDDING,
            _COSINE,
            "The cosine between two rows of a table: 1 where the vectors have the same direction.",
            write_cosine(learned[row], learned[other], f"p_{{{row}}}, p_{{{other}}}"),
        ),
        values=Values(np.stack(list(rows.values())), list(rows), [f"position {i}" for i in range(len(learned))]),
        note="Solid: BERT's learned positions. Dashed: the sinusoidal ones. The dotted line marks the position itself.",
    )


def _draw_map(view: View, table: np.ndarray, end: float | None = None) -> Chart:
    """The part of a table around the chosen position."""
    rows, width = center_range(_read_row(view), _ROWS, len(table)), min(_COLUMNS, table.shape[1])
    part = table[rows.start : rows.stop, :width]
    return draw_heatmap(
        part,
        Side("position", None, rows.start),
        Side("hidden", standoff=CLEAR),
        view.colors,
        EMBEDDING,
        end=end or find_robust_limit(part),
        selected=_read_row(view),
        name_inside=True,
    )


def _note_drawn(view: View, table: np.ndarray) -> str:
    rows, width = center_range(_read_row(view), _ROWS, len(table)), min(_COLUMNS, table.shape[1])
    return (
        f"Rows are positions, columns are components. Shown: position {rows.start}–{rows.stop - 1} of {len(table)}, "
        f"component 0–{width - 1} of {table.shape[1]}. The download has all values."
    )


def _draw_all_to_all(view: View, matrix: np.ndarray) -> Chart:
    """A map of cosines, thinned out to every few positions."""
    step = _choose_step(matrix)
    sides = Side("position", step=step), Side("other position", step=step, standoff=CLEAR)
    return draw_heatmap(
        matrix[::step, ::step], *sides, view.colors, EMBEDDING, end=1.0, gaps=False, name_inside=True, height=460
    )


def _thin_out(matrix: np.ndarray) -> str:
    step = _choose_step(matrix)
    return f" Shown: one position in {step}. The download has all values." if step > 1 else ""


def _choose_step(matrix: np.ndarray) -> int:
    return -(-len(matrix) // _SIDE)


def _make_values(matrix: np.ndarray, columns: str = "hidden") -> Values:
    return Values(
        matrix, [f"position {i}" for i in range(len(matrix))], [f"{columns} {i}" for i in range(matrix.shape[1])]
    )
