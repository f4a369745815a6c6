"""A model reads what does not fit into a prompt, piece by piece (Recursive Language Models).

pages         a session on disk, with an index in memory: look at any part of it
outline       what there is, in one page: turns, tools, errors, the person's words
search        a pattern, looked for in a process of its own, within a time
citations     places that an answer names, checked to exist
schemas       the closed set of tools that an explorer has, as models are told of them
tools         what they do
asking        what models are asked, which of them, and what it cost
cache         answers about parts that were paid for
side_by_side  several requests at once, that nobody waits for when it is over
explore       the loop: within limits, until there is an answer
by_evidence   an answer without a model: what sessions show themselves
fixes         commands that failed, and what made them work
variants      whether one command is another way to do the same
telling       how much a person's words may tell the next session
"""
