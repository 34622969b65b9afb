"""Every number that a page derives, calculated once more in plain NumPy or by Hugging Face."""
