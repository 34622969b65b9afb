"""Which weights a training moves, and which tokens it never hides, in words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from bertviz_core.learning.plan import Plan

_TABLES = {"word_embeddings": "word", "position_embeddings": "position", "token_type_embeddings": "segment"}
_RUNS = 3  # of rows, that are named one by one


def say_still(training: Plan) -> str:
    """How many weights learn, and which no step moves."""
    weights = sum(training.before.parameters[name].numel() for name in training.learned)
    if not training.still:
        return f"{weights:,} weights learn."
    rows = ", ".join(f"{_name_table(one.parameter, len(one.rows))} {_name_rows(one.rows)}" for one in training.still)
    count = sum(one.weights for one in training.still)
    return (
        f"{weights - count:,} of {weights:,} weights learn. The other {count:,} never move, since no sentence reads "
        f"them: the rows of {rows}."
    )


def say_never_hidden(training: Plan) -> str:
    """Which tokens of the sentences no step hides."""
    special = training.before.tokenizer.special_tokens
    tokens = dict.fromkeys(token for encoding in training.encodings for token in encoding.tokens)
    return f"Never hidden: {', '.join(token for token in tokens if token in special)}."


def _name_table(parameter: str, rows: int) -> str:
    """What the rows of a table of embeddings stand for, in the number in which they are spoken of."""
    return f"{_TABLES[parameter.split('.')[-2]]}{'s' * (rows != 1)}"


def _name_rows(rows: Sequence[int]) -> str:
    """Runs of rows that follow each other as their first and last one."""
    runs = [[row for _, row in part] for _, part in groupby(enumerate(rows), key=lambda pair: pair[1] - pair[0])]
    if len(runs) > _RUNS:
        return f"{len(rows):,} that do not occur"
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)
