"""Other formulas in place of a step's: its value, LaTeX, code and explanation change together."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

from bertviz_core.errors import InputError
from bertviz_core.formula.functions import Apply
from bertviz_core.formula.markup import write_words
from bertviz_core.formula.nodes import Add, Constant, Expr
from bertviz_core.formula.steps import RESIDUAL, Program, Step, replace_nodes, walk_nodes, walk_symbols
from bertviz_core.programs.config import ACTIVATIONS

NO_RESIDUAL, SKIP, OTHER_EPSILON = "no-residual", "skip", "epsilon"
UNIFORM, SCALE, NOISE = "uniform", "scale", "noise"  # rules as well, though no formulas: they put numbers
FROM = "from"  # puts those of another pass, which has to be given with it
PUTTING = frozenset({UNIFORM, SCALE, NOISE, FROM})
REWRITES: Mapping[str, str] = {
    **{name: f"{name} as the activation (…activation)" for name in ACTIVATIONS},
    NO_RESIDUAL: "only the sub-layer's output, without the residual connection (…residual)",
    SKIP: "the layer returns its input unchanged (…output.LayerNorm)",
    f"{OTHER_EPSILON}=1e-5": "a different epsilon (…LayerNorm.normalized)",
}
_MEANINGS = {
    NO_RESIDUAL: "What the sub-layer gives, alone: a change leaves its input out.",
    SKIP: "The layer's input, unchanged: a change skips the layer.",
    OTHER_EPSILON: "Each token's vector less its mean, divided by √(σ² + ε), with the ε of a change.",
}  # of the rules after which a step does something else than its own meaning says
DECIMAL = re.compile(r"[0-9.eE+-]{1,30}")  # the rule is quoted as it came, so nothing else may stand in it
_EPSILON_SIGNS = {r"\varepsilon", r"\epsilon"}


@dataclass(frozen=True)
class Rule:
    """A rule in a word: one of REWRITES or PUTTING, once it was checked. text: as somebody wrote it, `epsilon=1e-5`."""

    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def word(self) -> str:
        return self.text.partition("=")[0]

    @property
    def argument(self) -> str:
        """What stands behind the word; "" where nothing does."""
        return self.text.partition("=")[2]


def find_epsilon(step: Step) -> Constant | None:
    """The ε in a step's formula; None where there is none."""
    constants = (node for node in walk_nodes(step.expr) if isinstance(node, Constant))
    return next((node for node in constants if node.tex in _EPSILON_SIGNS), None)


def rewrite(program: Program, step: Step, rule: Rule) -> Step:
    """The step with another formula, as the rule says: one of REWRITES. Raises InputError where it does not fit."""
    rewrite = _BY_WORD.get(rule.word)
    if rewrite is None or bool(rule.argument) != (rule.word == OTHER_EPSILON):
        raise InputError(_refuse_rule(rule.text[:40]))
    expr = rewrite(program, step, rule.argument or rule.word)
    if expr == step.expr:
        return step
    applies = (
        f"A change applies {write_words(ACTIVATIONS[rule.word].tex)} to each number."
        if rule.word in ACTIVATIONS
        else ""
    )
    meaning = applies or _MEANINGS.get(rule.word, step.meaning)
    return replace(step, expr=expr, meaning=meaning, source=f"What if: {rule}", choice="")


def _refuse_rule(rule: str) -> str:
    rules = (*REWRITES, f"{SCALE}=0.5", f"{NOISE}=7", FROM, UNIFORM)
    near = get_close_matches(rule, rules, n=1)
    return f"{rule!r} is neither a number nor a rule. The rules are {', '.join(rules[:-1])} and {rules[-1]}." + (
        f" Did you mean {near[0]}?" if near else ""
    )


def _replace_activation(_: Program, step: Step, name: str) -> Expr:
    if not isinstance(step.expr, Apply):
        raise InputError(
            f"{step.address} applies no activation function, so it cannot apply {name}. Choose a step that does, such "
            "as encoder.layer.0.intermediate.activation."
        )
    return Apply(step.expr.inner, ACTIVATIONS[name])


def _drop_residual(program: Program, step: Step, _: str) -> Expr:
    """The one term that is computed last: what the sub-layer brings."""
    if step.kind != RESIDUAL or not isinstance(step.expr, Add):
        raise InputError(
            f"{step.address} is no residual sum, so there is no residual to leave out. Choose an address that ends in "
            ".residual."
        )
    order = {each.address: i for i, each in enumerate(program.steps)}
    left, right = step.expr.parts
    return max(left, right, key=lambda term: max(order.get(symbol.address, -1) for symbol in walk_symbols(term)))


def _skip_layer(program: Program, step: Step, _: str) -> Expr:
    """What the layer was given: the kept vectors before its own."""
    kept = [each for each in program.steps if each.address in program.spine and each.dims == step.dims]
    place = kept.index(step) if step in kept else 0
    if not place or step.layer is None:
        raise InputError(
            f"{step.address} is not the result of an encoder layer; only a whole layer can be skipped. Choose its "
            "last step, such as encoder.layer.0.output.LayerNorm."
        )
    return kept[place - 1].output


def _replace_epsilon(_: Program, step: Step, text: str) -> Expr:
    try:
        epsilon = float(text) if DECIMAL.fullmatch(text) else math.nan
    except ValueError:
        epsilon = math.nan
    if not 0 < epsilon < math.inf:
        raise InputError(f"epsilon must be a number above 0, not {text[:40]!r}. Write for example epsilon=1e-5.")
    old = find_epsilon(step)
    if old is None:
        raise InputError(
            f"There is no epsilon in the formula of {step.address}. Choose a step that divides by the standard "
            "deviation, such as embeddings.LayerNorm.normalized."
        )
    return replace_nodes(step.expr, {old: replace(old, amount=epsilon)})


_BY_WORD: Mapping[str, Callable[[Program, Step, str], Expr]] = {
    **dict.fromkeys(ACTIVATIONS, _replace_activation),
    NO_RESIDUAL: _drop_residual,
    SKIP: _skip_layer,
    OTHER_EPSILON: _replace_epsilon,
}
