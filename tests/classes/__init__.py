"""A class in a room: what is asked, kept, counted, served and shown."""
