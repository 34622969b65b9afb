"""What every answer tells a browser to allow: one place for `streamlit run` and for nginx."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from dataclasses import dataclass

from edge.streamlit_files import read_inline_scripts

ANCESTORS = "BERTVIZ_FRAME_ANCESTORS"
CLOSED_TEXT = "The app takes no files, and what is for its operator is closed to visitors."
# One place that may show the app in a frame, as the Content-Security-Policy writes it. No character of these ends a
# directive, a header or a text in nginx's configuration.
_SOURCE = re.compile(r"'self'|'none'|\*|https?://(\*\.)?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:(\d{1,5}|\*))?|https?:")


@dataclass(frozen=True)
class Frames:
    """Where the app may be shown inside another page: sources of frame-ancestors, separated by spaces."""

    sources: str = "'self'"

    def __post_init__(self) -> None:
        wrong = [source for source in self.sources.split() if not _SOURCE.fullmatch(source)]
        if wrong or not self.sources.split():
            raise ValueError(
                f"{ANCESTORS} holds the places that may show the app in a frame, separated by spaces, such as "
                f"'self' https://huggingface.co https://*.hf.space, and not {' '.join(wrong) or 'nothing'}."
            )

    @property
    def foreign(self) -> bool:
        """Whether pages of other sites are among them."""
        return not set(self.sources.split()) <= {"'self'", "'none'"}


def read_frames() -> Frames:
    """Where the operator lets the app be shown; on pages of its own site where nothing was said."""
    return Frames(" ".join(os.environ.get(ANCESTORS, "").split()) or "'self'")


def list_headers(frames: Frames) -> dict[str, str]:
    """The headers of every answer, by name."""
    return {
        "Content-Security-Policy": _write_policy(frames),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",  # an address holds the visitor's sentence
        "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    }


def _write_policy(frames: Frames) -> str:
    """What a page may load and run, and who may show it."""
    allowed = {
        "default-src": "'self'",
        # Streamlit's files, the one script that its page holds, and the components, which it runs as blobs.
        "script-src": " ".join(["'self'", "blob:", "'wasm-unsafe-eval'", *_hash_inline_scripts()]),
        "style-src": "'self' 'unsafe-inline'",  # Streamlit, Plotly and KaTeX write styles as they draw
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "object-src": "'none'",
        "frame-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": frames.sources,
    }
    return "; ".join(f"{name} {sources}" for name, sources in allowed.items())


def _hash_inline_scripts() -> list[str]:
    """The scripts in Streamlit's page itself, as a policy names them."""
    return [
        f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'" for script in read_inline_scripts()
    ]


def write_cookie_rules(frames: Frames, encrypted: bool) -> str:
    """The attributes of a cookie. encrypted: whether the visitor's connection is: only then it may be Secure."""
    if not encrypted:
        return "SameSite=Lax"
    return "SameSite=None; Secure; Partitioned" if frames.foreign else "SameSite=Lax; Secure"
