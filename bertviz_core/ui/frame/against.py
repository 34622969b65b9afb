"""The model that this one is compared with on every page: as far as both have the same, and why not further."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

from bertviz_core.checkpoint.model import Model
from bertviz_core.errors import CheckpointError
from bertviz_core.formula.texts import join_words
from bertviz_core.programs.bert import CLASSIFIER, TOKEN_CLASSIFIER
from bertviz_core.programs.config import OF_HEADS
from bertviz_core.ui.frame import choices, state
from bertviz_core.ui.frame.keys import AGAINST
from bertviz_core.ui.frame.labels import escape_markdown

_CLASSIFIERS = {CLASSIFIER, TOKEN_CLASSIFIER}


@dataclass(frozen=True)
class Beside:
    """A model, and the one that it is compared with, if there is one: both with no other heads than the other has.

    said: what is not compared, in sentences, as Markdown.
    """

    model: Model
    other: Model | None = None
    said: tuple[str, ...] = ()


def find_beside(model: Model, load: Callable[[str], Model]) -> Beside:
    """The model that the URL asks to compare with. Of one that is not there nothing is said in the URL any more."""
    name = state.read(AGAINST)
    if name in ("", model.name):
        return Beside(model)
    try:
        other = load(name)
    except CheckpointError as error:
        choices.compare_no_more()
        return Beside(
            model, said=(f"Nothing is compared: the other model cannot be had. {escape_markdown(str(error))}",)
        )
    why = _tell_other_encoder(model, other)
    if why:
        return Beside(
            model,
            said=(escape_markdown(f"Only the page Compare sets {Path(other.name).name} beside this model: {why}"),),
        )
    told = _list_alone(model, other)
    kept = set(model.heads) & set(other.heads)
    if kept & _CLASSIFIERS and not _tell_same_apart(model, other):
        told.append("their classifiers tell other classes apart")
        kept -= _CLASSIFIERS
    said = f"While they are compared, the pages show what both models have: {'; '.join(told)}."
    return Beside(model.keep_heads(kept), other.keep_heads(kept), (escape_markdown(said),) if told else ())


def _tell_same_apart(model: Model, other: Model) -> bool:
    return model.labels == other.labels and model.config.problem_type == other.config.problem_type


def _tell_other_encoder(model: Model, other: Model) -> str:
    """Why the passes of two models have no numbers that stand for one another, and what to do; "" where they have."""
    names = [field.name for field in fields(model.config) if field.name not in OF_HEADS]
    here, there = ({name: getattr(each.config, name) for name in names} for each in (model, other))
    apart = [f"{name} is {here[name]} here and {there[name]} there" for name in names if here[name] != there[name]]
    if apart:
        return f"{join_words(apart)}. Compare with a model of the same encoder."
    if model.tokenizer.vocabulary != other.tokenizer.vocabulary:
        return "the two have other vocabularies, so other tokens. Compare with a model of the same tokenizer."
    return ""


def _list_alone(model: Model, other: Model) -> list[str]:
    """Which heads only one of the two has."""
    return [
        f"only {Path(own.name).name} has a head for “{join_words(alone)}”"
        for own, theirs in ((model, other), (other, model))
        if (alone := [head for head in own.heads if head not in theirs.heads])
    ]
