"""Arrays in, Plotly figures out."""
