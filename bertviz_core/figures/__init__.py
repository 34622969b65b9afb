"""Arrays in, chart specifications out: plain data that Plotly.js draws, and what a click on them means."""
