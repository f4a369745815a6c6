"""The commands in the lines that an agent's shell was given.

`GOCACHE=/tmp/c mise exec -- go test ./x` is the core `go test` with the wrapper `mise exec --`,
a variable, and arguments. Two commands with one core are variants of each other.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct, structs

from agentlearn.review.shell_lines import (
    had_to_work,
    is_muddled,
    pieces_of,
    words_before_code,
)
from agentlearn.review.showing import clean, shown_variable
from agentlearn.review.wrappers import environment_options, wrapper_length

VARIABLE = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
PREPARED = re.compile(
    r"(?:source|\.) (?:\./)?[\w.-]{1,30}(?:/[\w.-]{1,30}){0,3}|nvm use(?: [\w./]{1,12})?"
)
SILENT = ("sudo", "time", "nice", "command", "exec")
NO_COMMANDS = {
    "cd", "echo", "export", "set", "source", ".", "true", "false", "sleep", "printf", "pwd", "ls",
    "cat", "head", "tail", "wc", "mkdir", "touch", "cp", "mv", "rm", "sed", "awk", "tee", "sort",
    "uniq", "xargs", "find", "grep", "rg", "ag", "which", "test", "[", "date", "env", "ps", "kill",
    "curl", "wget", "jq", "tr", "cut", "diff", "tree", "stat", "file", "du", "df", "chmod", "then",
    "if", "for", "while", "do", "done", "fi", "else", "wait", "read", "type", "pgrep", "pkill",
    "nvm", "ssh", "scp", "rsync",
}  # fmt: skip
WITH_SUBCOMMAND = {
    "go", "cargo", "npm", "pnpm", "yarn", "bun", "deno", "git", "gh", "make", "just", "task",
    "mage", "rake", "mise", "docker", "uv", "poetry", "pip", "pip3", "dotnet", "mix", "swift",
    "zig", "bazel", "terraform", "kubectl", "helm", "pre-commit", "composer", "bundle", "gradle",
    "gradlew", "mvn", "mvnw", "sbt", "ruff", "turbo", "nx", "lerna", "rails", "artisan", "flutter",
    "dart", "prisma", "alembic", "xcodebuild", "firebase", "supabase", "aws", "gcloud", "az",
}  # fmt: skip
ALONE = {
    "python", "node", "bash", "sh", "zsh", "ruby", "perl", "pytest", "mypy", "pyright", "eslint",
    "prettier", "tsc", "jest", "vitest", "mocha", "rspec", "tox", "nox", "flake8", "pylint",
    "black", "isort", "golangci-lint", "gofmt", "rustc", "gcc", "clang", "cmake", "ninja", "psql",
    "sqlite3", "java", "javac", "php", "phpunit", "bats", "ctest", "rubocop", "biome", "open",
}  # fmt: skip
"""Programs whose first argument is no subcommand. Of one that is unknown, a plain word is."""
WITH_VALUE = {
    "-C", "-f", "-F", "-n", "-w", "--prefix", "--filter", "--dir", "--cwd", "--directory", "--file",
    "--namespace", "--workspace",
}  # fmt: skip
ALONE_OPTIONS = {
    "-s", "-q", "-v", "-y", "-r", "-j", "-j2", "-j4", "-j8", "-j16", "--silent", "--quiet",
    "--verbose", "--yes", "--offline", "--no-daemon",
}  # fmt: skip
"""Options before a subcommand, with the next word and without. After any other no subcommand is
looked for: what stands there may be its value, and a secret."""
ONLY_ASKS = {"--help", "--version", "help", "version"}
ASKS_AT_THE_END = {"-h", "-V"}
"""With something after it, -h names a host."""
RUNS_A_TASK = {("npm", "run"), ("pnpm", "run"), ("yarn", "run"), ("bun", "run"), ("mise", "run"),
               ("deno", "task"), ("docker", "compose"), ("bundle", "exec"), ("uv", "pip"),
               ("gh", "pr"), ("gh", "issue"), ("turbo", "run")}  # fmt: skip
SUBCOMMAND = re.compile(r"[a-z][\w:./-]{0,60}", re.IGNORECASE)
SAME = {"python3": "python", "pip3": "pip", "py.test": "pytest", "gradlew": "gradle",
        "mvnw": "mvn"}  # fmt: skip
VERSION = re.compile(r"@(?:[\^~v]?\d[\w.-]{0,19}|latest|next|lts)$")
OF_THE_PROJECT = re.compile(r"(?!\.\./)[\w.-]+(?:/[\w.-]+){1,5}")
"""A program that is called by its place in the project."""
CHECKS = re.compile(
    r"\b(?:lint\w*|golangci-lint|eslint|ruff|flake8|pylint|mypy|pyright|tsc|fmt|format|prettier|"
    r"clippy|rubocop|stylelint|vet|pre-commit|biome|checkstyle|ktlint|swiftlint|typecheck)\b"
)
BUILDS = re.compile(r"\b(?:build|compile|install|bundle|package|release|generate|codegen|sync)\b")
Topic = Literal["tests", "checks", "build", "commands"]
TESTS = ("check", "rspec", "jest", "tox")


class Part(Struct, frozen=True):
    """One simple command of a line."""

    core: tuple[str, ...]
    wrapper: tuple[str, ...]
    variables: tuple[str, ...]
    arguments: tuple[str, ...]
    program: str
    """As it was typed."""
    typed: tuple[str, ...] = ()
    """The program and what it is told to do, as it was typed, but for a place outside."""
    folder: str | None = None
    """Where a `cd` before it in the same line led."""
    prepared: str = ""
    """What was done in the same line so that it is found: `source .venv/bin/activate`."""
    counts: bool = True
    """If the line worked, this did: neither a pipe nor a `;` after it hides its result."""
    is_piped: bool = False
    in_background: bool = False
    code_after: str = ""
    """The words before its exit code in the output, where `; echo "exit=$?"` follows it."""
    is_muddled: bool = False
    """Another piece of the line prints texts, which may be anybody's: whose error it is that the
    line shows is not known."""

    @property
    def asks(self) -> bool:
        words = (*self.core, *self.arguments)
        return not ONLY_ASKS.isdisjoint(words) or words[-1] in ASKS_AT_THE_END

    @property
    def plain(self) -> str:
        return " ".join(self.core)

    @property
    def is_test(self) -> bool:
        return any("test" in word or word in TESTS for word in self.core)

    @property
    def topic(self) -> Topic:
        said = " ".join((*self.core, *self.arguments[:2]))
        if self.is_test and not ("test" not in self.plain and CHECKS.search(self.plain)):
            return "tests"  # `ruff check` is none
        if CHECKS.search(said):
            return "checks"
        return "build" if BUILDS.search(self.plain) else "commands"

    @property
    def shown(self) -> str:
        """How it was run, without the arguments that change from time to time."""
        return " ".join((*map(shown_variable, self.variables), self.shown_bare))

    @property
    def shown_bare(self) -> str:
        """Without the variables, too."""
        return clean(" ".join((*self.wrapper, *self.typed)))

    @property
    def shown_whole(self) -> str:
        """With the options that say for what it is run."""
        return " ".join((self.shown, *environment_options(self.arguments)))


def parts_of(command: str) -> list[Part]:
    """The commands of a line that are a project's, not the shell's."""
    pieces = pieces_of(command)
    muddled = is_muddled(pieces)
    folder: str | None = None
    prepared = ""
    exported: list[str] = []
    found: list[Part] = []
    for number, piece in enumerate(pieces):
        words = piece.words
        if words[0] == "cd" and len(words) > 1:
            folder = words[1]
        elif words[0] == "export":
            exported += [word for word in words[1:] if VARIABLE.fullmatch(word)]
        elif PREPARED.fullmatch(said := " ".join(words)):
            prepared = said
        elif (simple := _simple(words, tuple(exported))) is not None:
            found.append(
                structs.replace(
                    simple,
                    folder=folder,
                    prepared=prepared,
                    counts=had_to_work(pieces, number),
                    is_piped=piece.is_piped,
                    in_background=piece.joint == "&",
                    code_after=words_before_code(pieces, number),
                    is_muddled=muddled,
                )
            )
    return found


def _simple(words: list[str], exported: tuple[str, ...]) -> Part | None:
    variables, wrapper = list(exported), []
    words = [word for word in words if not re.fullmatch(r"\d?[<>]+&?\d?.*", word)]
    while words:
        if VARIABLE.fullmatch(words[0]):
            variables.append(words.pop(0))
        elif words[0] in ("env", "timeout") or words[0] in SILENT:
            words = _without_prefix(words)
        elif (length := wrapper_length(words)) > 0:
            wrapper += [word for word in words[:length] if word not in ALONE_OPTIONS]
            words = words[length:]
        else:
            break
    if not words:
        return None
    program = words.pop(0)
    name = VERSION.sub("", program).rpartition("/")[2].removesuffix(".exe")
    is_shells = name in NO_COMMANDS and not OF_THE_PROJECT.fullmatch(program)
    if is_shells or not re.fullmatch(r"[\w.+][\w.+-]{1,39}", name):
        return None
    name = SAME.get(name, name)
    if name == "docker-compose":
        name, words = "docker", ["compose", *words]
    core = [name]
    if name == "python" and words[:1] == ["-m"] and len(words) > 1:
        core = [words[1]]
        wrapper += [program, "-m"]
        words = words[2:]
    elif name in WITH_SUBCOMMAND or (
        name not in ALONE and words and re.fullmatch(r"[a-z][a-z-]{1,20}", words[0])
    ):
        before = _leading_options(words)
        if len(before) < len(words) and SUBCOMMAND.fullmatch(words[len(before)]):
            core.append(words[len(before)])
            words = [*words[len(before) + 1 :], *before]
        if tuple(core) in RUNS_A_TASK and words and not words[0].startswith("-"):
            core.append(words.pop(0))
    last = {each.partition("=")[0]: each for each in variables}
    typed = _typed(program, core)
    return Part(tuple(core), tuple(wrapper), tuple(last.values()), tuple(words), program, typed)


def _without_prefix(words: list[str]) -> list[str]:
    """Without `sudo -E`, `env -u HOME`, `timeout -k 5 60`."""
    prefix, *words = words
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in ("-u", "-k", "-s") and prefix != "sudo" else 1 :]
    if prefix == "timeout":
        return words[1:] if words and re.fullmatch(r"\d[\d.]*[smhd]?", words[0]) else []
    return words


def _typed(program: str, core: list[str]) -> tuple[str, ...]:
    if core[0] not in program:  # a module that a program ran
        return tuple(core)
    if program == "docker-compose":
        return (program, *core[2:])
    is_outside = "/" in program and not OF_THE_PROJECT.fullmatch(program)
    return (core[0] if is_outside else program, *core[1:])


def _leading_options(words: list[str]) -> list[str]:
    """`-s` of `pnpm -s test`, `-C web` of `make -C web build`."""
    count = 0
    while count < len(words) and words[count] in WITH_VALUE | ALONE_OPTIONS:
        count += 2 if words[count] in WITH_VALUE else 1
    return words[:count]
