"""Writes docs/teaching.md: `python -m bertviz_core.lessons > docs/teaching.md`."""

import sys

from bertviz_core.lessons.notes import write_notes

sys.stdout.write(write_notes())
