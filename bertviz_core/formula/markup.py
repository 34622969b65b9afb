"""Short LaTeX as HTML, for where nothing typesets LaTeX: letters in italics, indices, roots, accents, classes."""

from __future__ import annotations

import html
import re
import unicodedata
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|:=|\s|.")
_BREAK = re.compile(r"\\\\(?:\[\w+\])?")  # which may say how far below the next line stands
_LINES = re.compile(r"\\(?:footnotesize)?\s*\\begin\{aligned\}|\\begin\{aligned\}|\\end\{aligned\}")
_CASES = re.compile(r"\\begin\{cases\}(.*?\\\\.*?)\\end\{cases\}", re.DOTALL)
_FRACTION = re.compile(r"\\t?frac(?![a-z])")
_GOES_ON = re.compile(r"\s*(?::?=|\\(?:approx|neq)\b)")  # a line that is the same formula as that above it
_TAG = re.compile(r"<[^>]*>")
_SMALL = re.compile(r"<su[bp]>(?:<[^>]*>)*([^<]*)(?:<[^>]*>)*?</su[bp]>")
_STACKED = 3.0  # ems that a fraction saves, as one part of it stands over the other
_WIDE = {**dict.fromkeys(".,' ", 0.27), **dict.fromkeys("()·∕", 0.4), **dict.fromkeys("−+=×", 0.78), "…": 1.2}  # in ems
_GREEK = {rf"\{name}": sign for name, sign in (
    ("beta", "β"), ("gamma", "γ"), ("epsilon", "ϵ"), ("varepsilon", "ε"), ("eta", "η"), ("lambda", "λ"), ("mu", "μ"),
    ("sigma", "σ"), ("ell", "ℓ"), ("partial", "∂"), ("theta", "θ"), ("alpha", "α"), ("pi", "π"), ("Delta", "Δ"),
    ("Sigma", "Σ"), ("rho", "ρ"),
)}  # fmt: skip
_SIGNS = {  # with a space on either side
    "+": "+", "-": "−", "=": "=", "/": "∕", r"\cdot": "·", r"\times": "×", r"\odot": "⊙", r"\in": "∈", r"\approx": "≈",
    r"\to": "→", r"\oplus": "⊕", r"\neq": "≠", ":=": ":=",
}  # fmt: skip
_PLAIN = {
    "'": "<sup>′</sup>",  # the sign itself is as large as a letter
    r"\,": " ", r"\ ": " ", r"\left": "", r"\right": "", r"\sum": "Σ", r"\top": "⊤", r"\llbracket": "⟦",
    r"\rrbracket": "⟧", r"\log": "log", r"\tanh": "tanh", r"\max": "max", r"\sin": "sin",
    r"\cos": "cos", r"\infty": "∞", r"\quad": "\u2003", r"\qquad": "\u2003", r"\;": " ", r"\!": "", r"\big": "",
    r"\lVert": "‖", r"\rVert": "‖", r"\|": "‖", r"\lvert": "|", r"\rvert": "|", r"\vert": "|", r"\dots": "…",
    r"\ldots": "…", r"\textstyle": "", r"\displaystyle": "", r"\exp": "exp", r"\arg": "arg", r"\prod": "Π",
    r"\{": "{", r"\}": "}", r"\Phi": "Φ", r"\nabla": "∇", r"\leftarrow": "←", r"\setminus": "∖",
}  # fmt: skip
_ACCENTS = {r"\hat": "\u0302", r"\widehat": "\u0302", r"\bar": "\u0304", r"\tilde": "\u0303"}
_UPRIGHT = {r"\mathrm", r"\mathtt", r"\text", r"\operatorname", r"\mathbf"}
_SPANS = {r"\htmlClass": 'class="', r"\textcolor": 'style="color:'}
_SCRIPTS = {"_": "sub", "^": "sup"}


@lru_cache(maxsize=1 << 11)
def write_html(tex: str) -> str:
    r"""A formula of one line as HTML; `\htmlClass{name}{…}` and `\textcolor{#123456}{…}` become spans.

    Raises ValueError for a command that has no sign here.
    """
    return _join(_Reader(tex).read())


def flatten(tex: str) -> str:
    """LaTeX of several lines in one: its formulas behind each other, where a line goes on with one without a comma."""
    line = ""
    for row in _BREAK.split(_LINES.sub("", _CASES.sub(_list_cases, tex))):
        apart = bool(line.strip())
        for place, part in enumerate(row.split("&")):
            apart |= place > 0 and place % 2 == 0  # a formula takes two columns
            if part.strip():
                line = rf"{line.rstrip()} ,\quad {part.lstrip()}" if apart and not _GOES_ON.match(part) else line + part
                apart = False
    return _FRACTION.sub(r"\\dfrac", line.strip())


def _list_cases(cases: re.Match[str]) -> str:
    """Each value with its condition behind it."""
    rows = [row.partition("&") for row in _BREAK.split(cases[1])]
    return r",\quad ".join(rf"{value.strip()}\;({condition.strip()})" for value, _, condition in rows)


def write_words(tex: str) -> str:
    """The same as plain text, an index behind a space: `GELU tanh`."""
    return html.unescape(_TAG.sub("", write_html(tex).replace("<sub>", " ")))


def measure_ems(text: str) -> float:
    """About how wide a formula as HTML is, in heights of its letters."""
    stacked = text.count("bv-fraction") * _STACKED
    plain = html.unescape(_TAG.sub("", _SMALL.sub(r"\1", text)))
    return max(0.0, sum(_WIDE.get(sign, 0.52) for sign in plain) - stacked)


@dataclass(frozen=True)
class _Piece:
    """What stands in a formula by itself. scripts: behind it, `sub` and `sup`; end: of a span around all of it."""

    text: str
    scripts: Mapping[str, str] = field(default_factory=dict[str, str])
    end: str = ""

    def write(self) -> str:
        written = "".join(f"<{tag}>{script}</{tag}>" for tag, script in self.scripts.items())
        if len(self.scripts) > 1:
            written = f'<span class="bv-scripts">{written}</span>'
        return f"{self.text}{written}{self.end}"


def _join(pieces: list[_Piece]) -> str:
    return re.sub(" +", " ", "".join(piece.write() for piece in pieces)).strip()


def _write_root(inner: str) -> _Piece:
    """A root, whose sign is drawn as high as what is below it; who does not see it is told by a sign and brackets."""
    several = " " in _TAG.sub("", inner)
    return _Piece(f'<span class="bv-root"><s>√{"(" * several}</s>{inner}<s>{")" * several}</s></span>')


class _Reader:
    def __init__(self, tex: str) -> None:
        self._tokens = deque(_TOKEN.findall(tex))

    def read(self) -> list[_Piece]:
        """Everything up to the brace that closes here, or to the end."""
        pieces: list[_Piece] = []
        while self._tokens and (token := self._tokens.popleft()) != "}":
            if token in _SIGNS:
                behind = _join(pieces)
                lone = token == "-" and (not behind or behind[-1] in "(=⟦")  # in front of a number, not between two
                pieces.append(_Piece(_SIGNS[token] if lone else f" {_SIGNS[token]} "))
            elif token in _SCRIPTS:
                self._add_script(pieces, _SCRIPTS[token])
            elif not token.isspace():
                pieces.append(self._item(token))
        return pieces

    def _add_script(self, pieces: list[_Piece], tag: str) -> None:
        """Put what follows above or below what stands last, or behind it where something stands there already."""
        if not pieces or tag in pieces[-1].scripts:
            pieces.append(_Piece(""))
        last = pieces[-1]
        pieces[-1] = replace(last, scripts={**last.scripts, tag: self._argument().write()})

    def _item(self, token: str) -> _Piece:
        if token in _PLAIN:
            return _Piece(_PLAIN[token])
        if token in _GREEK or (token.isalpha() and token.isascii()):
            return _Piece(f"<i>{_GREEK.get(token, token)}</i>")
        if token in _ACCENTS:
            return self._accented(_ACCENTS[token])
        if token in _UPRIGHT:
            return _Piece(html.escape(self._raw()))
        if token in _SPANS:
            start, inner = f'<span {_SPANS[token]}{html.escape(self._raw())}">', self._argument()
            return replace(inner, text=f"{start}{inner.text}", end=f"{inner.end}</span>")
        return self._composed(token) if token == "{" or len(token) > 1 else _Piece(html.escape(token))

    def _composed(self, token: str) -> _Piece:
        match token:
            case "{":
                inner = self.read()
                return inner[0] if len(inner) == 1 else _Piece(_join(inner))
            case r"\underset":
                below, what = self._argument(), self._argument()
                return _Piece(what.write(), {"sub": below.write()})
            case r"\sqrt":
                return _write_root(self._argument().write())
            case r"\frac" | r"\tfrac":
                return _Piece(f"{self._argument().write()}∕{self._argument().write()}")
            case r"\dfrac":
                above, below = self._argument().write(), self._argument().write()
                return _Piece(f'<span class="bv-fraction"><span>{above}</span><span>{below}</span></span>')
            case _:
                raise ValueError(f"{token} has no sign in text; give it one in {__name__}")

    def _argument(self) -> _Piece:
        """What stands in the next braces, or the one sign that stands for it."""
        token = self._tokens.popleft()
        while token.isspace():
            token = self._tokens.popleft()
        return self._item(token)

    def _raw(self) -> str:
        """The text in the next braces, unread."""
        text, depth = "", 0
        while True:
            token = self._tokens.popleft()
            depth += {"{": 1, "}": -1}.get(token, 0)
            if not depth:
                return text[1:].replace(r"\_", "_").replace(r"\#", "#")
            text += token

    def _accented(self, accent: str) -> _Piece:
        """An accent over the first letter of what follows."""
        inner = self._argument()
        text = re.sub(r"^((?:<[^>]*>)*.)", rf"\1{accent}", inner.text, count=1)
        return replace(inner, text=unicodedata.normalize("NFC", text))
