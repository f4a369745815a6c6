"""Try, be judged, reflect, try again: an agent on a task, until a command says that it is done.

task       the file that says what to do and who judges, checked before anything runs
process    a command with limits, of which nothing is left running
workspace  a fresh copy for every attempt, and what became of it as a patch
evaluate   the judge: a shell command that the agent cannot touch
feedback   how much of what the judge said may be told
agent      whoever has a command line, or the small agent of our own (`built_in`)
reflect    what was learned from a failure, in words
run        the loop, a folder that says how far it came, and the way back after a kill
suite      several tasks, and whether they were solved sooner with reflections
"""
