"""The pages of a class and their files, as browsers get them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from edge.streamlit_files import find_static

_HERE = Path(__file__).parent / "browser"
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
_STYLED = re.compile(rb'<link rel="stylesheet" href="\.\./rooms/((?:rooms|join|lead)\.css)">')
_FONTS = (("Source Sans", "SourceSansVF"), ("Source Code Pro", "SourceCodeVF"))


class Files:
    """The pages and their files, which a browser asks for anew each time and takes again where they are the same."""

    def __init__(self) -> None:
        files = {path.name: path.read_bytes() for path in _HERE.iterdir() if path.suffix in _TYPES}
        self._files = {name: _hold_styles(file, files) for name, file in files.items()}
        self._files["font.css"] = _write_fonts().encode()
        self._tags = {name: f'"{hashlib.sha256(file).hexdigest()[:16]}"' for name, file in self._files.items()}

    async def give(self, request: Request, name: str = "") -> Response:
        name = name or request.path_params["name"]
        if name not in self._files:
            return PlainTextResponse("There is no such file.\n", 404)
        told = {"Cache-Control": "no-cache", "ETag": self._tags[name]}
        if request.headers.get("if-none-match", "").removeprefix("W/") == self._tags[name]:
            return Response(status_code=304, headers=told)
        return Response(self._files[name], media_type=_TYPES[Path(name).suffix], headers=told)


def _hold_styles(page: bytes, files: Mapping[str, bytes]) -> bytes:
    """A page that holds its own styles, so that it is drawn as soon as it has come itself."""
    return _STYLED.sub(lambda found: b"<style>\n%s</style>" % files[found[1].decode()], page)


def _write_fonts() -> str:
    """The app's letters for the projector: Streamlit's own files, whose names hold a hash. Phones use their own."""
    media = find_static() / "static" / "media"
    found = ((family, file.name) for family, start in _FONTS for file in media.glob(f"{start}-Upright.*.woff2"))
    return "".join(
        f'@font-face {{ font-family: "{family}"; font-weight: 200 900; src: url("../static/media/{name}"); }}\n'
        for family, name in found
    )
