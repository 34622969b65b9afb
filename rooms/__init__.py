"""A class in a room: a question on the projector, answers from phones that are counted, and no names."""
