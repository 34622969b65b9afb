"""Files in, a Model out: weights, tokenizer, the hub.

`hub` finds the folder, `weights` and `tokenizer` read its files, `model` puts them together, and `shelf` keeps
models for all sessions.
"""
