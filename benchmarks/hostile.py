"""What nobody means well with: texts, URLs and damaged checkpoints, each drawn by a generator of random numbers."""

from __future__ import annotations

import json
import random
import re
import shutil
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

_UI = Path(__file__).parents[1] / "bertviz_core" / "ui"
# All that a session remembers by a name, in the URL or not: whoever writes a URL need not know which is which.
PARAMETERS = sorted(
    {name for file in _UI.rglob("*.py") for name in re.findall(r'\bKey\("([\w-]+)"', file.read_text(encoding="utf-8"))}
)
_LESSONS = ("tokens", "embeddings", "attention", "layer", "words", "whatif", "before", "after")
_STEPS = (*map(str, range(13)), "end", "٣", "²", "1.0")
_WORDS = (
    "[CLS]",
    "[SEP]",
    "[PAD]",
    "[MASK]",
    "[UNK]",
    "##ing",
    "the",
    "naïve",
    "<script>alert(1)</script>",
    "$x^2$",
    "\\frac{1}{0}",
    "**b**",
    ":red[r]",
    "`",
    "{{x}}",
    "%s",
    "{0}",
    "../..",
    "https://x.y/?a=b",
    "\U0001f469\U0001f3fd\u200d\U0001f680",
    "مرحبا",
    "שלום",
    "東京",
    "हिन्दी",
    "ไทย",
    "Ω",
    "ǅ",
    "\ufb01",
    "İ",
    "ß",
    "-1",
    "1e309",
    "NaN",
    "\uff11\uff12\uff13",
    "'",
    "|",
    '"',
    "\u202eabc",
    "\u200b",
    "\ufeff",
    "\u0000",
    "\u001b[0m",
    "\r\n",
    "\u2028",
    "\U000e0041",
    "\U0010ffff",
    "é́́",
)
_NUMBERS = ("-1", "0", "1", "7", "99999999999", "1e309", "nan", "inf", "0x10", "٣", "²", "+1", " 1", "1.5", "", "true")
_ADDRESSES = (
    "embeddings.sum",
    "encoder.layer.1.attention.self.probs",
    "encoder.layer.0.output",
    "cls.predictions.logits",
    "qa_outputs",
    "J",
    "grad:encoder.layer.0",
    "input_ids",
    "bert.pooler.dense.weight",
    "made:x",
    "changes:encoder.layer.1.output",
    "0-0.1-2",
    "…",
)
_CELLS = (
    "",
    "[",
    "[]",
    "[token=1]",
    "[token=1,hidden=2]",
    "[head=0,query=1,key=1]",
    "[token=-1]",
    "[token=9e9]",
    "[token=1,token=1]",
    "[x=1]",
    ":0",
    ":0.5",
    ":nan",
    ":1e39",
    "~",
    "~~",
    "]",
    "=",
    ",,",
)
_JSON = (None, True, -1, 0, 1, 3.5, 10**12, "", "x", [], {}, [1], {"a": 1})
_LETTERS = 0x110000
_WIDE = 600  # words of the longest text


def draw_text(rng: random.Random) -> str:
    """A text of few parts mostly, sometimes of very many; it can be written as UTF-8."""
    count = rng.choice((0, 1, 2, 3, 5, 8, 13, 30, _WIDE if rng.random() < 0.05 else 4))
    parts = [rng.choice((_draw_word, _draw_letters, _draw_repeated))(rng) for _ in range(count)]
    return rng.choice((" ", "", "\n", "\u3000")).join(parts)


def _draw_word(rng: random.Random) -> str:
    return rng.choice(_WORDS)


def _draw_letters(rng: random.Random) -> str:
    """Letters of one block of Unicode, assigned or not, but no surrogates, which no text may hold."""
    start = rng.randrange(0, _LETTERS, 256)
    letters = (chr(min(start + rng.randrange(256), _LETTERS - 1)) for _ in range(rng.randrange(1, 9)))
    return "".join(letter for letter in letters if unicodedata.category(letter) != "Cs")


def _draw_repeated(rng: random.Random) -> str:
    return rng.choice(_WORDS) * rng.choice((2, 20, 200))


def draw_query(rng: random.Random) -> str:
    """What follows the question mark of a URL: known names, values that are none, bytes that are no text."""
    pairs = [(rng.choice(PARAMETERS), _draw_value(rng)) for _ in range(rng.randrange(1, 7))]
    if rng.random() < 0.3:
        pairs += [("lesson", rng.choice(_LESSONS)), ("step", rng.choice(_STEPS))]
    query = urlencode(pairs)
    if rng.random() < 0.2:
        query += "&" + rng.choice(
            ("%ff%fe=%", "=", "&&&", "a=b=c", quote(draw_text(rng)), "text=%00", "walk=%E2%80%A6~")
        )
    return query


def _draw_value(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.3:
        return draw_text(rng)[:3000]
    if kind < 0.6:
        return rng.choice(_NUMBERS)
    if kind < 0.9:
        return rng.choice(_ADDRESSES) + rng.choice(_CELLS) + rng.choice(_CELLS)
    return "z." + "".join(rng.choices("abcABC012-_=", k=rng.randrange(40)))


def damage(folder: Path, rng: random.Random) -> str:
    """Spoil one thing about a checkpoint's folder, if what was spoiled before allows it. Says what was done."""
    act: Callable[[Path, random.Random], str] = rng.choice(
        (_spoil_bytes, _spoil_header, _spoil_header, _spoil_config, _spoil_config, _spoil_vocabulary, _lose_file)
    )
    try:
        return act(folder, rng)
    except (OSError, ValueError, LookupError) as error:
        return f"nothing more ({error})"


def copy_checkpoint(source: Path, folder: Path) -> Path:
    """A copy to be spoiled."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    return folder


def _spoil_bytes(folder: Path, rng: random.Random) -> str:
    file = rng.choice(sorted(folder.iterdir()))
    data = bytearray(file.read_bytes())
    kind = rng.choice(("flip", "cut", "insert", "zero", "high"))
    at = rng.randrange(min(len(data), rng.choice((16, 2000, 10**9))) or 1)
    match kind:
        case "flip":
            data[at : at + 1] = bytes([rng.randrange(256)])
        case "cut":
            del data[at:]
        case "insert":
            data[at:at] = rng.randbytes(rng.choice((1, 7, 1000)))
        case _:
            length = rng.choice((1, 4, 64, 4096))
            data[at : at + length] = (b"\0" if kind == "zero" else b"\xff") * len(data[at : at + length])
    file.write_bytes(data)
    return f"{file.name}: {kind} at {at}"


def _spoil_header(folder: Path, rng: random.Random) -> str:
    """An entry of the safetensors header says something else; its length is kept right."""
    file = folder / "model.safetensors"
    data = file.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    said = _spoil_json(header, rng)
    text = json.dumps(header).encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + size :])
    return f"header: {said}"


def _spoil_config(folder: Path, rng: random.Random) -> str:
    file = rng.choice([folder / "config.json", *folder.glob("tokenizer*.json")])
    content = json.loads(file.read_text(encoding="utf-8"))
    said = _spoil_json(content, rng)
    file.write_text(json.dumps(content), encoding="utf-8")
    return f"{file.name}: {said}"


def _spoil_json(content: Any, rng: random.Random) -> str:
    """Somewhere inside, an entry is left out, doubled under another name, or has another value."""
    places = list(_list_places(content))
    inside, key = rng.choice(places)
    kind = rng.choice(("lose", "rename", "value", "value", "value"))
    if kind == "lose":
        del inside[key]
    elif kind == "rename" and isinstance(inside, dict):
        inside[f"{key}x"] = inside.pop(key)
    else:
        inside[key] = value = rng.choice((*_JSON, rng.choice(places)[1]))
        kind = f"value {value!r}"
    return f"{kind} at {key!r}"


def _list_places(content: Any) -> Sequence[tuple[Any, Any]]:
    keys = content if isinstance(content, dict) else range(len(content)) if isinstance(content, list) else ()
    return [place for key in keys for place in [(content, key), *_list_places(content[key])][:200]]


def _spoil_vocabulary(folder: Path, rng: random.Random) -> str:
    file = folder / "vocab.txt"
    lines = file.read_text(encoding="utf-8").splitlines()
    at = rng.randrange(len(lines))
    kind = rng.choice(("lose", "double", "empty", "hostile", "reverse"))
    match kind:
        case "lose":
            del lines[at]
        case "double":
            lines[at] = lines[0]
        case "empty":
            lines = []
        case "hostile":
            lines[at] = draw_text(rng)
        case _:
            lines.reverse()
    file.write_text("\n".join(lines), encoding="utf-8")
    for other in folder.glob("tokenizer.json"):
        other.unlink()
    return f"vocab.txt: {kind} at {at}"


def _lose_file(folder: Path, rng: random.Random) -> str:
    file = rng.choice(sorted(folder.iterdir()))
    file.unlink()
    return f"{file.name}: gone"
