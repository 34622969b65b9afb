"""One tensor on screen: its chart, its formula, its values.

`panel` shows what a step computes, `derived` what is worked out from it, `passes` both passes of a what-if. Tables are
`tables`, `aligned` and `printed_grid`, each written with `table_html`.
"""
