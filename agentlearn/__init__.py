"""agentlearn turns what coding agents did into what they know next time."""

__version__ = "0.1.0"
