"""Writes the tables of the documents as Markdown, as they stand in the README."""

import sys

from bertviz_core.documents import write_tables

sys.stdout.write(write_tables() + "\n")
