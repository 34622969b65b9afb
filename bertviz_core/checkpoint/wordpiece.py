"""How a text becomes word pieces, written out: clean, split, search, with every candidate that was tried.

Our own account of BERT's tokenizer (Devlin et al. 2018, released code, tokenization.py). The ids that the model reads
come from the library; the tests hold this account equal to it. Only what hangs on a table of characters is asked of the
library, one change at a time: which characters are accents, punctuation or control characters depends on the version
of Unicode, and the library's tables are older than Python's: they differ in hundreds of characters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

# Unicode's White_Space property; str.isspace() also counts the separators U+001C to U+001F.
_SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))

_STAGES = {  # the normalizer's switches, in the order in which it obeys them
    "clean_text": "control characters dropped, every kind of space made plain",
    "handle_chinese_chars": "spaces set around Chinese characters",
    "strip_accents": "accents taken off",
    "lowercase": "made lower case",
}
_NORMALIZERS = {switch: BertNormalizer(**{other: other == switch for other in _STAGES}) for switch in _STAGES}
_SPLITTER = BertPreTokenizer()
_TAKEN = "a special token, taken from the text as it stands"
_NO_PIECE = "no piece of the vocabulary fits here, so the whole word is unknown"


@dataclass(frozen=True)
class Special:
    """A token that is cut out of the raw text before anything else, such as [MASK]."""

    text: str
    id: int
    eats_left: bool
    eats_right: bool


@dataclass(frozen=True)
class Rules:
    """The settings of one checkpoint's tokenizer."""

    vocabulary: dict[str, int]
    specials: tuple[Special, ...]
    changes: tuple[str, ...]
    unknown: str
    prefix: str
    max_letters: int

    @classmethod
    def from_library(cls, state: dict[str, Any]) -> Rules | None:
        """Read the settings off a `tokenizer.json`; None where it is not BERT's kind."""
        kinds = [(state.get(part) or {}).get("type") for part in ("normalizer", "pre_tokenizer", "model")]
        if kinds != ["BertNormalizer", "BertPreTokenizer", "WordPiece"]:
            return None
        normalizer, model = state["normalizer"], state["model"]
        accents = normalizer["strip_accents"]
        switches = {**normalizer, "strip_accents": normalizer["lowercase"] if accents is None else accents}
        specials = [token for token in state["added_tokens"] if not token["normalized"] and not token["single_word"]]
        if len(specials) != len(state["added_tokens"]):
            return None
        return cls(
            vocabulary=model["vocab"],
            specials=tuple(Special(t["content"], t["id"], t["lstrip"], t["rstrip"]) for t in specials),
            changes=tuple(switch for switch in _STAGES if switches[switch]),
            unknown=model["unk_token"],
            prefix=model["continuing_subword_prefix"],
            max_letters=model["max_input_chars_per_word"],
        )


@dataclass(frozen=True)
class Search:
    """One longest-match search: the candidates that are not in the vocabulary, longest first, then the one that is."""

    rejected: tuple[str, ...]
    found: str | None


@dataclass(frozen=True)
class Word:
    """One word after splitting: its pieces, and the searches that found them. A special token has no search."""

    text: str
    pieces: tuple[str, ...]
    ids: tuple[int, ...]
    searches: tuple[Search, ...]
    note: str = ""

    @property
    def is_special(self) -> bool:
        """Whether it is a special token that was typed."""
        return self.note == _TAKEN


@dataclass(frozen=True)
class Record:
    """The stages of one text: the changes to its characters in order, then its words."""

    text: str
    stages: tuple[tuple[str, str], ...]
    words: tuple[Word, ...]

    @property
    def ids(self) -> tuple[int, ...]:
        """The token ids, without [CLS] and [SEP]."""
        return tuple(i for word in self.words for i in word.ids)


def record(text: str, rules: Rules) -> Record:
    """Every stage of the text's way to word pieces."""
    words: list[Word] = []
    stages = dict.fromkeys(rules.changes, "")
    for part in _cut_specials(text, rules.specials):
        if isinstance(part, Special):
            words.append(Word(part.text, (part.text,), (part.id,), (), _TAKEN))
            stages = {change: before + part.text for change, before in stages.items()}
            continue
        changed = part
        for change in rules.changes:
            changed = _NORMALIZERS[change].normalize_str(changed)
            stages[change] += changed
        words.extend(_cut_pieces(word, rules) for word in split_words(changed))
    return Record(text, tuple((_STAGES[change], result) for change, result in stages.items()), tuple(words))


def _cut_specials(text: str, specials: tuple[Special, ...]) -> list[str | Special]:
    by_text = {special.text: special for special in specials}
    longest_first = "|".join(map(re.escape, sorted(by_text, key=len, reverse=True)))
    parts: list[str | Special] = []
    start = 0
    for match in re.finditer(longest_first, text) if specials else ():
        special = by_text[match[0]]
        before = text[start : match.start()]
        parts += [before.rstrip(_SPACES) if special.eats_left else before, special]
        start = match.end()
        if special.eats_right:
            start = len(text) - len(text[start:].lstrip(_SPACES))
    return [part for part in (*parts, text[start:]) if part != ""]


def split_words(text: str) -> list[str]:
    """Cut at spaces, which go, and around punctuation, every sign of which becomes a word."""
    return [word for word, _ in _SPLITTER.pre_tokenize_str(text)]


def _cut_pieces(word: str, rules: Rules) -> Word:
    """WordPiece: from the left, the longest piece that is in the vocabulary; then the rest, with `##`."""
    if len(word) > rules.max_letters:
        return _mark_unknown(
            word, rules, (), f"longer than {rules.max_letters} characters, so the whole word is unknown"
        )
    searches: list[Search] = []
    start = 0
    while start < len(word):
        prefix = rules.prefix if start else ""
        rejected: list[str] = []
        for end in range(len(word), start, -1):
            candidate = prefix + word[start:end]
            if candidate in rules.vocabulary:
                searches.append(Search(tuple(rejected), candidate))
                start = end
                break
            rejected.append(candidate)
        else:
            searches.append(Search(tuple(rejected), None))
            return _mark_unknown(word, rules, tuple(searches), _NO_PIECE)
    pieces = tuple(search.found for search in searches if search.found)
    return Word(word, pieces, tuple(rules.vocabulary[piece] for piece in pieces), tuple(searches))


def _mark_unknown(word: str, rules: Rules, searches: tuple[Search, ...], note: str) -> Word:
    return Word(word, (rules.unknown,), (rules.vocabulary[rules.unknown],), searches, note)
