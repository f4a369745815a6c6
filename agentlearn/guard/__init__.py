"""What keeps hostile text harmless: text from a transcript is data, never markup or an order.

Only what every command needs is loaded with the package. The rest has a module of its own, so
that a start does not pay for it: `secrets` (passwords and keys), `hidden` (characters that
nobody sees) and `orders` (text that tries to command the agent that reads it).
"""

from agentlearn.guard.text import one_line, one_sentence, plain

__all__ = ["one_line", "one_sentence", "plain"]
