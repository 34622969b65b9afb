"""What the documents' programs have in common: how a step is written down, attention, and LayerNorm part by part."""

# fmt: off
# Laid out by hand: a step reads as one line of a table.

from __future__ import annotations

import re
from dataclasses import dataclass

import torch

from bertviz_core.formula import steps as kind
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import CONCAT, HIDDEN, KEY, QUERY, TOKEN, Axis
from bertviz_core.formula.functions import Mean, Softmax, Sqrt, Square
from bertviz_core.formula.nodes import Constant, Expr, Symbol
from bertviz_core.formula.shapes import MergeHeads, Rename, SplitHeads, Transpose
from bertviz_core.formula.stages import Stage
from bertviz_core.formula.steps import Builder, declare_parameter
from bertviz_core.programs.config import BertConfig

OWN_NORM = ("LayerNorm is named but not defined. BERT's is used, with the checkpoint's γ, β and ε: the parameters "
            "were learned with it.")
NO_BIAS = "No bias is printed, so none is added; the checkpoint has one."
APART = "One formula in the document; here each part is a step, so that every number can be shown."
STRETCHED = "The normalized vector, scaled by γ and shifted by β, both learned."
NO_MASK = "There is no padding mask: [PAD] tokens are attended to like any other."


@dataclass(kw_only=True)
class Writer(Builder):
    """Writes a document's program.

    heads: those of the checkpoint; document: its name, with which every source begins; first: the number of its first
    layer. In addresses `L.` stands for the path of the current layer, in symbols `@` for its number. Variables are read
    off the symbols.
    """

    config: BertConfig
    heads: frozenset[str]
    dtype: torch.dtype
    document: str
    first: int = 1
    layer: int = 0

    def write(self, address: str, tex: str, kind: str, expr: Expr, meaning: str, place: str, choice: str = "",
              keep: bool = False) -> Symbol:
        """Write one step and return its symbol. place: where in the document its formula stands."""
        tex = self.tex(tex)
        return self.add(self.path(address), tex, name_variable(tex), kind, expr, meaning, f"{self.document}, {place}",
                        keep, choice)

    def path(self, address: str) -> str:
        return Address.in_layer(self.layer, address[2:]).path if address.startswith("L.") else address

    def tex(self, template: str) -> str:
        return template.replace("@", str(self.layer + self.first))

    def weight(self, path: str, tex: str, inside: Axis, outside: Axis, column: str = "") -> Symbol:
        """A matrix or table of the checkpoint. column: its symbol in column notation, where the document has the
        transpose of ours."""
        tex = self.tex(tex)
        return declare_parameter(f"{self.path(path)}.weight", tex, name_variable(tex), (inside, outside),
                                 self.tex(column))

    def bias(self, path: str, tex: str, axis: Axis) -> Symbol:
        return declare_parameter(f"{self.path(path)}.bias", self.tex(tex), name_variable(self.tex(tex)), (axis,))

    def projection(self, name: str, tex: str, x: Expr, axis: Axis, meaning: str, place: str, choice: str = ""
                   ) -> Symbol:
        """Queries, keys or values: x, already projected, cut into heads."""
        self.stage = Stage.QUERY_KEY_VALUE
        split = SplitHeads(x, Constant("h", self.config.num_attention_heads), self.head_dim)
        return self.write(f"L.attention.self.{name}", tex, name, Rename(split, TOKEN, axis), meaning, place, choice)

    @property
    def head_dim(self) -> Constant:
        return Constant("d_k", self.config.head_dim)

    def attention(self, q: Symbol, k: Symbol, v: Symbol, symbols: tuple[str, ...],
                  places: tuple[str, ...], **choices: str) -> Symbol:
        """Scaled dot-product attention without a mask: products, scaled, probabilities, heads, heads side by side.

        choices: what the document leaves open at one of them, by its name.
        """
        def step(number: int, leaf: str, of: str, expr: Expr, meaning: str, choice: str = "") -> Symbol:
            told = " ".join(filter(None, (choice, choices.get(leaf))))
            return self.write(f"L.attention.self.{leaf}", symbols[number], of, expr, meaning, places[number], told)

        self.stage = Stage.ATTENTION
        apart = APART if places[0] == places[2] else ""
        products = step(0, "products", kind.ATTENTION, q @ Transpose(k),
                        "The dot product of each query with each key.", apart)
        scaled = step(1, "scaled", kind.ATTENTION, products / Sqrt(self.head_dim),
                      "The dot products divided by √d_k, so that large ones do not take all of the softmax.")
        probs = step(2, "probs", kind.ATTENTION, Softmax(scaled, KEY),
                     "The attention weights of each query over all keys; each row sums to 1.", NO_MASK)
        self.stage = Stage.ATTENTION_OUTPUT
        heads = step(3, "heads", kind.VALUE, probs @ v, "The head outputs: values averaged by attention weights.")
        return step(4, "context", kind.VALUE, Rename(MergeHeads(heads, self.head_dim), QUERY, TOKEN),
                    "The concatenated heads.")

    def norm(self, path: str, x: Symbol, tex: str, place: str, choice: str = OWN_NORM, *, of: str = "",
             own: str | None = None, mark: str = "", epsilon: float | None = None, result_kind: str = kind.NORM,
             keep: bool = False) -> Symbol:
        """LayerNorm of x, every part a step.

        of: where γ and β stand, if not under `path`; own: their index, if not x; mark: what tells the parts' symbols
        from those of another LayerNorm of the same x.
        """
        index = f"{x.tex},{mark}" if mark else x.tex
        hat = rf"\widehat{{{x.tex}}}" + (f"_{{{mark}}}" if mark else "")
        mean = self.mean(path, x, place, index)
        variance = self.write(f"{path}.variance", rf"\sigma^2_{{{index}}}", kind.NORM,
                              Mean(Square(x - mean), x.axes[-1]), "The variance of each token's vector.", place)
        epsilon = self.config.layer_norm_eps if epsilon is None else epsilon
        normal = self.write(f"{path}.normalized", hat, kind.NORM,
                            (x - mean) / Sqrt(variance + Constant(r"\varepsilon", epsilon)),
                            "Each token's vector less its mean, over its deviation.", place)
        stretched = self.stretched(normal, of or path, (r"\gamma", r"\beta"), f"_{{{x.tex}}}" if own is None else own)
        return self.write(path, tex, result_kind, stretched, STRETCHED, place, choice, keep)

    def mean(self, path: str, x: Symbol, place: str, index: str = "") -> Symbol:
        return self.write(f"{path}.mean", rf"\mu_{{{index or x.tex}}}", kind.NORM, Mean(x, x.axes[-1]),
                          "The mean of each token's vector.", place)

    def stretched(self, normal: Symbol, path: str, letters: tuple[str, str], index: str) -> Expr:
        """LayerNorm's last part: the normalized vector times γ plus β."""
        gamma, beta = (self.tex(letter + index) for letter in letters)
        axes = normal.axes[-1:]
        scale = declare_parameter(f"{self.path(path)}.weight", gamma, name_variable(gamma), axes)
        return scale * normal + declare_parameter(f"{self.path(path)}.bias", beta, name_variable(beta), axes)


def name_variable(tex: str) -> str:
    """A symbol as a name in Python: what is left of it without commands for fonts, brackets and signs."""
    plain = re.sub(r"\\mathrm|\^\{\\top\}|\\,", "", tex).replace("'", "_prime")
    return re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_")


def rename_to_hidden(context: Expr) -> Expr:
    """The heads side by side, taken for a vector of the model's width: h times d_k is d."""
    return Rename(context, CONCAT, HIDDEN)
