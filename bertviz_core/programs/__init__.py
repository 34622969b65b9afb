"""Forward passes written as programs of expressions: BERT as released, and as documents describe it."""

from __future__ import annotations

from collections.abc import Callable

import torch

from bertviz_core.formula.steps import Program
from bertviz_core.programs.bert import write_bert
from bertviz_core.programs.config import BertConfig
from bertviz_core.programs.definition import write_definition
from bertviz_core.programs.encoder_article import write_encoder_article, write_encoder_article_dropout
from bertviz_core.programs.formula_post import write_formula_post
from bertviz_core.programs.forward_pass_note import write_forward_pass_note
from bertviz_core.programs.notebook import write_notebook

Write = Callable[[BertConfig, frozenset[str], torch.dtype], Program]

DOCUMENT_PROGRAMS: dict[str, Write] = {
    "forward-pass-note": write_forward_pass_note,
    "notebook": write_notebook,
    "definition": write_definition,
    "formula-post": write_formula_post,
    "encoder-article": write_encoder_article,
    "encoder-article-dropout": write_encoder_article_dropout,
}
PADS_FIRST = frozenset({"encoder-article", "encoder-article-dropout"})  # their document pads before the text
PROGRAMS: dict[str, Write] = {"bert": write_bert, **DOCUMENT_PROGRAMS}
