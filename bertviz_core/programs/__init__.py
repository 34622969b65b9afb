"""Forward passes written as programs of expressions: BERT as released, and as five documents describe it."""

from __future__ import annotations

from collections.abc import Callable

import torch

from bertviz_core.programs.config import BertConfig
from bertviz_core.programs.bert import bert
from bertviz_core.programs.definition import definition
from bertviz_core.programs.encoder_article import encoder_article, encoder_article_dropout
from bertviz_core.programs.formula_post import formula_post
from bertviz_core.programs.forward_pass_note import forward_pass_note
from bertviz_core.programs.notebook import notebook
from bertviz_core.formula.steps import Program

Write = Callable[[BertConfig, frozenset[str], torch.dtype], Program]

DOCUMENT_PROGRAMS: dict[str, Write] = {
    "forward-pass-note": forward_pass_note,
    "notebook": notebook,
    "definition": definition,
    "formula-post": formula_post,
    "encoder-article": encoder_article,
    "encoder-article-dropout": encoder_article_dropout,
}
PROGRAMS: dict[str, Write] = {"bert": bert, **DOCUMENT_PROGRAMS}
