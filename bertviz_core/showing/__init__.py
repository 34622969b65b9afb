"""What a trace, an explanation and a chart show of themselves outside of the app: in a notebook, in a file."""
