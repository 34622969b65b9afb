"""What all sessions of a process share: its memory, what is kept in it, its threads, and turns in a fair order."""
