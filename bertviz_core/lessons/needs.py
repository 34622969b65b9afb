"""What more than one step needs of a sentence or of a model, each with what is said where it is not there."""

from __future__ import annotations

from bertviz_core.lessons.lesson import Need
from bertviz_core.lessons.scene import Scene
from bertviz_core.lessons.sentences import LEAST_LETTERS, find_rarest, has_head
from bertviz_core.lessons.tokens_keys import has_rules


def _has_mask(scene: Scene) -> bool:
    return scene.model.tokenizer.mask_id is not None


def _is_unpadded(scene: Scene) -> bool:
    return all(scene.trace.encoding.mask)


def _has_long_word(scene: Scene) -> bool:
    return find_rarest(scene) is not None


def _has_repeated(scene: Scene) -> bool:
    return bool(scene.list_repeated())


LM_HEAD = Need("this model has no LM head to ask", has_head)
MASK = Need("this model has no token that hides another", _has_mask)
RULES = Need("this model’s tokenizer follows other rules than BERT’s", has_rules)
UNPADDED = Need("there is padding", _is_unpadded)
LONG_WORD = Need(f"no word of {LEAST_LETTERS} or more letters from a to z is one token here", _has_long_word)
REPEATED = Need("no token stands twice here, but for special ones", _has_repeated)
