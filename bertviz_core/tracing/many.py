"""Many texts, of which a few are held at a time; and traces of one model, gone through one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from typing import cast

from bertviz_core.checkpoint.encoding import Encoding
from bertviz_core.checkpoint.model import Model
from bertviz_core.errors import ArgumentError, BertvizError, InputError
from bertviz_core.formula.tensors import FEW_ROWS
from bertviz_core.sharing.progress import Progress, report
from bertviz_core.tracing.batch import run_batch
from bertviz_core.tracing.inputs import check_encoding, check_model, encode
from bertviz_core.tracing.trace import Trace

Text = str | tuple[str, str] | Encoding  # one, two that are read together, or tokens
AHEAD = 512  # tokens that are run at once: of more, products are hardly faster
_REMEDY = "Give what bv.run returns, a list of such, or bv.run_many(model, texts)."


def run_many(
    model: Model, texts: Iterable[Text], *, program: str = "bert", progress: Progress = False
) -> Iterator[Trace]:
    """The traces of many texts, one by one and in their order, as `run` gives each of them alone.

    texts: any iterable of texts, of pairs (text, text_pair), or of what `Trace.encoding` is; it is read as far as is
    run at once, some 512 tokens, and only these traces are held: those that nobody keeps are gone. They are run
    together, one behind the other without padding; what is added up in a product of more rows may differ from `run` in
    the last digits of float32, as it does between any two machines. program: as `run` takes it; progress: True for a
    line on standard error, or a function that gets how many of how many are done. Raises InputError for a text that the
    model cannot read, once those before it were given; ArgumentError for what is no list of texts. Source: as of `run`.

        >>> [len(each.tokens) for each in bv.run_many(model, ["He sat.", "She saw the king."])]
        [5, 7]
    """
    check_model(model).written(program)
    if isinstance(texts, str | bytes | Encoding) or not isinstance(texts, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may have no types
        raise ArgumentError.of("Many texts must be a list of them", texts, "For a single one use bv.run(model, text).")
    told = report(progress, len(texts) if isinstance(texts, Sized) else None, "texts")

    def give() -> Iterator[Trace]:
        for group in _group(_encode_each(model, texts, program)):
            traces = _run_group(model, group, program)
            while traces:
                told(1)
                yield traces.pop(0)

    return give()


def _encode_each(model: Model, texts: Iterable[Text], program: str) -> Iterator[Encoding | BertvizError]:
    """Each text as tokens; of one that cannot be read, why, and nothing after it."""
    for number, text in enumerate(texts):
        try:
            yield _encode(model, text, program)
        except BertvizError as error:
            yield type(error)(f"Text {number}, counted from 0: {error}")
            return


def _encode(model: Model, text: Text, program: str) -> Encoding:
    match text:
        case Encoding():
            return check_encoding(model, text)
        case (one, other):
            return encode(model, one, other, program=program)
        case _:
            return encode(model, text, program=program)


def _group(encodings: Iterable[Encoding | BertvizError]) -> Iterator[list[Encoding]]:
    """Texts that are run at once. What cannot be read is raised once all before it were run."""
    group: list[Encoding] = []
    for encoding in encodings:
        if isinstance(encoding, BertvizError):
            yield group
            raise encoding
        if group and sum(map(len, group)) + len(encoding) > AHEAD:
            yield group
            group = []
        group.append(encoding)
    yield group


def _run_group(model: Model, group: list[Encoding], program: str) -> list[Trace]:
    """The traces of some texts. Products of very few rows are computed in a way of their own: such texts run alone."""
    together = [encoding for encoding in group if len(encoding) > FEW_ROWS]
    if len(together) < 2:
        return [Trace(model, encoding, program) for encoding in group]
    spines = iter(run_batch(model, model.written(program), together))
    return [
        Trace(model, encoding, program, spine=next(spines) if len(encoding) > FEW_ROWS else None) for encoding in group
    ]


def list_traces(traces: object) -> Iterator[Trace]:
    """Each trace, once asked for. Raises ArgumentError for what is none, InputError for one of other weights."""
    if isinstance(traces, Trace):
        yield traces
        return
    if not isinstance(traces, Iterable) or isinstance(traces, str | bytes):
        raise ArgumentError.of("One trace or several must be given", traces, _REMEDY)
    model = None
    for trace in cast(Iterable[object], traces):
        if not isinstance(trace, Trace):
            raise ArgumentError.of("Each of several traces must be one", trace, _REMEDY)
        model = model or trace.model
        if trace.model is not model and trace.model.digest != model.digest:
            raise InputError(
                f"Traces that are read together must be of one model, not of {model.name!r} and {trace.model.name!r}. "
                "Read those of each model by themselves."
            )
        yield trace
