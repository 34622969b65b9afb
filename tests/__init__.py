"""Tests of the engine, the figures and the pages."""
