"""A formula as data: named axes, numbers, nodes, notations, steps, and one cell explained.

Begin with `dims`, `nodes` and `steps`: axes, expressions over them, programs of named expressions. `functions`,
`shapes` and the other modules of nodes hold more kinds; `explain`, `short` and `notations` read what is written so.
"""
