"""What all sessions of a process share: its memory, what is kept in it, its threads, and turns in a fair order.

`memory` says how much there is and `pool` who holds it; `line` is the order in which sessions get their turns, and
`findings` what is worked out between these, unasked.
"""
