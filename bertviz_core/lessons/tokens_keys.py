"""The keys of the lesson on tokens, each worked out from a pass."""

from __future__ import annotations

from bertviz_core.errors import InputError
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number
from bertviz_core.formula.texts import spell_controls, write_count
from bertviz_core.lessons.lesson import Tried, Verdict, Worked
from bertviz_core.lessons.scene import Scene
from bertviz_core.lessons.sentences import (
    find_rarest,
    is_piece,
    list_plain,
    list_words,
    read_own,
    read_whole,
)
from bertviz_core.tracing.changes import Changes

WANTED = 3  # pieces of the word that is to be found
_ADDED = 2  # tokens that nobody typed
_LISTED = 40  # tokens of one's own sentence that are told one by one
_LONGEST = 40  # characters of a word of one's own
_IDS = Address("input_ids")
# Words, as a grammar cuts them; of these, and of some others, the pieces are counted.
_GRAMMAR = (("un", "happi", "ness"), ("re", "read", "ing"), ("heart", "less", "ness"), ("un", "read", "able"))
_EXAMPLES = ("banana", "snowboarding", "photosynthesis", "unhappiness", "electroencephalography")


def has_rules(scene: Scene) -> bool:
    """Whether words are cut as BERT cuts them."""
    return scene.model.tokenizer.rules is not None


def cut(scene: Scene, word: str) -> list[str]:
    """The tokens that a text becomes."""
    tokenizer = scene.model.tokenizer
    return [tokenizer.token(i) for i in tokenizer.pieces(word)]


def is_countable(scene: Scene) -> bool:
    """Whether it is one sentence without unknown words, with one token added at each end."""
    encoding, tokenizer = scene.trace.encoding, scene.model.tokenizer
    inner = scene.tokens[1:-1]
    odd = tokenizer.special_tokens - {_name_mask(scene)}
    ends = scene.tokens[0] in odd and scene.tokens[-1] in odd
    return ends and not odd & {*inner} and not any(encoding.segments)


def _name_mask(scene: Scene) -> str:
    mask = scene.model.tokenizer.mask_id
    return "" if mask is None else scene.model.tokenizer.token(mask)


def _count_words(scene: Scene) -> int:
    """The words as they were typed; a hidden one is one of them."""
    begun = [i for i in list_plain(scene) if not is_piece(scene.tokens[i])]
    return len(begun) + scene.tokens.count(_name_mask(scene))


def _tell_cut(scene: Scene) -> str:
    """How many of the words are cut, and into how many pieces; nothing where none is."""
    pieces = [i for i in list_plain(scene) if is_piece(scene.tokens[i])]
    begun = [i for i in pieces if not is_piece(scene.tokens[i - 1])]
    if not begun:
        return ""
    total = write_count(len(pieces) + len(begun), "piece")
    if len(begun) == 1:
        return f" One of the words here is no entry: it is cut into {total}."
    return f" Of the words here {len(begun)} are no entries: they are cut into {total}."


def work_count(scene: Scene) -> Worked:
    count, words, mask = len(scene.tokens), _count_words(scene), _name_mask(scene)
    marks = len(scene.tokens) - _ADDED - len(list_plain(scene)) - scene.tokens.count(mask)
    numbers = {
        "vocab": format_number(len(scene.model.tokenizer.vocabulary)),
        "cut": _tell_cut(scene),
        "words": write_count(words, "word"),
        "marks": write_count(marks, "punctuation mark"),
        "mask": f"; {mask} counts as a word" if mask in scene.tokens else "",
        "n": str(count),
        "plain": str(count - _ADDED),
        "first": scene.tokens[0],
        "last": scene.tokens[-1],
    }
    return Worked(count, numbers, _IDS.fix(token=0))


def is_text_alone(tried: Tried) -> bool:
    return tried.answer == len(tried.scene.tokens) - _ADDED


def is_words(tried: Tried) -> bool:
    return tried.answer == _count_words(tried.scene)


def work_same(scene: Scene) -> Worked:
    first, second, *_ = scene.list_repeated()
    numbers = {
        "a": scene.quote(first),
        "word": scene.tokens[first],
        "id": str(scene.trace.encoding.ids[first]),
        "b": scene.quote(second),
    }
    return Worked(second, numbers, _IDS.fix(token=second))


def is_itself(tried: Tried) -> bool:
    return tried.answer == tried.scene.list_repeated()[0]


def is_later(tried: Tried) -> bool:
    return tried.answer in tried.scene.list_repeated()[2:]


def tell_id(tried: Tried) -> dict[str, str]:
    picked = int(tried.answer)
    return {"picked": tried.scene.quote(picked), "its": str(tried.scene.trace.encoding.ids[picked])}


def has_capitals(scene: Scene) -> bool:
    token = find_rarest(scene)
    return token is not None and scene.tokens[token] != scene.tokens[token].upper()


def work_capitals(scene: Scene) -> Worked:
    """What a word becomes in capitals: the same entry, another one, several, or unknown."""
    token, tokenizer = find_rarest(scene) or 0, scene.model.tokenizer
    word = scene.tokens[token]
    pieces, own = cut(scene, word.upper()), scene.trace.encoding.ids[token]
    key = 3 if pieces == [tokenizer.unk_token] else 0 if pieces == [word] else 1 if len(pieces) == 1 else 2
    numbers = {
        "word": word,
        "capitals": word.upper(),
        "id": str(own),
        "unknown": tokenizer.unk_token,
        "cut": " ".join(pieces),
        "other": str(tokenizer.id(pieces[0])),
    }
    return Worked(key, numbers, _IDS.fix(token=token))


def _join(parts: tuple[str, ...]) -> str:
    """Parts as tokens: all but the first go on the word."""
    return " ".join((parts[0], *(f"##{part}" for part in parts[1:])))


def _find_example(scene: Scene) -> tuple[tuple[str, ...], list[str]] | None:
    """A word as a grammar cuts it, and as this model does: otherwise."""
    for parts in _GRAMMAR:
        pieces = cut(scene, "".join(parts))
        if len(pieces) > 1 and " ".join(pieces) != _join(parts):
            return parts, pieces
    return None


def has_example(scene: Scene) -> bool:
    return _find_example(scene) is not None


def work_pieces(scene: Scene) -> Worked:
    parts, pieces = _find_example(scene) or (_GRAMMAR[0], [""])
    numbers = {
        "word": "".join(parts),
        "grammar": _join(parts),
        "cut": " ".join(pieces),
        "k": str(len(pieces)),
        "first": pieces[0],
        "unknown": scene.model.tokenizer.unk_token,
    }
    return Worked(1, numbers, _IDS.fix(token=scene.token))


def work_three(scene: Scene) -> Worked:
    counts = {word: cut(scene, word) for word in _EXAMPLES}
    examples = [f"{word} {len(pieces)}" for word, pieces in counts.items() if len(pieces) != WANTED]
    return Worked(WANTED, {"examples": ", ".join(examples)}, _IDS.fix(token=scene.token))


def _refuse_word(scene: Scene, word: str) -> str:
    """Why it is no word that can be cut, and what to do; nothing for one."""
    tokenizer = scene.model.tokenizer
    if not word or len(word) > _LONGEST:
        return f"Write a word of at most {_LONGEST} letters."
    try:
        record = tokenizer.record(word)
    except InputError as error:
        return str(error)
    if record is None or len(record.words) != 1 or word in tokenizer.special_tokens:
        return "Write one word, without spaces and marks."
    unknown = tokenizer.unk_token
    return f"No pieces fit “{spell_controls(word)}”: it is {unknown}. Take another." * (unknown in cut(scene, word))


def check_three(scene: Scene, text: str, _: str) -> Verdict:
    """A word that is cut into three pieces."""
    word = text.strip()
    if refused := _refuse_word(scene, word):
        return Verdict(False, refused, counted=False)
    pieces, said = cut(scene, word), spell_controls(word)
    if len(pieces) == 1:
        return Verdict(False, f"“{said}” is an entry as a whole. Try a rarer word.")
    told = f"“{said}” is cut into {write_count(len(pieces), 'piece')}: {' '.join(pieces)}."
    if len(pieces) == WANTED:
        return Verdict(True, f"{told} To BERT it is {WANTED} tokens, each with a vector and attention of its own.")
    return Verdict(False, f"{told} Try one that is {'rarer or longer' if len(pieces) < WANTED else 'shorter'}.")


def _find_hidden(scene: Scene) -> int | None:
    """The word that is hidden: of those that stand once, the middle one."""
    words = [i for i in list_words(scene) if scene.tokens.count(scene.tokens[i]) == 1]
    return words[len(words) // 2] if words else None


def has_single(scene: Scene) -> bool:
    return _find_hidden(scene) is not None


def hide(scene: Scene) -> Changes:
    return {_IDS.fix(token=_find_hidden(scene) or 0): float(scene.model.tokenizer.mask_id or 0)}


def work_hidden(scene: Scene) -> Worked:
    token, hidden = _find_hidden(scene) or 0, scene.change(hide(scene))
    first = int(hidden.read_shares(token).argmax())
    numbers = {
        "word": scene.tokens[token],
        "name": _name_mask(scene),
        "mask": str(scene.model.tokenizer.mask_id),
        "guesses": hidden.tell_tops(3, token),
    }
    return Worked(1 if first == scene.trace.encoding.ids[token] else 2, numbers, _IDS.fix(token=token))


def check_own(scene: Scene, text: str, guess: str) -> Verdict:
    """A sentence, and how many tokens are expected of it."""
    count = read_whole(guess)
    if count is None:
        return Verdict(False, "Write how many tokens you expect, as a whole number.", counted=False)
    own = read_own(scene, text)
    if isinstance(own, Verdict):
        return own
    tokens = own.tokens
    listed = f": {' '.join(tokens)}" if len(tokens) <= _LISTED else ""
    if count == len(tokens):
        return Verdict(True, f"{write_count(count, 'token')}, as you said{listed}.")
    if count == len(tokens) - _ADDED:
        return Verdict(False, f"{len(tokens)}: {tokens[0]} and {tokens[-1]} are missing from your count.")
    return Verdict(False, f"{write_count(len(tokens), 'token')}{listed}.")


def work_own(scene: Scene) -> Worked:
    return Worked(0, {}, _IDS.fix(token=scene.token))
