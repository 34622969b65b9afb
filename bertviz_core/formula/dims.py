"""Named axes. A tensor's shape is a tuple of these; sizes come from the tensor or the config."""

from __future__ import annotations

from dataclasses import dataclass

from bertviz_core.errors import DimsError


@dataclass(frozen=True)
class Axis:
    """One axis of a tensor.

    name: what addresses and chart titles call it; latex: the letter for its size in formulas;
    meaning: what one step along it is; of_tokens: whether that is a token of the input.
    """

    name: str
    latex: str
    meaning: str
    of_tokens: bool = False


Dims = tuple[Axis, ...]

TOKEN = Axis("token", "n", "one token of the input", of_tokens=True)
QUERY = Axis("query", "n_q", "the token that attends", of_tokens=True)
KEY = Axis("key", "n_k", "the token that is attended to", of_tokens=True)
HEAD = Axis("head", "h", "one attention head")
HEAD_DIM = Axis("head_dim", "d_k", "one component inside a head")
HIDDEN = Axis("hidden", "d", "one component of a token's vector")
CONCAT = Axis("concat", r"h\,d_k", "one component of the concatenated heads")
INTERMEDIATE = Axis("intermediate", r"d_{\mathrm{ff}}", "one neuron of the feed-forward network")
TRANSFORM = Axis("transform", "d_t", "one component of the vector inside the LM head")
POOLED = Axis("pooled", "d_p", "one component of the pooled [CLS] vector")
VOCAB = Axis("vocab", r"\lvert V\rvert", "one entry of the vocabulary")
POSITION = Axis("position", r"n_{\max}", "one position in the longest possible input")
SEGMENT = Axis("segment", "n_s", "first or second sentence")
RELATION = Axis("relation", "2", "one answer: 0, B follows A; 1, B is a random sentence")
LABEL = Axis("label", "c", "one class of the classifier")
BOUND = Axis("bound", "n_b", "one end of an answer: 0, its first token; 1, its last token")
START = Axis("start", r"n_{\mathrm{start}}", "the token that an answer starts with", of_tokens=True)
END = Axis("end", r"n_{\mathrm{end}}", "the token that an answer ends with", of_tokens=True)

AXES: dict[str, Axis] = {
    axis.name: axis
    for axis in (
        TOKEN, QUERY, KEY, HEAD, HEAD_DIM, HIDDEN, CONCAT, INTERMEDIATE,
        TRANSFORM, POOLED, VOCAB, POSITION, SEGMENT, RELATION, LABEL,
        BOUND, START, END,
    )
}  # fmt: skip
TOKEN_AXES = frozenset(name for name, axis in AXES.items() if axis.of_tokens)


def list_names(dims: Dims) -> tuple[str, ...]:
    """The axes' names, in order."""
    return tuple(axis.name for axis in dims)


def combine(left: Dims, right: Dims) -> Dims:
    """The axes of an elementwise operation: one side must have every axis of the other, in the same order.

    Raises DimsError where neither side contains the other, even if the sizes would broadcast.
    """
    wide, narrow = (left, right) if len(left) >= len(right) else (right, left)
    missing = [axis.name for axis in narrow if axis not in wide]
    if missing:
        raise DimsError(
            f"cannot combine axes {list_names(left)} with {list_names(right)}: {missing} are on one side only"
        )
    if tuple(axis for axis in wide if axis in narrow) != narrow:
        raise DimsError(f"cannot combine axes {list_names(left)} with {list_names(right)}: the order differs")
    return wide


def align(dims: Dims, wide: Dims) -> tuple[slice | None, ...]:
    """How to index a tensor of `dims` so that it lines up with `wide`."""
    return tuple(slice(None) if axis in dims else None for axis in wide)


def is_trailing(dims: Dims, wide: Dims) -> bool:
    """Whether `dims` are the last of `wide`, in their order: then PyTorch's own broadcasting lines them up."""
    return dims == wide[len(wide) - len(dims) :]


def write_index(dims: Dims, wide: Dims) -> str:
    """The same as code, behind the tensor's name; nothing where broadcasting does it."""
    return "" if is_trailing(dims, wide) else f"[{', '.join(':' if axis in dims else 'None' for axis in wide)}]"


def contract(left: Dims, right: Dims) -> Dims:
    """The axes of a matrix product: the left's last axis is summed against the right's last but one.

    Raises DimsError where the two summed axes differ by name, or the leading axes do not fit.
    """
    if not left or len(right) < 2 or left[-1] != right[-2]:
        raise DimsError(f"cannot multiply axes {list_names(left)} by {list_names(right)}: the summed axes differ")
    batch = right[:-2]
    if batch and batch != left[:-2]:
        raise DimsError(f"cannot multiply axes {list_names(left)} by {list_names(right)}: the leading axes differ")
    result = (*left[:-1], right[-1])
    if len(set(result)) != len(result):
        raise DimsError(
            f"the product of {list_names(left)} and {list_names(right)} would have one axis twice: {list_names(result)}"
        )
    return result


def replace_axes(dims: Dims, old: Dims, new: Dims) -> Dims:
    """The axes with the run `old` of them replaced by `new`. Raises DimsError where there is no such run."""
    for start in range(len(dims) - len(old) + 1):
        if dims[start : start + len(old)] == old:
            result = (*dims[:start], *new, *dims[start + len(old) :])
            if len(set(result)) != len(result):
                raise DimsError(f"{list_names(result)} would have one axis twice")
            return result
    raise DimsError(f"expected {', '.join(list_names(old))} among the axes {list_names(dims)}")
