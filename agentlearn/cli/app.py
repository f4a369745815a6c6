"""The command line: a command a module, imported when it is called.

All errors that a person can mend end here, as `error:` and `hint:` on stderr with their exit
code. Bugs keep their traceback.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from agentlearn.errors import AgentlearnError, BadInput

COMMANDS = {
    "sessions": "list sessions: what was asked, how long it took, how it ended",
    "returns": "what each session was worth: rewards and discounted returns",
    "trajectory": "a line per turn: action, observation, reward, return",
    "render": "a session as text within a budget of characters",
    "convert": "any session as native JSON lines",
    "record": "write a session from a shell script, a line per call",
    "audit": "does the reward predict the truth? AUC against labels",
    "review": "write skills and memory from what sessions show",
    "distill": "an answer from sessions too long for any prompt, with its lines",
    "reflexion": "run an agent on a task until a command says that it is done",
    "remember": "keep a fact, a procedure or a pattern",
    "recall": "find what is known, or the conventions of a folder",
    "forget": "forget what is known under an id",
    "knowledge": "export, import and prune what is known",
    "inject": "what is known that bears on a conversation, for its next prompt",
    "hook": "what agents call when a session starts, is prompted or ends",
    "mcp": "a server for agents that speak the Model Context Protocol",
    "init": "make this project ready: folders, and what an agent needs to read them",
    "skills": "the skills: list, show, pin",
    "memory": "what the memory says, who wrote it and how full it is",
    "log": "the changes to skills and memory, the newest first",
    "why": "where a skill, a note or a change comes from",
    "revert": "take changes back",
    "diff": "what waits for approval",
    "adopt": "make the changes that wait",
    "discard": "drop the changes that wait",
    "check": "a linter for skills and memory",
    "events": "what runs said of themselves, as it happens",
    "usage": "what runs came to: outcomes, tokens, time",
    "config": "every setting, its value and where it came from",
}
INTERRUPTED = 130
UsageError: Any = typer.BadParameter.__mro__[1]
"""The class behind every usage error; typer has it, but does not export it."""


class ErrorBoundary(TyperGroup):
    """A group that imports its commands late and turns known errors into two lines."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        if cmd_name not in self.commands:
            self.commands[cmd_name] = load_command(cmd_name)
        return self.commands[cmd_name]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        # Near matches are looked for among the loaded commands: load them all before failing.
        if args and args[0] not in COMMANDS:
            for name in COMMANDS:
                self.get_command(ctx, name)
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Wrong words on the command line are told like every other error."""
        if not standalone_mode:
            return super().main(*args, standalone_mode=False, **extra)  # type: ignore[misc]
        try:
            code = super().main(*args, standalone_mode=False, **extra)  # type: ignore[misc]
        except UsageError as error:
            code = _explain_usage(error)
        except SystemExit:
            # So the framework ends where a pipe was closed before it could print the help.
            if type(sys.stdout).__name__ != "PacifyFlushWrapper":
                raise
            code = 0
        sys.exit(_flushed(code or 0))

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except AgentlearnError as error:
            complain(error)
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None
        except OSError as error:
            if error.filename is not None:
                raise
            raise typer.Exit(_not_written(error, 0)) from None


def _explain_usage(error: Any) -> int:
    name = error.ctx.command_path if error.ctx else "agentlearn"
    if type(error).__name__ == "NoArgsIsHelpError":
        print(error.ctx.get_help())
        return 0
    message = error.format_message().rstrip(".")
    hint = f"{name} --help shows what it takes"
    if "Did you mean" in message:
        message, _, near = message.partition(" Did you mean ")
        hint = f"did you mean {near}"
    elif "(Possible options: " in message:
        message, _, near = message.partition(" (Possible options: ")
        hint = f"did you mean {near.rstrip(')')}?"
    message = message.rstrip(".")
    complain(BadInput(f"{message[:1].lower()}{message[1:]}", hint))
    return BadInput.exit_code


def complain(error: AgentlearnError) -> None:
    from agentlearn.guard import one_sentence

    print(f"error: {one_sentence(error.message)}", file=sys.stderr)
    if error.hint:
        print(f"hint: {one_sentence(error.hint)}", file=sys.stderr)


def _flushed(code: int) -> int:
    """The exit code, once the last of the result is written."""
    try:
        sys.stdout.flush()
    except OSError as error:
        return _not_written(error, code)
    return code


def _not_written(error: OSError, code: int) -> int:
    """A full disk is an error, `agentlearn … | head` is none; Python shall not say it again."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return code
    complain(AgentlearnError(f"cannot write the result: {error.strerror or error}"))
    return code or AgentlearnError.exit_code


def load_command(name: str) -> Any:
    module = import_module(f"agentlearn.cli.{name}")
    single = typer.Typer(
        add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False
    )
    single.command(name=name, help=module.__doc__, short_help=COMMANDS[name])(module.main)
    return typer.main.get_command(single)


def _show_version(wanted: bool) -> None:
    if wanted:
        from agentlearn import __version__

        print(f"agentlearn {__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=ErrorBoundary,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def program(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Turns what coding agents did into what they know next time."""


def _leave(number: int, frame: Any) -> None:
    """Asked to end: what is unfinished is cleared away on the way out."""
    sys.exit(128 + number)


def run() -> None:
    import gc

    # Sessions are trees of values without cycles: looking for cycles at the usual rate takes a
    # tenth of the time of reading them.
    gc.set_threshold(100_000, 20, 50)
    import os
    import signal

    # Closed by the caller, who wants none of it; None would mean the other one to print().
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115
    for name in ("SIGTERM", "SIGHUP", "SIGQUIT"):  # a closed terminal ends what was started, too
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _leave)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # no locale, and no name of a file, ends a run
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="agentlearn")
