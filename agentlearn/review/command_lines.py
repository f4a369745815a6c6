"""The lines that an agent's shell was given, taken apart into commands.

`GOCACHE=/tmp/c mise exec -- go test ./x` is the core `go test` with the wrapper `mise exec --`,
a variable, and arguments. Two commands with one core are variants of each other.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Literal, NamedTuple

from msgspec import Struct, structs

from agentlearn.review.showing import clean, shown_variable
from agentlearn.review.wrappers import environment_options, wrapper_length

VARIABLE = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
WINDOWS_VARIABLE = re.compile(r"\$env:(\w+)\s*=\s*", re.IGNORECASE)
WINDOWS_PATH = re.compile(r"(?<!['\"])\b[A-Za-z]:\\[^\s\"';|&]*")
SILENT = ("sudo", "time", "nice", "command", "exec")
NO_COMMANDS = {
    "cd", "echo", "export", "set", "source", ".", "true", "false", "sleep", "printf", "pwd", "ls",
    "cat", "head", "tail", "wc", "mkdir", "touch", "cp", "mv", "rm", "sed", "awk", "tee", "sort",
    "uniq", "xargs", "find", "grep", "rg", "ag", "which", "test", "[", "date", "env", "ps", "kill",
    "curl", "wget", "jq", "tr", "cut", "diff", "tree", "stat", "file", "du", "df", "chmod", "then",
    "if", "for", "while", "do", "done", "fi", "else", "wait", "read", "type", "pgrep", "pkill",
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
WITH_VALUE = {"-C", "-f", "-F", "--prefix", "--filter", "--dir", "--cwd", "--directory", "--file"}
ALONE_OPTIONS = {"-s", "-q", "-v", "-y", "--silent", "--quiet", "--verbose", "--yes", "--offline"}
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
SHOWS_TEXT = {"cat", "curl", "wget", "head", "tail", "less", "jq", "sed", "awk", "grep", "rg"}
EXIT_CODE = re.compile(
    r"(?:.*\s)?(\S*[a-z]\w*(?:[=:]\s?|\s))(\$\?|\$\{PIPESTATUS\[0\]\})", re.IGNORECASE | re.DOTALL
)
VERSION = re.compile(r"@[\w.^~-]{1,20}$")
OF_THE_PROJECT = re.compile(r"(?!\.\./)[\w.-]+(?:/[\w.-]+){1,5}")
"""A program that is called by its place in the project."""
MOST_PIECES = 20
REDIRECTION = re.compile(r"\s(?:\d?>&\d|&>>?\s?\S+)")
CHECKS = re.compile(
    r"\b(?:lint\w*|golangci-lint|eslint|ruff|flake8|pylint|mypy|pyright|tsc|fmt|format|prettier|"
    r"clippy|rubocop|stylelint|vet|pre-commit|biome|checkstyle|ktlint|swiftlint|typecheck)\b"
)
BUILDS = re.compile(r"\b(?:build|compile|install|bundle|package|release|generate|codegen|sync)\b")
Topic = Literal["tests", "checks", "build", "commands"]
TESTS = ("check", "rspec", "jest", "tox")
LONGEST, LONGEST_WITH_TEXT = 4000, 20_000
TEXT_BEGINS = re.compile(r"<<-?[ \t]*['\"]?([A-Za-z_]\w*)['\"]?")
"""A text that a line brings along, as the message of a commit: it is no part of the command."""


class Part(Struct, frozen=True):
    """One simple command of a line."""

    core: tuple[str, ...]
    wrapper: tuple[str, ...]
    variables: tuple[str, ...]
    arguments: tuple[str, ...]
    program: str
    """As it was typed."""
    folder: str | None = None
    """Where a `cd` before it in the same line led."""
    counts: bool = True
    """If the line worked, this did: neither a pipe nor a `;` after it hides its result."""
    is_piped: bool = False
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
        is_here = OF_THE_PROJECT.fullmatch(self.program) is not None
        is_telling = is_here and self.program.endswith(f"/{self.core[0]}")
        if is_telling or VERSION.search(self.program):
            core = (self.program, *self.core[1:])
        else:
            core = self.core
        command = clean(" ".join((*self.wrapper, *core)))
        return " ".join((*map(shown_variable, self.variables), command))

    @property
    def shown_whole(self) -> str:
        """With the options that say for what it is run."""
        return " ".join((self.shown, *environment_options(self.arguments)))


def parts_of(command: str) -> list[Part]:
    """The commands of a line that are a project's, not the shell's."""
    if "<<" in command:
        command = _without_texts(command[:LONGEST_WITH_TEXT])
    if len(command) > LONGEST or "<<" in command:
        return []
    command = WINDOWS_VARIABLE.sub(r"export \1=", REDIRECTION.sub(" ", command))
    command = WINDOWS_PATH.sub(lambda found: found[0].replace("\\", "/"), command)
    try:
        lexer = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars=";&|")
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return []
    pieces = list(_pieces(words))
    if len(pieces) > MOST_PIECES:
        return []
    is_muddled = any(piece.words[0] in SHOWS_TEXT for piece in pieces)
    folder: str | None = None
    exported: list[str] = []
    found: list[Part] = []
    for number, piece in enumerate(pieces):
        words = piece.words
        if words[0] == "cd" and len(words) > 1:
            folder = words[1]
        elif words[0] == "export":
            exported += [word for word in words[1:] if VARIABLE.fullmatch(word)]
        elif (simple := _simple(words, tuple(exported))) is not None:
            found.append(
                structs.replace(
                    simple,
                    folder=folder,
                    counts=_had_to_work(pieces, number),
                    is_piped=piece.is_piped,
                    code_after=_words_before_code(pieces, number),
                    is_muddled=is_muddled,
                )
            )
    return found


def _without_texts(command: str) -> str:
    """Without the texts that its lines bring along; nothing if one of them does not end."""
    kept: list[str] = []
    ends: list[str] = []
    for line in command.split("\n"):
        if ends:
            ends = ends[line.strip() == ends[0] :]
            continue
        ends = TEXT_BEGINS.findall(line)
        kept.append(TEXT_BEGINS.sub("", line))
    return "" if ends else "\n".join(kept)


class _Piece(NamedTuple):
    """Of a line, between two joints: it need not be a command of the project."""

    words: list[str]
    is_piped: bool
    """Into others, which are no pieces of their own."""
    joint: str
    """What joins it to the next."""


def _had_to_work(pieces: list[_Piece], number: int) -> bool:
    """If the line worked, this piece of it did."""
    if number == len(pieces) - 1:
        return number == 0 or pieces[number - 1].joint != "||"
    joints = {piece.joint for piece in pieces[number:-1]}
    return joints == {"&&"} and not pieces[number].is_piped


def _words_before_code(pieces: list[_Piece], number: int) -> str:
    """What `echo` prints before the exit code of this piece, where it is this piece's."""
    piece = pieces[number]
    after = pieces[number + 1].words if number + 1 < len(pieces) else []
    found = EXIT_CODE.match(" ".join(after[1:]))
    if piece.joint != ";" or after[:1] != ["echo"] or found is None:
        return ""
    return "" if piece.is_piped and found[2] == "$?" else found[1]


def _pieces(words: list[str]) -> Iterator[_Piece]:
    head: list[str] | None = None
    part: list[str] = []
    is_piped = False
    for word in [*words, ""]:
        if word and not set(word) <= set(";&|"):
            part.append(word)
            continue
        head = _without_brackets(part) if head is None else head
        part = []
        if word == "|":
            is_piped = True
            continue
        if head:
            yield _Piece(head, is_piped, word)
        head, is_piped = None, False


def _without_brackets(words: list[str]) -> list[str]:
    """`(cd web && npm test)` is the same in a shell of its own."""
    if words and words[0].startswith("("):
        words = [words[0].lstrip("("), *words[1:]]
    if words and words[-1].endswith(")") and "(" not in words[-1]:
        words = [*words[:-1], words[-1].rstrip(")")]
    return [word for word in words if word]


def _simple(words: list[str], exported: tuple[str, ...]) -> Part | None:
    variables, wrapper = list(exported), []
    words = [word for word in words if not re.fullmatch(r"\d?[<>]+&?\d?.*", word)]
    while words:
        if VARIABLE.fullmatch(words[0]):
            variables.append(words.pop(0))
        elif words[0] == "env" or words[0] in SILENT:
            words = words[3:] if words[:2] == ["env", "-u"] else words[1:]
        elif words[0] == "timeout" and len(words) > 2:
            words = words[2:]
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
    return Part(tuple(core), tuple(wrapper), tuple(last.values()), tuple(words), program)


def _leading_options(words: list[str]) -> list[str]:
    """`-s` of `pnpm -s test`, `-C web` of `make -C web build`."""
    count = 0
    while count < len(words) and words[count] in WITH_VALUE | ALONE_OPTIONS:
        count += 2 if words[count] in WITH_VALUE else 1
    return words[:count]
