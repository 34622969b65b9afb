"""Components that run in the browser, without a build: each is a folder of modules, which are joined at the start.

Streamlit calls what a component's index.js exports; index.html and, where it has a style, index.css stand beside it.
What more than one of them needs is in shared/.
"""
