"""What is read out of a trace: numbers that no step computes, worked out from recorded ones.

A module is named after what it is about: a page, a part of BERT, a document. What more than one of them needs is in
`ranking`, `digits`, `parts` (what a number is made of) and `claims` (sentences that are true of their numbers).
"""
