"""How a text becomes word pieces, written out: clean, split, search, with every candidate that was tried.

Our own account of BERT's tokenizer (Devlin et al. 2018, released code, tokenization.py). The ids that the model reads
come from the library; the tests hold this account equal to it.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Any

# Unicode's White_Space property; str.isspace() also counts the separators U+001C to U+001F.
_SPACES = frozenset("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | {chr(c) for c in range(0x2000, 0x200B)}
_ASCII_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_CJK = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


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
    clean: bool
    cjk: bool
    strip_accents: bool
    lowercase: bool
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
        specials = [token for token in state["added_tokens"] if not token["normalized"] and not token["single_word"]]
        if len(specials) != len(state["added_tokens"]):
            return None
        return cls(
            vocabulary=model["vocab"],
            specials=tuple(Special(t["content"], t["id"], t["lstrip"], t["rstrip"]) for t in specials),
            clean=normalizer["clean_text"],
            cjk=normalizer["handle_chinese_chars"],
            strip_accents=normalizer["lowercase"] if accents is None else accents,
            lowercase=normalizer["lowercase"],
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
    stages: dict[str, str] = {}
    for part in _cut_specials(text, rules.specials):
        if isinstance(part, Special):
            words.append(
                Word(part.text, (part.text,), (part.id,), (), "a special token, taken from the text as it stands")
            )
            for name in stages:
                stages[name] += f" {part.text} "
            continue
        changed = list(_normalized(part, rules))
        for name, result in changed:
            stages[name] = stages.get(name, "") + result
        words.extend(_pieces(word, rules) for word in split_words(changed[-1][1] if changed else part))
    return Record(text, tuple(stages.items()), tuple(words))


def _cut_specials(text: str, specials: tuple[Special, ...]) -> list[str | Special]:
    parts: list[str | Special] = []
    start = at = 0
    while at < len(text):
        special = max((s for s in specials if text.startswith(s.text, at)), key=lambda s: len(s.text), default=None)
        if special is None:
            at += 1
            continue
        before, at = text[start:at], at + len(special.text)
        parts += [_stripped(before, right=True) if special.eats_left else before, special]
        start = at
        if special.eats_right:
            start += len(text) - start - len(_stripped(text[start:], right=False))
            at = start
    return [*(part for part in parts if part != ""), *([text[start:]] if text[start:] else [])]


def _stripped(text: str, right: bool) -> str:
    spaces = "".join(_SPACES)
    return text.rstrip(spaces) if right else text.lstrip(spaces)


def _normalized(text: str, rules: Rules) -> list[tuple[str, str]]:
    """The text after each change that the rules ask for, with the change's name."""
    changes = (
        (rules.clean, "control characters dropped, every kind of space made plain", clean),
        (rules.cjk, "spaces set around Chinese characters", space_cjk),
        (rules.strip_accents, "accents taken off", strip_accents),
        (rules.lowercase, "made lower case", lowercase),
    )
    results = []
    for wanted, name, change in changes:
        if wanted:
            text = change(text)
            results.append((name, text))
    return results


def clean(text: str) -> str:
    """Drop control characters and U+FFFD; turn every white space into a plain one."""
    kept = (char for char in text if char not in "\x00\ufffd" and not _is_control(char))
    return "".join(" " if char in _SPACES else char for char in kept)


def space_cjk(text: str) -> str:
    """Set spaces around Chinese characters, so that each becomes a word of its own."""
    return "".join(f" {char} " if any(low <= ord(char) <= high for low, high in _CJK) else char for char in text)


def strip_accents(text: str) -> str:
    """Split letters from their accents (NFD) and drop the accents (Unicode category Mn)."""
    return "".join(char for char in unicodedata.normalize("NFD", text) if unicodedata.category(char) != "Mn")


def lowercase(text: str) -> str:
    """Lower case, character by character (so a final sigma is like any other)."""
    return "".join(char.lower() for char in text)


def split_words(text: str) -> list[str]:
    """Cut at spaces, which go, and around punctuation, every sign of which becomes a word."""
    words: list[str] = []
    current = ""
    for char in text:
        if char in _SPACES or _is_punctuation(char):
            words += [current] if current else []
            words += [] if char in _SPACES else [char]
            current = ""
        else:
            current += char
    return words + ([current] if current else [])


def _pieces(word: str, rules: Rules) -> Word:
    """WordPiece: from the left, the longest piece that is in the vocabulary; then the rest, with `##`."""
    if len(word) > rules.max_letters:
        return _unknown(word, rules, (), f"longer than {rules.max_letters} characters")
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
            return _unknown(
                word, rules, tuple(searches), "no piece of the vocabulary fits here, so the whole word is unknown"
            )
    pieces = tuple(search.found for search in searches if search.found)
    return Word(word, pieces, tuple(rules.vocabulary[piece] for piece in pieces), tuple(searches))


def _unknown(word: str, rules: Rules, searches: tuple[Search, ...], note: str) -> Word:
    return Word(word, (rules.unknown,), (rules.vocabulary[rules.unknown],), searches, note)


def _is_control(char: str) -> bool:
    return char not in "\t\n\r" and unicodedata.category(char).startswith("C")


def _is_punctuation(char: str) -> bool:
    return char in _ASCII_PUNCTUATION or unicodedata.category(char).startswith("P")
