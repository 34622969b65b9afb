"""What the steps of a layer's attention are called, for all that looks them up: `ATTENTION_WEIGHTS.in_layer(3)`."""

from __future__ import annotations

from dataclasses import dataclass

from bertviz_core.formula.address import Address


@dataclass(frozen=True)
class Leaf:
    """A tensor or module that every encoder layer has. path: inside the layer."""

    path: str

    def in_layer(self, layer: int) -> Address:
        """The one of a layer."""
        return Address.in_layer(layer, self.path)

    def in_layers(self, letter: str) -> str:
        """Those of several layers as text, with a letter or a star for the layer's number."""
        return f"encoder.layer.{letter}.{self.path}"

    def enter(self, leaf: str) -> Leaf:
        """A tensor further down the path."""
        return Leaf(f"{self.path}.{leaf}")


SELF_ATTENTION = Leaf("attention.self")
QUERIES, KEYS, VALUES, ATTENTION_WEIGHTS, CONTEXT = map(
    SELF_ATTENTION.enter, ("query", "key", "value", "probs", "context")
)
