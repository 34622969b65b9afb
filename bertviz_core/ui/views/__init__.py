"""The parts of single pages; the name of a module begins with its page's."""
