"""Short LaTeX as HTML, for where nothing typesets LaTeX: letters in italics, indices, roots, accents, classes."""

from __future__ import annotations

import html
import re
import unicodedata
from collections import deque

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s|.")
_TAG = re.compile(r"<[^>]*>")
_GREEK = {rf"\{name}": sign for name, sign in (
    ("beta", "β"), ("gamma", "γ"), ("epsilon", "ϵ"), ("varepsilon", "ε"), ("eta", "η"), ("lambda", "λ"), ("mu", "μ"),
    ("sigma", "σ"), ("ell", "ℓ"), ("partial", "∂"), ("theta", "θ"), ("alpha", "α"), ("pi", "π"), ("Delta", "Δ"),
    ("Sigma", "Σ"),
)}  # fmt: skip
_SIGNS = {  # with a space on either side
    "+": "+", "-": "−", "=": "=", "/": "∕", r"\cdot": "·", r"\times": "×", r"\odot": "⊙", r"\in": "∈", r"\approx": "≈",
    r"\to": "→", r"\oplus": "⊕", r"\neq": "≠",
}  # fmt: skip
_PLAIN = {
    "'": "′", r"\,": " ", r"\ ": " ", r"\left": "", r"\right": "", r"\sum": "Σ", r"\top": "⊤", r"\llbracket": "⟦",
    r"\rrbracket": "⟧", r"\log": "log", r"\tanh": "tanh", r"\max": "max", r"\sin": "sin",
    r"\cos": "cos", r"\infty": "∞", r"\quad": "\u2003", r"\qquad": "\u2003", r"\;": " ", r"\!": "", r"\big": "",
    r"\lVert": "‖", r"\rVert": "‖", r"\|": "‖", r"\lvert": "|", r"\rvert": "|", r"\vert": "|", r"\dots": "…",
    r"\ldots": "…", r"\textstyle": "", r"\displaystyle": "", r"\exp": "exp", r"\arg": "arg", r"\prod": "Π",
    r"\Phi": "Φ", r"\nabla": "∇",
}  # fmt: skip
_ACCENTS = {r"\hat": "\u0302", r"\widehat": "\u0302", r"\bar": "\u0304", r"\tilde": "\u0303"}
_UPRIGHT = {r"\mathrm", r"\mathtt", r"\text", r"\operatorname", r"\mathbf"}
_SPANS = {r"\htmlClass": 'class="', r"\textcolor": 'style="color:'}
_INDICES = {"_": "sub", "^": "sup"}


def write_html(tex: str) -> str:
    r"""A formula of one line as HTML; `\htmlClass{name}{…}` and `\textcolor{#123456}{…}` become spans.

    Raises ValueError for a command that has no sign here.
    """
    return _Reader(tex).read()


def write_words(tex: str) -> str:
    """The same as plain text, an index behind a space: `GELU tanh`."""
    return html.unescape(_TAG.sub("", write_html(tex).replace("<sub>", " ")))


class _Reader:
    def __init__(self, tex: str) -> None:
        self._tokens = deque(_TOKEN.findall(tex))

    def read(self) -> str:
        """Everything up to the brace that closes here, or to the end."""
        parts: list[str] = []
        while self._tokens and (token := self._tokens.popleft()) != "}":
            sign = _SIGNS.get(token)
            if sign:
                behind = "".join(parts).rstrip()
                lone = token == "-" and (not behind or behind[-1] in "(=⟦")  # in front of a number, not between two
                parts.append(sign if lone else f" {sign} ")
            else:
                parts.append(self._item(token))
        return re.sub(" +", " ", "".join(parts)).strip()

    def _item(self, token: str) -> str:
        if token in _PLAIN:
            return _PLAIN[token]
        if token in _GREEK or (token.isalpha() and token.isascii()):
            return f"<i>{_GREEK.get(token, token)}</i>"
        if token in _INDICES:
            return f"<{_INDICES[token]}>{self._argument()}</{_INDICES[token]}>"
        if token in _ACCENTS:
            return self._accented(_ACCENTS[token])
        if token in _UPRIGHT or token in _SPANS:
            given = html.escape(self._raw())
            return given if token in _UPRIGHT else f'<span {_SPANS[token]}{given}">{self._argument()}</span>'
        return self._composed(token) if token == "{" or len(token) > 1 else html.escape(token.strip())

    def _composed(self, token: str) -> str:
        match token:
            case "{":
                return self.read()
            case r"\underset":
                below = self._argument()
                return f"{self._argument()}<sub>{below}</sub>"
            case r"\sqrt":
                inner = self._argument()
                return f"√({inner})" if " " in _TAG.sub("", inner) else f"√{inner}"
            case r"\frac":
                return f"{self._argument()}∕{self._argument()}"
            case r"\dfrac":
                above, below = self._argument(), self._argument()
                return f'<span class="bv-fraction"><span>{above}</span><span>{below}</span></span>'
            case _:
                raise ValueError(f"{token} has no sign in text; give it one in {__name__}")

    def _argument(self) -> str:
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
                return text[1:].replace(r"\_", "_")
            text += token

    def _accented(self, accent: str) -> str:
        """An accent over the first letter of what follows."""
        inner = self._argument()
        return unicodedata.normalize("NFC", re.sub(r"^((?:<[^>]*>)*.)", rf"\1{accent}", inner, count=1))
