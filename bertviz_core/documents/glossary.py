"""Words that a newcomer cannot know, each with a sentence. One list for the whole app."""

from __future__ import annotations

GLOSSARY: dict[str, str] = {}
