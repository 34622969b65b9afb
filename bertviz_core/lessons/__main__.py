"""Writes docs/teaching.md: `python -m bertviz_core.lessons > docs/teaching.md`; handouts: `… handouts --out FOLDER`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bertviz_core.checkpoint.hub import BUNDLED
from bertviz_core.checkpoint.model import load_model
from bertviz_core.errors import BertvizError
from bertviz_core.lessons.handouts import write_handouts
from bertviz_core.lessons.notes import write_notes
from bertviz_core.lessons.printing import find_browser, print_page


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bertviz_core.lessons", description=__doc__)
    commands = parser.add_subparsers(dest="command")
    handouts = commands.add_parser("handouts", help="a handout with its key of every lesson, as HTML and as PDF")
    handouts.add_argument("--out", type=Path, required=True, help="the folder in which they are written")
    handouts.add_argument("--text", default="", help="a sentence of your own; without one each lesson has its own")
    handouts.add_argument("--model", default=BUNDLED, help="a folder or a model of the Hugging Face hub")
    handouts.add_argument("--address", default="", help="where your students open the app, for the code on the sheet")
    return parser.parse_args()


def _make_handouts(asked: argparse.Namespace) -> int:
    """Write them, and print them where there is a browser; the exit status."""
    try:
        pages = write_handouts(asked.out, load_model(asked.model), asked.text, asked.address)
    except (BertvizError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    browser = find_browser()
    if browser is None:
        sys.stderr.write(
            "No Chromium or Chrome was found: there are no PDFs. Open the HTML in a browser and print it.\n"
        )
    for page in pages:
        pdf = page.with_suffix(".pdf")
        try:
            if browser is not None:
                print_page(browser, page, pdf)
        except OSError as error:
            sys.stderr.write(f"{error}\n")
        sys.stdout.write(f"{pdf if pdf.exists() else page}\n")
    return 0


def main() -> int:
    asked = _read_arguments()
    if asked.command == "handouts":
        return _make_handouts(asked)
    sys.stdout.write(write_notes(load_model(BUNDLED)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
