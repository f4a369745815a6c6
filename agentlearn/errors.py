"""What goes wrong in a way a person can mend: one sentence, and a command that can be pasted."""


class AgentlearnError(Exception):
    """Shown as `error: …` and `hint: …`, then the exit code; all else is a bug with a traceback."""

    exit_code = 1

    def __init__(self, message: str, hint: str | None = None, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if exit_code is not None:
            self.exit_code = exit_code


class BadInput(AgentlearnError):
    """A file, a name or a value that cannot be used as it was given."""

    exit_code = 2
