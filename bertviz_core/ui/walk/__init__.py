"""One number, and the way back to what it was made from."""
