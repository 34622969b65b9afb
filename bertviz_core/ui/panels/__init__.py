"""One tensor on screen: its chart, its formula, its values."""
