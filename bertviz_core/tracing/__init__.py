"""A Model and a text in, every number out: layout, changes, trace, store."""
