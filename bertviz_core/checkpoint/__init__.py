"""Files in, a Model out: weights, tokenizer, the hub."""
