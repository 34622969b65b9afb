"""A pass as files that run without this project: a script, and an .ipynb file."""
