"""What pages show, written down: a record that people read when it changes.

Other tests say what must be true. This one notices what nobody thought of: each scene's pages, its frame and its drawer
are compared with the lines in SCENE.txt. Where a change is meant, `python -m tests.recorded [SCENE ...]` writes them
anew, and the difference is read before it is committed.
"""
