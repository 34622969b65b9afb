"""The stages of a forward pass: what a step belongs to, said by the step where it is written."""

from __future__ import annotations

from enum import Enum


class Stage(Enum):
    """A stage by its title, in the order of the pass."""

    INPUT = "Input"
    EMBEDDINGS = "Embeddings"
    QUERY_KEY_VALUE = "Query, key, value"
    ATTENTION = "Attention"
    ATTENTION_OUTPUT = "Attention output"
    ADD_NORM = "Add & Norm"
    FEED_FORWARD = "Feed-forward"
    PREDICTIONS = "Predictions"
    SENTENCE = "Sentence"

    @property
    def title(self) -> str:
        return self.value

    @property
    def in_layer(self) -> bool:
        """Whether every encoder layer has this stage once more."""
        return self in _OF_A_LAYER


_OF_A_LAYER = frozenset(
    {Stage.QUERY_KEY_VALUE, Stage.ATTENTION, Stage.ATTENTION_OUTPUT, Stage.ADD_NORM, Stage.FEED_FORWARD}
)
