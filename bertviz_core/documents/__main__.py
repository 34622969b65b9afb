"""Writes docs/documents.md: `python -m bertviz_core.documents > docs/documents.md`."""

import sys

from bertviz_core.documents import write_tables

sys.stdout.write(write_tables())
