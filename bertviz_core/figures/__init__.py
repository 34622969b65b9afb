"""Arrays in, chart specifications out: plain data that Plotly.js draws, and what a click on them means.

`base` makes a chart, `texts` what is written on it, `palette` its colours, `heatmap` any matrix; the other modules are
named after what they show.
"""
