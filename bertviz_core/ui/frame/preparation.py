"""What is done to the tokens before the pass, as the URL asks: filled up with padding, hidden behind [MASK]."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bertviz_core.checkpoint.encoding import Encoding
from bertviz_core.checkpoint.model import Model
from bertviz_core.ui.frame.labels import escape_markdown, quote

NO_PADDING = "off"
PAD_TO = (NO_PADDING, "16", "32", "64", "128", "256", "512")

_NO_SEGMENTS = (
    "This checkpoint's tokenizer does not tell a second sentence from the first: the tokens of both are in segment 0."
)

_NUMBER = re.compile(r"[0-9]{1,9}")
_MEANT_AS_MASK = re.compile(r"\[mask\]|_{3,}", re.IGNORECASE)


@dataclass(frozen=True)
class Preparation:
    """pad_to: the length with padding, if any is added; masked: hidden positions; remarks: what could not be done.

    blank: the characters that were meant for the mask token, if there are some and nothing is hidden.
    """

    pad_to: int | None
    masked: tuple[int, ...]
    remarks: tuple[str, ...]
    blank: str = ""


def prepare(model: Model, typed: Encoding, text: str, pad: str, mask: str, pair: str | None = None) -> Preparation:
    """What of the wishes fits this input and this model.

    text: what was typed, the second sentence behind the first; pair: the second one, if there is one.
    """
    pad_to, first = _read_padding(pad, len(typed), model.config.max_position_embeddings)
    masked, second = _read_masked(mask, model, typed)
    blank = "" if masked else _find_blank(model, typed, text)
    remarks = (
        first,
        *second,
        _remark_blank(model, blank) if blank else "",
        _NO_SEGMENTS if pair and not any(typed.segments) else "",
    )
    return Preparation(pad_to, masked, tuple(remark for remark in remarks if remark), blank)


def _read_padding(pad: str, tokens: int, longest: int) -> tuple[int | None, str]:
    wish = pad.strip()
    if wish in ("", NO_PADDING):
        return None, ""
    if not _NUMBER.fullmatch(wish):
        return None, "“Pad to” takes a whole number of tokens, such as 32; nothing is padded."
    length = min(int(wish), longest)
    if length < tokens:
        return None, f"The input has {tokens} tokens already, more than {length}; nothing is padded."
    remark = f"This model reads at most {longest} tokens; the input is padded to {longest}."
    return (length if length > tokens else None), (remark if int(wish) > longest else "")


def _read_masked(mask: str, model: Model, typed: Encoding) -> tuple[tuple[int, ...], list[str]]:
    wishes = [part for part in re.split(r"[,\s]+", mask) if part]
    if wishes and model.tokenizer.mask_id is None:
        return (), ["This checkpoint has no mask token; no token is masked."]
    positions = {int(part) for part in wishes if _NUMBER.fullmatch(part)}
    maskable = set(model.tokenizer.maskable(typed))
    remarks: list[str] = []
    if not all(map(_NUMBER.fullmatch, wishes)):
        remarks.append("Masked positions are whole numbers separated by commas, such as 3,5; the rest is ignored.")
    if positions - maskable:
        remarks.append("Only words and word pieces can be masked; the other positions in the URL are ignored.")
    return tuple(sorted(positions & maskable)), remarks


def _find_blank(model: Model, typed: Encoding, text: str) -> str:
    """What of a text seems to be a blank for the model to fill, where nothing is hidden; "" for none."""
    found = _MEANT_AS_MASK.search(text)
    if found is None or model.tokenizer.mask_id is None or model.tokenizer.mask_id in typed.ids:
        return ""
    return found[0]


def _remark_blank(model: Model, blank: str) -> str:
    mask = model.tokenizer.token(model.tokenizer.mask_id or 0)
    return f"{quote(blank)} was read as the characters it is made of. To hide a word, write {escape_markdown(mask)}."
