"""A Model and a text in, every number out: layout, changes, trace, store.

`trace` is the centre: a pass whose tensors are read by address. `layout` knows them before it runs, `changes` and
`rewrites` make it another pass, `store` keeps passes for all sessions.
"""
