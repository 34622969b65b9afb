"""Pages of HTML as PDF, by the Chromium or Chrome of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_ELSEWHERE = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
_LONGEST_S = 120.0


def find_browser() -> str | None:
    """The program that prints; None where there is none."""
    found = (shutil.which(name) for name in _NAMES)
    return next((each for each in (*found, *_ELSEWHERE) if each and Path(each).exists()), None)


def print_page(browser: str, page: Path, pdf: Path) -> None:
    """Print a file of HTML as its own style says. Raises OSError where the browser made no PDF."""
    pdf.unlink(missing_ok=True)
    root = hasattr(os, "geteuid") and os.geteuid() == 0  # for whom Chromium refuses to run in its sandbox
    command = [
        browser,
        "--headless",
        "--disable-gpu",
        *(["--no-sandbox"] if root else []),
        "--no-pdf-header-footer",
        f"--print-to-pdf={pdf.resolve()}",
        page.resolve().as_uri(),
    ]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=_LONGEST_S)
    except subprocess.SubprocessError as error:
        raise OSError(f"{browser} could not print {page}: {error}") from error
    if not pdf.exists():
        raise OSError(f"{browser} made no PDF of {page}.")
