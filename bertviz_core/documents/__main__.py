"""Writes the tables of the documents as Markdown, as they stand in the README."""

import sys

from bertviz_core.documents import markdown

sys.stdout.write(markdown() + "\n")
