"""One number explained, in the way of its formula: a template for each kind of operation, whatever page it is on."""
