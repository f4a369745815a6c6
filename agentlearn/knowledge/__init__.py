"""What is known, in a small database: facts, procedures and patterns, found by search.

values    the three kinds, checked and cleaned
database  the SQLite file: opened, made, brought up to date, told what is wrong with it
base      what is in it: store, recall, forget
words     how texts and queries become words that can be compared
recall    which items answer a query, and how well: one number that means the same everywhere
portable  JSON lines out and in, and what has not been of use for long
context   the block for the next prompt, from what was said last
tools     recall and store for agents, one implementation for every door
"""
