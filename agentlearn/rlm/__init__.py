"""A model reads what does not fit into a prompt, piece by piece (Recursive Language Models).

pages        a session on disk, with an index in memory: look at any part of it
outline      what there is, in one page: turns, tools, errors, the person's words
search       a pattern, looked for in a process of its own, within a time
citations    places that an answer names, checked to exist
tools        the closed set that an explorer has: outline, look, search, ask, ask_each, answer
asking       what a cheaper model says of a part: four at once, none paid for twice
explore      the loop: within limits, until there is an answer
by_evidence  an answer without a model: what the session itself shows
"""
