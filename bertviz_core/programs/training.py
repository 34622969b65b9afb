"""E-Training of document 002: the loss behind a forward pass, and what one step makes of a parameter.

Every statement is one step, as in `bert`: what is typeset, computed and worked out with numbers is read off it.
"""

# fmt: off
# Laid out by hand: a step reads as one line of a table.

from __future__ import annotations

from bertviz_core.formula import steps as kind
from bertviz_core.formula.address import FIRST, GRADIENT, LOSS, SECOND, UPDATE
from bertviz_core.formula.dims import TOKEN, VOCAB
from bertviz_core.formula.functions import Sqrt, Square
from bertviz_core.formula.loss_nodes import Chosen, LogSoftmax, Negative, Pick, SumChosen
from bertviz_core.formula.nodes import Constant, Symbol
from bertviz_core.formula.stages import Stage
from bertviz_core.formula.steps import Builder, Program, declare_input
from bertviz_core.errors import TrainingError

TRAINED = ("definition", "bert")  # what line 5 can run: the document's own program first
LOGITS, LOG_PROBS, TERM = "cls.predictions.decoder", f"{LOSS}.log_probs", f"{LOSS}.term"
RATE, FIRST_CORRECTION, SECOND_CORRECTION = "eta", "adamw.first_correction", "adamw.second_correction"
BETA_1, BETA_2, ADAMW_EPSILON, DECAY = 0.9, 0.999, 1e-6, 0.01  # AdamW as BERT was trained with it

WORDS = declare_input("J.words", "x", "words", (TOKEN,))
HIDDEN = declare_input("J.hidden", r"\llbracket \hat{x} = \mathtt{mask} \rrbracket", "hidden", (TOKEN,))
ETA = declare_input(RATE, r"\eta", "eta", ())

_LINE_6 = (r"E-Training, line 6: "
           r"$J(\theta)\gets -\sum_{j=1}^{\vert x^i\vert} \log P(\theta)_{x^i_j,j}"
           r"\llbracket\hat x^i_j=\mathrm{mask}\rrbracket$")
_LINE_7 = r"E-Training, line 7: $\theta\gets\theta-\eta\cdot\nabla J(\theta)$"
_ADAMW = "Loshchilov & Hutter 2017, Decoupled Weight Decay Regularization, alg. 2"


def write_loss(written: Program) -> Program:
    """As much of a pass as the loss is made from, and the loss. Raises TrainingError without an LM head."""
    logits = written.symbol(LOGITS)
    if logits is None:
        raise TrainingError(
            "This model has no LM head, so it predicts no hidden words and cannot be trained to. Choose a model with "
            "one, such as the bundled one."
        )
    b = Builder()
    b.stage = Stage.PREDICTIONS
    log_probs = b.add(LOG_PROBS, r"\log P", "log_P", kind.PREDICTION, LogSoftmax(logits, VOCAB),
                      "The logarithm of each vocabulary entry's probability.", _LINE_6,
                      choice="The logarithm and the softmax are taken at one go: a probability too small to be told "
                             "from 0 keeps its logarithm.")
    term = b.add(TERM, r"\ell", "terms", kind.PREDICTION, Negative(Pick(log_probs, WORDS, VOCAB)),
                 "How badly the token's own word is predicted: 0 where it is certain.", _LINE_6,
                 choice="The minus is printed before the sum.")
    b.add(LOSS, "J", "J", kind.PREDICTION, SumChosen(Chosen(term, HIDDEN), TOKEN),
          "The loss: the sum over the hidden tokens.", _LINE_6)
    kept = written.spine | {LOSS}
    forward = Program("training", (*written.steps, *b.steps), frozenset({LOSS})).forward
    return Program("training", forward, kept & {step.address for step in forward})


def write_update(parameter: Symbol, stage: Stage) -> Program:
    """What a step as printed makes of a parameter."""
    b = Builder()
    b.stage = stage
    gradient = _declare(parameter, GRADIENT)
    b.add(*_name(parameter, UPDATE), kind.PARAMETER, parameter - ETA * gradient,
          "The parameter, moved against its gradient.", _LINE_7, keep=True, column=_turn(parameter, UPDATE))
    return b.program("update")


def write_adamw_update(parameter: Symbol, stage: Stage) -> Program:
    """What a step of AdamW makes of a parameter. Matrices shrink a little each time; biases and LayerNorms do not."""
    b = Builder()
    b.stage = stage
    one, beta_1, beta_2 = Constant("1", 1), Constant(r"\beta_1", BETA_1), Constant(r"\beta_2", BETA_2)
    gradient, first, second = (_declare(parameter, what) for what in (GRADIENT, FIRST, SECOND))
    correction_1 = declare_input(FIRST_CORRECTION, r"(1-\beta_1^t)", "first_correction", ())
    correction_2 = declare_input(SECOND_CORRECTION, r"(1-\beta_2^t)", "second_correction", ())
    m = b.add(*_name(parameter, FIRST, new=True), kind.PARAMETER, beta_1 * first + (one - beta_1) * gradient,
              "The running mean of the gradient.", _ADAMW, keep=True, column=_turn(parameter, FIRST, new=True))
    v = b.add(*_name(parameter, SECOND, new=True), kind.PARAMETER, beta_2 * second + (one - beta_2) * Square(gradient),
              "The running mean of its square.", _ADAMW, keep=True, column=_turn(parameter, SECOND, new=True))
    move = ETA * (m / correction_1) / (Sqrt(v / correction_2) + Constant(r"\varepsilon", ADAMW_EPSILON))
    shrunk = parameter - ETA * Constant(r"\lambda", DECAY) * parameter if len(parameter.axes) > 1 else parameter
    b.add(*_name(parameter, UPDATE), kind.PARAMETER, shrunk - move,
          "The parameter, moved against the mean of its gradient, as far as that is steady.", _ADAMW, keep=True,
          column=_turn(parameter, UPDATE))
    return b.program("update")


_TEX = {GRADIENT: r"\frac{{\partial J}}{{\partial {}}}", FIRST: "m_{{{}}}", SECOND: "v_{{{}}}", UPDATE: "{{{}}}'"}


def _name(parameter: Symbol, what: str, new: bool = False) -> tuple[str, str, str]:
    """Address, symbol and variable of what is made of a parameter. new: after the step, where there is one before."""
    variable = f"{parameter.variable}_{what}"
    return (f"{what}:{parameter.address}" + (".new" if new else ""), _write(parameter.tex, what, new),
            f"{variable}_new" if new else variable)


def _turn(parameter: Symbol, what: str, new: bool = False) -> str:
    """Its symbol in column notation, where the parameter has one."""
    return _write(parameter.column, what, new) if parameter.column else ""


def _write(tex: str, what: str, new: bool) -> str:
    made = _TEX[what].format(tex)
    return f"{{{made}}}'" if new else made


def _declare(parameter: Symbol, what: str) -> Symbol:
    address, tex, variable = _name(parameter, what)
    return Symbol(address, tex, parameter.axes, variable, kind.PARAMETER, _turn(parameter, what))
