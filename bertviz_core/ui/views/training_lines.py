"""Document 002's training algorithm, line by line, each with the numbers of the step that it has just made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bertviz_core.checkpoint.model import Model
from bertviz_core.documents.definition import DEFINITION
from bertviz_core.formula.markup import write_html
from bertviz_core.learning.plan import Plan
from bertviz_core.programs.training import write_loss

_SEEN, _TEXT, _WORD = (
    f'<span class="bv-together">{write_html(tex)}</span>' for tex in (r"\hat{x}^i_j", "x^i", "x^i_j")
)


@dataclass(frozen=True)
class Line:
    """A line as it is typeset. depth: of the loops around it; what follows the arrow is as the document prints it."""

    depth: int
    written: str


LINES = (
    Line(0, "for <i>t</i> = 1, …, <i>T</i>"),
    Line(1, "for <i>i</i> = 1, …, <i>n</i>"),
    Line(2, f"for <i>j</i> = 1, …, |{_TEXT}|"),
    Line(3, f"{_SEEN} ← mask with probability <i>p</i><sub>mask</sub>, otherwise {_WORD}"),
    Line(2, "<i>P</i>(<i>θ</i>) ← E-Transformer(<i>x̂</i><sup><i>i</i></sup> | <i>θ</i>)"),
    Line(2, f"<i>J</i>(<i>θ</i>) ← −Σ<sub><i>j</i>=1…|{_TEXT}|</sub> log&#8201;<i>P</i>(<i>θ</i>)"
            f"<sub>{_WORD},&#8202;<i>j</i></sub> ⟦{_SEEN} = mask⟧"),
    Line(2, "<i>θ</i> ← <i>θ</i> − <i>η</i> · ∇<i>J</i>(<i>θ</i>)"),
    Line(0, "return <i>θ̂</i> = <i>θ</i>"),
)  # fmt: skip
UPDATE, RETURN = 6, 7
_BESIDES = {
    "embeddings.token_type_embeddings": "segments",
    "embeddings.LayerNorm": "LayerNorm on the embeddings",
    "cls.predictions.decoder": "a bias in the decoder",
}


def render_lines(numbers: Sequence[str], now: int | None) -> str:
    """The lines as a list. numbers: HTML, one a line, "" where it has none; now: which line was run last."""
    rows = "".join(
        f'<div role="listitem"{" class=bv-now aria-current=step" if i == now else ""}><span>{i + 1}</span>'
        f'<span style="--in:{line.depth}">{line.written}</span><span>{number}</span></div>'
        for i, (line, number) in enumerate(zip(LINES, numbers, strict=True))
    )
    return f'<div class="bv-algorithm" role="list" aria-label="E-Training, line by line">{rows}</div>'


def list_besides(model: Model) -> tuple[str, ...]:
    """What BERT as released learns with besides E-Transformer, in words."""
    bert, own = (write_loss(model.written(name)).parameters for name in ("bert", DEFINITION.program))
    names = {symbol.address for symbol in own}
    modules = dict.fromkeys(symbol.address.rpartition(".")[0] for symbol in bert if symbol.address not in names)
    return tuple(_BESIDES[module] for module in modules)


def say_line_5(training: Plan) -> str:
    """Which program is trained, and in what it is not the other one."""
    *most, last = list_besides(training.before)
    if training.settings.program == DEFINITION.program:
        return (
            f"Line 5 runs E-Transformer as the definition has it: without {', '.join(most)} or {last}, which BERT as "
            "released has, and with a decoder matrix that learns by itself."
        )
    tied = ", and its decoder reads the word embeddings’ matrix" if training.ties else ""
    return f"Line 5 runs BERT as released, not E-Transformer: it has {', '.join(most)} and {last} besides{tied}."
