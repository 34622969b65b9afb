"""Writes all that an app shows as lines of text, and finds where two records differ.

Words are compared exactly. Numbers, in whichever of the app's forms they are written, may differ as much as another
processor's rounding makes them: by one unit of the last digit that is written, or by what single precision cannot tell.
"""

import base64
import io
import json
import math
import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

import numpy as np
from google.protobuf.json_format import MessageToDict
from PIL import Image

from tests.derived.reading import decode

_FEW = 12  # numbers of an array that are written; of more, what they add up to in two ways
_ROUNDED = 2e-6  # so far may roundings of single precision put a sum of some numbers, the largest below 10
_ENORMOUS, _FLAGS = 1e9, 0.3  # what is no number is read as one of this size; so many may be none
_BLOCK = re.compile(
    r"\s*(?=<(?:div|p|li|ul|ol|tr|table|figure|section|details|summary|button|svg|path|rect|text|line|h\d)\b)"
)
_ALIKE = re.compile(  # on every card: the glossary's and the letters' meanings, and the signs that copy and save
    r'<span role="tooltip".*?</span>|<dl class="bv-letters">.*?</dl>|'
    r'<button class="bv-icon".*?</button>|<details class="bv-save">.*?</details>',
    re.DOTALL,
)
_RENDERED = re.compile(r'(<div class="bv-formula-line" data-tex="[^"]*").*?(?=</div>)', re.DOTALL)
_IMAGE = re.compile(r"data:image/(?:png|svg\+xml);base64,([\w+/=]+)")
_PACKED = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_POWER = re.compile(r"e|·10|\\times 10\^")  # before the power of ten
_NUMBER = re.compile(
    r"(?<![\w.#])[-−]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-−+]?\d+|·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|\\times 10\^\{-?\d+\})?(?!\w|\.\d)"
)
_PLAIN = str.maketrans("−⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "--0123456789", ",{}")
_LEFT_OUT = {
    *("id", "pageScriptHash", "deferredFileId"),  # which Streamlit gives
    *(
        "jsContent",
        "cssContent",
        "htmlContent",
        "jsSourcePath",
        "cssSourcePath",
        "isolateStyles",
    ),  # the same everywhere
    *("elementType", "wrap", "hideAnchor", "labelVisibility", "setValue", "widthConfig", "heightConfig", "tag"),
    *("colors", "pages", "template", "datarevision", "key"),
    "kept",  # which has a name that is another one in each session
}


def write(block) -> Iterator[str]:
    """Lines for each thing that is shown, in the order in which it stands. block: of AppTest."""
    for child in block.children.values():
        if hasattr(child, "children"):
            yield from write(child)
        else:
            yield from _write_one(child)


def _write_one(element) -> Iterator[str]:
    if element.type == "html":
        yield from _write_html(element.proto.body)
    elif element.type == "plotly_chart":
        yield f"chart {element.proto.id.partition('-chart-')[2]}"
        yield from _lay_out(json.loads(element.proto.spec))
    elif element.type in ("arrow_data_frame", "dataframe"):
        yield "table"
        yield from _lay_out({name: list(element.value[name]) for name in element.value.columns})
    elif not getattr(element.proto, "component_name", "").endswith(".script"):  # which draws nothing
        told = MessageToDict(element.proto)
        if "json" in told:
            told["json"] = json.loads(told["json"])
        yield element.type
        yield from _lay_out(told)


def _write_html(body: str) -> Iterator[str]:
    body = _IMAGE.sub(_describe_image, _ALIKE.sub("", body))
    for line in _BLOCK.sub("\n", _RENDERED.sub(r"\1>", body)).split("\n"):
        if line.strip():
            yield " ".join(line.split())


def _describe_image(found: re.Match) -> str:
    """What an embedded picture looks like: its size, and how bright it is where."""
    data = base64.b64decode(found[1])
    if data.startswith(b"<"):
        return data.decode("utf-8")
    pixels = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), dtype=np.float64).mean(axis=2)
    return f"image {pixels.shape[1]} x {pixels.shape[0]} {_sum_up(pixels)}"


def _lay_out(value: object, name: str = "") -> Iterator[str]:
    """Nested data: what holds nothing nested in a line, with the way to it."""
    if isinstance(value, dict) and "bdata" not in value:
        value = {key: one for key, one in value.items() if key not in _LEFT_OUT}
        leaves = {key: one for key, one in sorted(value.items()) if not _is_nested(one)}
        if leaves:
            yield f" {name} " + " ".join(f"{key}={_write_leaf(one)}" for key, one in leaves.items())
        for key in sorted(value.keys() - leaves.keys()):
            yield from _lay_out(value[key], f"{name}.{key}".strip("."))
    elif isinstance(value, list) and _is_nested(value):
        for i, one in enumerate(value):
            yield from _lay_out(one, f"{name}.{i}")
    else:
        yield f" {name}: {_write_leaf(value)}"


def _is_nested(value: object) -> bool:
    if isinstance(value, dict):
        return "bdata" not in value
    if isinstance(value, list):
        return any(_is_nested(one) or isinstance(one, list) for one in value)
    return False


def _write_leaf(value: object) -> str:
    value = decode(value)
    if isinstance(value, np.ndarray):
        return _write_array(value)
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list) and len(value) > 1 and all(one == value[0] for one in value):
        return f"{len(value)} times {_write_leaf(value[0])}"
    if isinstance(value, list):
        return f"[{' | '.join(map(_write_leaf, value))}]"
    if isinstance(value, str):
        numbers = _unpack(value)
        return " ".join(_write_html(value)) if numbers is None else _write_array(numbers)
    return json.dumps(value, ensure_ascii=False, default=str)


def _unpack(text: str) -> np.ndarray | None:
    """The numbers that are sent to the canvas as text; None where it is another text."""
    if len(text) < 8 or len(text) % 4 or not _PACKED.fullmatch(text):
        return None
    data = base64.b64decode(text)
    numbers = np.frombuffer(data[: len(data) // 4 * 4], "<f4")
    other = np.abs(numbers) > _ENORMOUS  # flags stand between them, or it is all words
    return np.where(other, np.nan, numbers) if other.mean() < _FLAGS else None


def _write_array(values: np.ndarray) -> str:
    shape = " x ".join(map(str, values.shape))
    if values.size > _FEW:
        return f"{shape}: {_sum_up(values)}"
    return f"{shape}: [{_round(values.ravel())}]"


def _sum_up(values: np.ndarray) -> str:
    """The mean of many numbers, plain and with weights that tell their places apart."""
    flat = np.nan_to_num(values.ravel().astype(np.float64))
    weights = np.cos(np.arange(flat.size))
    size = float(np.sqrt(np.mean(flat**2)))
    return _round(np.array([flat.mean(), (flat * weights).mean(), size]), size)


def _round(values: np.ndarray, size: float | None = None) -> str:
    """Numbers with as many decimals as the largest needs for three digits."""
    size = float(np.nanmax(np.abs(values), initial=0.0)) if size is None else size
    decimals = max(0, 2 - math.floor(math.log10(size))) if 0 < size < math.inf else 0
    return " ".join("-" if np.isnan(one) else f"{one:.{decimals}f}" for one in values)


def find_differences(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, str, str]]:
    """Where two records differ: the line's number from 1, and what stands there in each."""
    pairs = zip_longest(before, after, fillvalue="")
    return [(number, one, other) for number, (one, other) in enumerate(pairs, 1) if not _agree(one, other)]


def _agree(one: str, other: str) -> bool:
    if one == other:
        return True
    one, other = (text.replace(r"\.", ".") for text in (one, other))  # in Markdown
    if _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
        return False
    return all(map(_is_near, _NUMBER.findall(one), _NUMBER.findall(other)))


def _is_near(one: str, other: str) -> bool:
    if one == other:
        return True
    if not any("." in text or _POWER.search(text) for text in (one, other)):
        return False  # whole numbers are counted, not computed
    (a, unit), (b, other_unit) = map(_read, (one, other))
    return abs(a - b) <= max(1.01 * max(unit, other_unit), _ROUNDED, 1e-3 * abs(a))


def _read(text: str) -> tuple[float, float]:
    """A number in any of the forms in which one is written, and the unit of its last digit."""
    factor, _, power = _POWER.sub("e", text).translate(_PLAIN).partition("e")
    return float(f"{factor}e{power or 0}"), 10.0 ** (int(power or 0) - len(factor.partition(".")[2]))
