"""What pages say in sentences, checked: random states, the sentences of all pages, and oracles in plain NumPy."""
