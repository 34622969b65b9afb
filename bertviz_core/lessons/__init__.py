"""Lessons: what the app asks, and how an answer is marked from the pass that is on screen."""
