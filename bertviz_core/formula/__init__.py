"""A formula as data: named axes, numbers, nodes, notations, steps, and one cell explained."""
