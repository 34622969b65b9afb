"""What stands on every page: the view, the controls, the what-if, the style.

`shell` runs a page within it. What it goes by: `keys` and `state` (what a session remembers), `url` (what of that the
URL says), `choices` (what a visitor changes in it), `view` (what a page draws from).
"""
